"""Copies a ledger from one engine to another, byte for byte, and proves that it did.

First the records, page by page; then the target is read back and its tree compared, and the request
ids are copied, the first of them last of all. A log whose request ids are not all there is refused
by every server (a retry would apply twice), so what is interrupted is served by nobody, and is gone
on with by the next copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eventsourcing.persistence import Notification

from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.committed import is_caused_by
from croupier.services.ledger.sealing import microseconds
from croupier.services.store.store import Commit, Head, RequestEntry, RequestKey, Store
from croupier.v1 import events_pb2

PAGE = 500
"""How many records, or request ids, go into one commit."""


_WRITTEN = (
    "somebody writes to the ledger: stop whoever serves it and copy again, which goes on from here"
)


class CopyRefusedError(Exception):
    """The ledger is not copied, or not to the end; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied and is the same on both sides."""

    head: Head
    requests: int
    resumed_at: int
    """The position after which this copy began: 0 unless another was interrupted."""


Progress = Callable[[str, int, int], None]
"""Is told what is being done, how many positions of it are done, and how many there are."""


def copy(source: Store, target: Store, progress: Progress) -> Copied:
    """Copy all that is in `source` to `target`.

    Raises:
        CopyRefusedError: the source does not hold what its head says, or somebody writes to it; or
            the target has a ledger already, or does not hold what was written.
        LogError, PersistenceError: one side does not hold a log, or does not answer.

    """
    head = source.head()
    if head.position == 0:
        raise CopyRefusedError("there is nothing to copy: the ledger has no events")
    begun = _begun(target)
    _copy_records(source, target, head, begun, progress)
    requests = _copy_requests(source, target, head, progress)
    return Copied(head, requests, begun.position)


def _pages(store: Store, last: int) -> Iterator[Sequence[Notification]]:
    """Yield the records from position 1 to `last`."""
    position = 0
    while position < last:
        page = store.records(position, min(PAGE, last - position))
        if not page:
            raise LogError(f"position {position + 1} is missing")
        for number, record in enumerate(page, start=position + 1):
            if record.id != number:
                raise LogError(f"position {number} is missing")
        yield page
        position += len(page)


def _begun(target: Store) -> Head:
    """Return how far an earlier copy came; a target that has a whole ledger is refused."""
    head = target.head()
    if head.position:
        (first,) = target.records(0, 1)
        event = read(first)
        if target.find_requests([(event.caller, event.request_id)]):
            raise CopyRefusedError(
                f"the target has this ledger already, with {head.position} events"
            )
    return head


class _Requests:
    """Counts requests: the events of one follow one another."""

    def __init__(self) -> None:
        self.number = 0
        self._last: RequestKey | None = None

    def count(self, events: Iterable[events_pb2.Event]) -> None:
        """Count those of the next events of the log."""
        for event in events:
            key = (event.caller, event.request_id)
            self.number += key != self._last
            self._last = key


# --- records --------------------------------------------------------------------------------------


def _copy_records(
    source: Store, target: Store, head: Head, begun: Head, progress: Progress
) -> None:
    """Copy the records after `begun`, which has to be on the way to `head`."""
    at, not_same = Head(), "the target has another ledger of this name"
    if begun.position > head.position:
        raise CopyRefusedError(not_same)
    for page in _pages(source, head.position):
        fresh, before = [], at
        for record in page:
            recorded_us = microseconds(read(record).recorded_time)
            at = Head(at.frontier.append(leaf_hash(record.state)), recorded_us)
            if at.position > begun.position:
                fresh.append(record)
            elif at.position == begun.position:
                before = at
                if at != begun:
                    raise CopyRefusedError(not_same)
        if fresh:
            target.commit(fresh, Commit(before, at))
        _check_still(source, head)
        progress("copied", at.position, head.position)
    if at != head:
        raise CopyRefusedError("the source is not what its head says: an event was changed")


def _check_still(source: Store, head: Head) -> None:
    """Refuse to go on when somebody commits to the source meanwhile."""
    if source.changed() and (now := source.head()) != head:
        gone_on = f"it went from position {head.position} to {now.position} meanwhile"
        raise CopyRefusedError(f"{_WRITTEN}; {gone_on}")


# --- request ids ----------------------------------------------------------------------------------


def _copy_requests(source: Store, target: Store, head: Head, progress: Progress) -> int:
    """Read the target back and copy the request ids of its events; return how many there are.

    The first of the log comes last: without it the target is served by nobody.
    """
    requests, frontier = _Requests(), Frontier()
    first: RequestEntry | None = None
    for page in _pages(target, head.position):
        events = [read(record) for record in page]
        for record in page:
            frontier = frontier.append(leaf_hash(record.state))
        requests.count(events)
        missing = _missing(source, target, events)
        if first is None:
            first = missing.pop(0)
        if missing:
            target.commit([], Commit(head, head, missing))
        progress("read back", frontier.size, head.position)
    if frontier != head.frontier or target.head() != head:
        raise CopyRefusedError("the target does not hold what was written to it")
    known, copied = source.count_requests(head.position), target.count_requests(head.position)
    if not requests.number == known == copied + 1:
        raise CopyRefusedError(
            f"{requests.number} requests are in the log, {known} in the source's index, and "
            f"{copied} but for the first were copied"
        )
    if first is not None:
        _finish(source, target, head, first)
    return known


def _missing(
    source: Store, target: Store, events: Sequence[events_pb2.Event]
) -> list[RequestEntry]:
    """Return the entries of requests that the target has not yet, in order."""
    keys = {(event.caller, event.request_id): event for event in events}
    found, there = source.find_requests(keys), target.find_requests(keys)
    for key, event in keys.items():
        if key not in found or not is_caused_by(event, found[key]):
            raise CopyRefusedError(
                f"the source's index of request ids does not fit position {event.position}"
            )
        if key in there and there[key] != found[key]:
            raise CopyRefusedError(f"the target says something else of the request {key}")
    return [found[key] for key in keys if key not in there]


def _finish(source: Store, target: Store, head: Head, first: RequestEntry) -> None:
    """Make the target a ledger that is served, while nobody commits to the source.

    Where writers have a lock in common nobody can; elsewhere that is only found out afterwards.
    """
    if not source.try_lock():
        raise CopyRefusedError(_WRITTEN)
    try:
        _check_still(source, head)
        target.commit([], Commit(head, head, [first]))
        if source.changed() and source.head() != head:
            raise CopyRefusedError(
                f"the copy is whole to position {head.position}, but somebody has written to the "
                "source since: stop whoever serves it, remove the copy, and copy again"
            )
    finally:
        source.unlock()
