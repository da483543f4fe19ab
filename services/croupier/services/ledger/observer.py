"""Who is told what the writer does: metrics, and in tests whoever wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from croupier.services.ledger.fence import FenceObserver
from croupier.services.ledger.snapshots import SnapshotObserver
from croupier.v1 import events_pb2


class Outcome(StrEnum):
    """How a turn ended."""

    RECORDED = "recorded"
    """Something was recorded."""
    NOTHING = "nothing"
    """Nothing was: all was refused, recorded before, or only to be validated."""
    LOST = "lost"
    """Another process had committed first."""
    UNAVAILABLE = "unavailable"
    """The store did not answer."""
    FENCED = "fenced"
    """The log is not what it has to be, and the ledger is not served any more."""
    FAILED = "failed"
    """A fault of the program."""


@dataclass(slots=True)
class TurnEnd:
    """How a turn went. `seconds` is all of it, under the lock; `commit_s` what its commit took.

    `events` are what it recorded, by so many `commands`, whatever came afterwards.
    """

    requests: int
    outcome: Outcome = Outcome.NOTHING
    seconds: float = 0.0
    commit_s: float = 0.0
    commands: int = 0
    events: Sequence[events_pb2.Event] = ()


class Observer(SnapshotObserver, FenceObserver, Protocol):
    """Who is told what the writer does."""

    def turn_committed(
        self, ledger: str, events: Sequence[events_pb2.Event], commands: int, seconds: float
    ) -> None:
        """Events were recorded with one commit."""
        ...

    def turn_conflicted(self, ledger: str) -> None:
        """A turn was lost: another process had committed first."""
        ...

    def turn_ended(self, ledger: str, turn: TurnEnd) -> None:
        """A turn ended, whatever became of it."""
        ...

    def lock_waited(self, ledger: str, seconds: float) -> None:
        """A turn came so much later because another process had the lock."""
        ...

    def queue_changed(self, ledger: str, waiting: int) -> None:
        """So many requests wait for a turn."""
        ...
