"""What a ledger's log says: balances, tables and versions, folded from committed records only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from eventsourcing.persistence import Notification

from croupier.domain import names, table
from croupier.domain.events import LedgerCreated, TableEvent
from croupier.domain.postings import Key, post
from croupier.services.audit.tree import leaf_hash
from croupier.services.ledger.deciding import FORMAT_VERSION, LEDGER_STREAM, TABLES
from croupier.services.ledger.state import Layer, Live
from croupier.services.store.mapper import (
    UnknownEventError,
    payload_from_wire,
    posting_from_wire,
)
from croupier.services.store.store import Head, Store
from croupier.v1 import events_pb2

PAGE = 1000
"""How many records are read at a time."""


_EMPTY = Head()


class LogError(Exception):
    """The log cannot be served: it is not what its head says, or not what this program can read."""


def read(record: Notification) -> events_pb2.Event:
    """Return the event of a record, whose columns must say the same as its bytes.

    Raises:
        LogError: they differ, or the bytes are no event.

    """
    try:
        event = events_pb2.Event.FromString(record.state)
    except Exception as error:
        msg = f"position {record.id} does not hold an event"
        raise LogError(msg) from error
    said = (event.position, event.stream, event.version, event.type)
    columns = (record.id, record.originator_id, record.originator_version, record.topic)
    if said != columns:
        msg = f"position {record.id}: the columns say {columns}, the record says {said}"
        raise LogError(msg)
    return event


def stream_events(store: Store, stream: str, after: int = 0) -> Iterator[events_pb2.Event]:
    """Yield a stream's events in order, page by page."""
    while records := store.stream(stream, after, PAGE):
        for record in records:
            yield read(record)
        after = records[-1].originator_version


class Committed:
    """The bottom layer of state. It only ever moves forward, along the log."""

    def __init__(self, store: Store, capacity: int, known: Head = _EMPTY) -> None:
        """Begin before position 1. The log must pass through `known`, which was seen before."""
        self._store = store
        self._known = known
        self._balances: dict[Key, int] = {}
        self._versions: dict[str, int] = {}
        self._live = Live(capacity)
        self.head = Head()
        self._request: tuple[str, str] | None = None
        self._requests = 0
        self.format_version = 0

    # --- State -----------------------------------------------------------------------------------

    def table(self, table_id: str) -> table.Table | None:
        """Return a table, replayed from its stream if it is not in memory."""
        found = self._live.get(table_id)
        if found is None:
            for event in stream_events(self._store, TABLES + table_id):
                found = _fold(found, event)
            if found is not None:
                self._live.put(found)
        return found

    def balance(self, key: Key) -> int:
        """Return a balance, minor units."""
        return self._balances.get(key, 0)

    def version(self, stream: str) -> int:
        """Return the last version of a stream."""
        return self._versions.get(stream, 0)

    @property
    def balances(self) -> Mapping[Key, int]:
        """Return all balances, minor units, by account and currency."""
        return MappingProxyType(self._balances)

    @property
    def live_tables(self) -> int:
        """Return how many tables are in memory."""
        return len(self._live)

    # --- moving forward --------------------------------------------------------------------------

    def advance(self, layer: Layer, head: Head) -> None:
        """Take over a turn's layer, which is now committed."""
        for at in layer.tables.values():
            self._live.put(at)
        self._balances.update(layer.balances)
        self._versions.update(layer.versions)
        if self.head.position == 0:
            self.format_version = FORMAT_VERSION  # a log that begins now is written in this one
        self.head = head

    def catch_up(self, head: Head) -> None:
        """Fold what others committed, up to `head`.

        Raises:
            LogError: `head` is not an extension of what was folded before. What is folded by then
                is of no more use.

        """
        seen = max(self.head.position, self._known.position)
        if head.position < seen:
            msg = f"the head went back from {seen} to {head.position}"
            raise LogError(msg)
        frontier = self.head.frontier
        while frontier.size < head.position:
            wanted = min(PAGE, head.position - frontier.size)
            records = self._store.records(frontier.size, wanted)
            if not records:
                msg = f"position {frontier.size + 1} is missing, the head is at {head.position}"
                raise LogError(msg)
            for record in records:
                event = read(record)
                if event.position != frontier.size + 1:
                    msg = f"position {frontier.size + 1} is missing"
                    raise LogError(msg)
                frontier = frontier.append(leaf_hash(record.state))
                if frontier.size == self._known.position and frontier != self._known.frontier:
                    msg = f"the log to {frontier.size} is not the one that was seen before"
                    raise LogError(msg)
                self._fold(event)
        if frontier != head.frontier:
            msg = f"the tree over events 1 to {head.position} is not the head's: one was changed"
            raise LogError(msg)
        if self.head.position == 0:
            self._check_requests(head.position)
        self.head = head

    def _check_requests(self, last: int) -> None:
        """Refuse a log whose request ids are not all known: a retry would apply twice."""
        known = self._store.count_requests(last)
        if known != self._requests:
            msg = f"{self._requests} requests are in the log, {known} in the index of request ids"
            raise LogError(msg)

    def _fold(self, event: events_pb2.Event) -> None:
        try:
            self._fold_known(event)
        except (UnknownEventError, ValueError) as error:
            raise LogError(str(error)) from error

    def _fold_known(self, event: events_pb2.Event) -> None:
        request = (event.caller, event.request_id)
        if request != self._request:  # a request's events follow one another
            self._request = request
            self._requests += 1
        post(self._balances, map(posting_from_wire, event.postings))
        if event.stream.startswith(TABLES):
            table_id = event.stream.removeprefix(TABLES)
            live = self._live.get(table_id)
            # A table replayed while another process committed may be ahead of this fold.
            if live is not None and event.version == live.version + 1:
                self._live.put(_fold(live, event))
            return
        self._versions[event.stream] = event.version
        if event.stream == LEDGER_STREAM:
            created = payload_from_wire(event)
            if isinstance(created, LedgerCreated):
                self.format_version = created.format_version
                if created.format_version > FORMAT_VERSION:
                    msg = f"format {created.format_version} is newer than this program's"
                    raise LogError(msg)


def _fold(at: table.Table | None, event: events_pb2.Event) -> table.Table:
    fact: TableEvent = payload_from_wire(event)  # type: ignore[assignment]  # it is in a table's stream
    return table.fold(at, fact)


def totals(balances: Mapping[Key, int]) -> dict[str, dict[str, int]]:
    """Return by currency the sums of players, escrow, bankrolls, house and external."""
    kinds = {"player": "players", "escrow": "escrow", "bankroll": "bankrolls"}
    sums: dict[str, dict[str, int]] = {}
    for (account, currency), balance in balances.items():
        kind = account if account in (names.HOUSE, names.EXTERNAL) else account.partition(":")[0]
        by_kind = sums.setdefault(
            currency, dict.fromkeys(("players", "escrow", "bankrolls", "house", "external"), 0)
        )
        by_kind[kinds.get(kind, kind)] += balance
    return sums
