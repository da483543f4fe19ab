"""Gives answers: in the order of turns, and each when its commit is as safe as was asked for.

Where an engine has more to do for that than to commit (replicas that are to have it), it does so in
a thread, and the next turns go on meanwhile. What they commit is waited for together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.admission import Job
from croupier.services.ledger.blocking import in_thread
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.often import Often
from croupier.services.store.store import Store

logger = structlog.get_logger()

Turn = tuple[Sequence[Job], Sequence[list[Answer]], int]
"""The jobs of a turn, the answers of each, and the position to which it committed, 0 if to none."""


class Answering:
    """The answers of one ledger that are decided and not given yet."""

    def __init__(self, ledger: str, store: Store, all_given: Callable[[], None]) -> None:
        """Tell `all_given` when nobody is left who waits for an answer that is decided."""
        self._ledger = ledger
        self._store = store
        self._all_given = all_given
        self._turns: list[Turn] = []
        self._task: asyncio.Task[None] | None = None
        self._safe = (0, "")
        """To which position the log was found to be safe, and how."""

    @property
    def pending(self) -> bool:
        """Return whether there are answers that are not given yet."""
        return self._task is not None

    def give(self, jobs: Sequence[Job], answers: Sequence[list[Answer]], committed: int) -> None:
        """Give the answers of a turn as soon as what they rest on is as safe as was asked for.

        `committed` is the position to which it committed, 0 if it did not.
        """
        turn = (jobs, answers, committed)
        if self._task is not None:
            self._turns.append(turn)
        elif (wait := self._store.confirm()) is None:
            self._give(turn)
        else:
            self._task = asyncio.get_running_loop().create_task(self._confirm([turn], wait))

    async def _confirm(self, turns: list[Turn], wait: Callable[[], str] | None) -> None:
        try:
            while turns:
                if wait is not None:
                    level = await in_thread(wait, f"confirms {self._ledger}")
                    if level != self._store.durability:
                        self._safe = (max(committed for _, _, committed in turns), level)
                for turn in turns:
                    self._give(turn)
                # What is waited for now is what these turns have committed, and no more.
                turns, self._turns, wait = self._turns, [], self._store.confirm()
        finally:
            self._task = None
            self._all_given()

    def _give(self, turn: Turn) -> None:
        jobs, answers, _ = turn
        for job, answer in zip(jobs, answers, strict=True):
            if not job.gone:
                job.answer.set_result(self._as_safe(answer) if self._safe[0] else answer)

    def _as_safe(self, answers: list[Answer]) -> list[Answer]:
        """Return answers whose receipts say how safe the log was found to be."""
        to, level = self._safe
        return [
            replace(one, durability=level)
            if isinstance(one, Receipt) and 0 < one.last <= to
            else one
            for one in answers
        ]


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
