"""A copy of a ledger out of any engine: its log as a file of SQLite, made from the records alone.

A log only grows, so its first records are the same at whatever moment they are read: writers go on
meanwhile. Request ids follow from the records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from eventsourcing.persistence import Notification

from croupier.services.audit.tree import leaf_hash
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.sealing import microseconds
from croupier.services.store.sqlite import Recorder
from croupier.services.store.sqlite_connection import Datastore
from croupier.services.store.store import Commit, Head, RequestEntry, Store
from croupier.v1 import events_pb2

PAGE = 1_000
"""Records that are read, and written, at a time."""


def read_out(source: Store, target: Path) -> None:
    """Copy a log as it is now into a file that is empty.

    Raises:
        LogError: the source is not what its head says, or its index of request ids is another.
        PersistenceError: the source cannot be read or the target not written.

    """
    head = source.head()
    with closing(Recorder(Datastore(str(target)))) as copy:
        copy.create_table()
        at, requests = Head(), _Requests()
        for page in _pages(source, head.position):
            events = [read(record) for record in page]
            before = at
            for record, event in zip(page, events, strict=True):
                frontier = at.frontier.append(leaf_hash(record.state))
                at = Head(frontier, microseconds(event.recorded_time))
            ended = requests.ended_by(events, last=at.position == head.position)
            copy.commit(page, Commit(before, at, ended))
    if at != head:
        raise LogError("the log does not end as its head says: an event was changed")
    if (known := source.count_requests(head.position)) != requests.count:
        raise LogError(f"{requests.count} requests are in the log, {known} in the index")


def _pages(source: Store, last: int) -> Iterator[Sequence[Notification]]:
    position = 0
    while position < last:
        page = source.records(position, min(PAGE, last - position))
        if [record.id for record in page] != list(range(position + 1, position + 1 + len(page))):
            raise LogError(f"a position after {position} is missing")
        if not page:
            raise LogError(f"position {position + 1} is missing")
        yield page
        position += len(page)


class _Requests:
    """The requests of a log, as its events come: those of one follow one another."""

    def __init__(self) -> None:
        self._first: events_pb2.Event | None = None
        self.count = 0

    def ended_by(self, events: Sequence[events_pb2.Event], *, last: bool) -> list[RequestEntry]:
        """Return the requests whose events have all come with these; `last` are the log's last."""
        ended = []
        first = self._first or events[0]
        begun = [] if self._first is None else [self._first]
        for before, event in pairwise([*begun, *events]):
            if _key(event) != _key(before):
                ended.append(_entry(first, event.position - 1))
                first = event
        self._first = first
        if last:
            ended.append(_entry(first, events[-1].position))
        self.count += len(ended)
        return ended


def _key(event: events_pb2.Event) -> tuple[str, str]:
    return (event.caller, event.request_id)


def _entry(first: events_pb2.Event, last: int) -> RequestEntry:
    return RequestEntry(first.caller, first.request_id, first.request_digest, first.position, last)
