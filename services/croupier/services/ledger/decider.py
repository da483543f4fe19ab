"""Decides jobs: on what the engine says, or while nobody else writes, on what it said last.

Over a network a look costs a turn as much as its commit. A writer that is alone decides on what it
left, and the commit compares: either it was so, and all answers of the turn rest on it, or nothing
is recorded and the turn is decided again after a look. Where nothing would be recorded there is
nothing that compares, so that refusals and receipts of earlier requests rest on a look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from croupier.services.ledger.admission import Job
from croupier.services.ledger.committed import Committed
from croupier.services.ledger.turn import Found, Turn
from croupier.services.store.store import RequestEntry, RequestKey, Store

Decided = tuple[Turn, list[list[Found]]]


class Decider:
    """Decides the jobs of one ledger."""

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock

    def decide(self, jobs: Sequence[Job], committed: Committed) -> Decided:
        """Decide jobs on what the store assumes, or after a look where it has to be.

        Raises:
            LogError: the log is not what it has to be.
            PersistenceError: the store does not answer.

        """
        assumed = self._store.assumed_head()
        if assumed is None or assumed != committed.head:
            return self.look(jobs, committed)
        turn, found = self._decided(jobs, committed, {})
        if turn.sealed:
            turn.assumed_new = _keys(jobs)
            return turn, found
        head, done_before = self._store.look(_keys(jobs))
        if head == assumed and not done_before:
            return turn, found
        committed.catch_up(head)
        return self._decided(jobs, committed, done_before)

    def look(self, jobs: Sequence[Job], committed: Committed) -> Decided:
        """Decide jobs on what the store says now; see `decide`."""
        head, done_before = self._store.look(_keys(jobs))
        committed.catch_up(head)
        return self._decided(jobs, committed, done_before)

    def _decided(
        self,
        jobs: Sequence[Job],
        committed: Committed,
        done_before: dict[RequestKey, RequestEntry],
    ) -> Decided:
        turn = Turn(committed, done_before, self._clock(), self._store.durability)
        return turn, [
            turn.decide_together(job.requests) if job.atomic else turn.decide_each(job.requests)
            for job in jobs
        ]


def _keys(jobs: Sequence[Job]) -> frozenset[RequestKey]:
    return frozenset(request.key for job in jobs for request in job.requests)
