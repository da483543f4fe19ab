"""Gives answers: in the order of turns, and each when its commit is as safe as was asked for.

Where an engine has more to do for that than to commit (replicas that are to have it), it does so in
a thread, and the next turns go on meanwhile. What they commit is waited for together. So is what
was committed earlier, by whomever, where somebody asks again for a receipt and nobody knows yet
that it is that safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.admission import Job
from croupier.services.ledger.blocking import in_thread
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.often import Often
from croupier.services.store.store import Head, Store

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Turn:
    """The jobs of a turn, the answers of each, and the head on which they rest."""

    jobs: Sequence[Job]
    answers: Sequence[list[Answer]]
    head: Head
    committed: int
    """To which position the turn itself committed, 0 if it did not."""

    @property
    def last(self) -> int:
        """Return the last position of which anybody who still waits has a receipt."""
        given = zip(self.jobs, self.answers, strict=True)
        told = (one for job, answers in given if not job.gone for one in answers)
        return max((one.last for one in told if isinstance(one, Receipt)), default=0)


_Wait = Callable[[], str] | None


class Answering:
    """The answers of one ledger that are decided and not given yet."""

    def __init__(self, ledger: str, store: Store, all_given: Callable[[], None]) -> None:
        """Tell `all_given` when nobody is left who waits for an answer that is decided."""
        self._ledger = ledger
        self._store = store
        self._all_given = all_given
        self._turns: list[_Turn] = []
        self._task: asyncio.Task[None] | None = None
        self._committed = 0
        self._safe = 0
        """To which position the log was found to be as safe as was asked for."""
        self._partly = (0, "")
        """To which it was found to be safer than at once, and how."""

    @property
    def pending(self) -> bool:
        """Return whether there are answers that are not given yet."""
        return self._task is not None

    def committed(self, head: Head) -> None:
        """Take note to where the turn whose answers come next has committed."""
        self._committed = head.position

    def give(self, jobs: Sequence[Job], answers: Sequence[list[Answer]], head: Head) -> None:
        """Give the answers of a turn as soon as what they rest on is as safe as was asked for.

        They rest on the log up to `head`, which others may have brought there.
        """
        turn, self._committed = _Turn(jobs, answers, head, self._committed), 0
        if self._task is not None:
            self._turns.append(turn)
            return
        wait, to = self._wait_for([turn])
        if wait is None:
            self._give(turn)
        else:
            self._task = asyncio.get_running_loop().create_task(self._confirm([turn], wait, to))

    async def _confirm(self, turns: list[_Turn], wait: _Wait, to: int) -> None:
        try:
            while turns:
                if wait is not None:
                    self._found(to, await in_thread(wait, f"confirms {self._ledger}"))
                for turn in turns:
                    self._give(turn)
                # What is waited for now is what these turns rest on, and no more.
                turns, self._turns = self._turns, []
                wait, to = self._wait_for(turns, to)
        finally:
            self._task = None
            self._all_given()

    def _wait_for(self, turns: Sequence[_Turn], asked_to: int = 0) -> tuple[_Wait, int]:
        """Return what confirms all that turns rest on, and up to which position it does.

        Up to `asked_to` it was found out just now, and after these turns, how safe the log is.
        """
        if not turns:
            return None, 0
        store = self._store
        to = max(turn.committed for turn in turns)
        if store.asked != store.durability:
            known, head = max(to, self._safe, asked_to), turns[-1].head
            if any(turn.last > known for turn in turns) and store.mark(head):
                to = head.position
        return store.confirm(), to

    def _found(self, to: int, level: str) -> None:
        """Take note how safe the log is up to a position."""
        if level == self._store.asked:
            self._safe = max(self._safe, to)
        elif level != self._store.durability:
            self._partly = (to, level)

    def _give(self, turn: _Turn) -> None:
        known = self._safe or self._partly[0]
        for job, answer in zip(turn.jobs, turn.answers, strict=True):
            if not job.gone:
                job.answer.set_result(list(map(self._as_safe, answer)) if known else answer)

    def _as_safe(self, answer: Answer) -> Answer:
        """Return an answer that says how safe the log was found to be, if it is a receipt."""
        if not isinstance(answer, Receipt) or not answer.last:
            return answer
        if answer.last <= self._safe:
            return replace(answer, durability=self._store.asked)
        to, level = self._partly
        return replace(answer, durability=level) if answer.last <= to else answer


def for_all(jobs: Sequence[Job], error: Exception) -> list[list[Answer]]:
    """Return the same answer for every request of some jobs."""
    return [[error] * len(job.requests) for job in jobs]


class Unavailable:
    """What callers of a ledger are told while its store does not answer; why is logged."""

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self._often = Often()

    def __call__(self, error: Exception) -> Refused:
        """Return the refusal that an error of the store ends in."""
        if times := self._often.due(self._ledger):
            logger.error("store unavailable", ledger=self._ledger, error=str(error), times=times)
        return Refused(
            Reason.STORE_UNAVAILABLE,
            "the ledger's store did not answer; ask again with the same request id",
        )
