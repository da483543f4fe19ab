"""Who is let in to wait for a ledger's turn, and who goes first: bounded, and fair to callers.

A caller who floods a ledger makes himself wait, not the others: a turn takes from every caller who
waits a like number of requests, and when there is no more room, whoever waits with more than his
share is refused first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.requests import Request
from croupier.services.ledger.turn import Answer

QUANTUM = 16
"""How many requests a turn takes from one caller before it looks at the next."""

RETRY_MS_LEAST, RETRY_MS_MOST = 20, 5_000
"""Bounds of what a refused caller is told to wait, milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Requests of one caller that are decided in one turn, and who waits for their answers.

    `atomic` means all or nothing.
    """

    requests: tuple[Request, ...]
    atomic: bool
    answer: asyncio.Future[list[Answer]]

    @property
    def caller(self) -> str:
        """Return whose requests they are."""
        return self.requests[0].caller

    @property
    def gone(self) -> bool:
        """Return whether nobody waits for the answer any more."""
        return self.answer.done()


@dataclass(slots=True)
class _Line:
    """One caller's jobs in order; `credit` is how many requests the turn may take from him yet."""

    jobs: deque[Job] = field(default_factory=deque)
    waiting: int = 0
    credit: int = 0


class Admission:
    """Jobs that wait for a turn, by caller. `waiting` counts their requests."""

    def __init__(self, most: int) -> None:
        """Let `most` requests wait; who has less than his share may come in beyond, to twice it."""
        self._most = most
        self._lines: dict[str, _Line] = {}
        self._seconds_each = 0.0
        self.waiting = 0
        self.jobs = 0

    def put(self, job: Job) -> None:
        """Let a job wait.

        Raises:
            Refused: `QUEUE_FULL`, with how long to wait before the next attempt.

        """
        line = self._lines.get(job.caller) or _Line()
        size = len(job.requests)
        if self.waiting + size > self._most:
            share = self._most // (len(self._lines) + (job.caller not in self._lines))
            if line.waiting + size > share or self.waiting + size > 2 * self._most:
                raise self._full()
        self._lines[job.caller] = line
        line.jobs.append(job)
        line.waiting += size
        self.waiting += size
        self.jobs += 1

    def take(self, most: int) -> list[Job]:
        """Return the jobs of a turn of up to `most` requests, or of one job that is larger.

        Callers take turns, in the order in which they began to wait; one who was passed over
        because the turn was full is the first in the next. Who has gone is left out.
        """
        taken: list[Job] = []
        size = 0
        while self._lines:
            caller, line = next(iter(self._lines.items()))
            line.credit += QUANTUM
            while line.jobs and (line.jobs[0].gone or len(line.jobs[0].requests) <= line.credit):
                job = line.jobs[0]
                if not job.gone:
                    if taken and size + len(job.requests) > most:
                        return taken
                    taken.append(job)
                    size += len(job.requests)
                    line.credit -= len(job.requests)
                self._leave(line)
            del self._lines[caller]
            if line.jobs:  # back to the end of the row
                self._lines[caller] = line
        return taken

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Let jobs that were taken and not decided wait again, before all others of their callers.

        Those callers are the first in the next turn. They were let in before: nobody is refused.
        """
        for job in reversed(jobs):
            line = self._lines.pop(job.caller, None) or _Line()
            line.jobs.appendleft(job)
            line.waiting += len(job.requests)
            self.waiting += len(job.requests)
            self.jobs += 1
            self._lines = {job.caller: line, **self._lines}

    def refuse_all(self, refusal: Refused) -> None:
        """Refuse every job that waits, since none of them will be decided."""
        jobs = [job for line in self._lines.values() for job in line.jobs]
        self._lines.clear()
        self.waiting = self.jobs = 0
        for job in jobs:
            if not job.gone:
                job.answer.set_result([refusal] * len(job.requests))

    def answered(self, requests: int, seconds: float) -> None:
        """Learn how long a turn of so many requests took, to tell others how long to wait."""
        each = seconds / max(requests, 1)
        self._seconds_each += (each - self._seconds_each) / 8 if self._seconds_each else each

    def _leave(self, line: _Line) -> None:
        size = len(line.jobs.popleft().requests)
        line.waiting -= size
        self.waiting -= size
        self.jobs -= 1

    def _full(self) -> Refused:
        until_empty_ms = round(1000 * self.waiting * self._seconds_each)
        retry_ms = min(max(until_empty_ms, RETRY_MS_LEAST), RETRY_MS_MOST)
        return Refused(
            Reason.QUEUE_FULL,
            f"{self.waiting} requests wait for this ledger; try again in {retry_ms} ms",
            waiting=self.waiting,
            retry_ms=retry_ms,
        )
