"""What is behind a fence: where the log ends now, where it was seen to end, and what is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import structlog
from eventsourcing.persistence import DataError

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.book import LogError
from croupier.services.ledger.committed import stream_events
from croupier.services.ledger.deciding import LEDGER_STREAM
from croupier.services.store.store import Head, RequestEntry, Store
from croupier.v1 import events_pb2

logger = structlog.get_logger()

RECENT = 1_000
"""How many of the requests that a process recorded last it remembers, to tell which are lost."""


class FenceObserver(Protocol):
    """Who is told when a ledger stops and begins to be served."""

    def ledger_fenced(self, ledger: str, why: str) -> None:
        """The ledger is not served any more."""
        ...

    def ledger_unfenced(self, ledger: str) -> None:
        """The ledger is served again."""
        ...


@dataclass(frozen=True, slots=True)
class Fence:
    """Why a ledger is not served, and what an operator has to know before it is served again."""

    why: str
    head: Head
    """Where its log ends."""
    known: Head
    """The furthest that it was seen to reach."""
    first: int
    last: int
    """The positions that are lost; `last` is 0 where none is, `first` where it is not known."""
    requests: tuple[RequestEntry, ...]
    """Requests that are lost, as far as this process recorded them."""


def examine(
    store: Store | None,
    why: str,
    known: Head,
    recent: Iterable[RequestEntry],
    *,
    passes: bool,
    ended: int | None = None,
) -> Fence:
    """Return what a store says about a fence; `passes` if its log is known to lead through `known`.

    There is no store where nothing is stored. `ended` is where the log was seen to end after it had
    lost something: others may have gone on from there since.

    Raises:
        DataError: it has no head.
        PersistenceError: it does not answer.

    """
    recorded = list(recent)
    head, there = store.look([one.key for one in recorded]) if store else (Head(), {})
    lost = tuple(entry for entry in recorded if there.get(entry.key) != entry)
    firsts = [entry.first for entry in lost]
    ends = min(head.position, head.position if ended is None else ended)
    if ends < known.position:
        firsts.append(ends + 1)
    last = known.position if firsts or not passes else 0
    return Fence(why, head, known, min(firsts, default=0), last, lost)


def is_excused(store: Store, known: Head) -> bool:
    """Return whether the log itself says that an operator knows that it lost `known`.

    What was seen after he had said so is not excused, since it was recorded later than all that
    was lost.
    """
    try:
        return any(_excuses(event, known) for event in _unfencings(store))
    except (LogError, DataError):
        return False


def _unfencings(store: Store) -> Iterator[events_pb2.LedgerUnfenced]:
    for event in stream_events(store, LEDGER_STREAM):
        if event.WhichOneof("payload") == "ledger_unfenced":
            yield event.ledger_unfenced


def _excuses(said: events_pb2.LedgerUnfenced, known: Head) -> bool:
    if known.recorded_us > said.lost_recorded_us:
        return False
    if (known.position, known.frontier.root) == (said.lost_last, said.lost_root):
        return True
    return 0 < said.lost_first <= known.position <= said.lost_last


def refusal(ledger: str, why: str) -> Refused:
    """Return what everybody is told who asks something of a ledger that is fenced."""
    message = f"ledger {ledger} waits for an operator: {why}"
    return Refused(Reason.LEDGER_FENCED, message, ledger=ledger, why=why)


def not_fenced(ledger: str) -> Refused:
    """Return what an operator is told who would have a ledger served that is."""
    return Refused(
        Reason.LEDGER_NOT_FENCED, f"ledger {ledger} is served: it is not fenced", ledger=ledger
    )
