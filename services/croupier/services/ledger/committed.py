"""What a ledger's log says: balances, tables and versions, folded from committed records only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from croupier.domain import names, table
from croupier.domain.event import NAMES
from croupier.domain.events import (
    RoundSettled,
    RoundVoided,
    TableEvent,
)
from croupier.domain.postings import Key
from croupier.domain.table import Table
from croupier.services.audit.tree import leaf_hash
from croupier.services.ledger.book import Book, LogError, LostError, read
from croupier.services.ledger.deciding import TABLES
from croupier.services.ledger.snapshots import Begun, Drop, Kind, Snapshots
from croupier.services.ledger.state import Layer, Live
from croupier.services.ledger.tail import check_tail
from croupier.services.store.mapper import UnknownEventError, payload_from_wire
from croupier.services.store.store import Commit, Head, RequestEntry, Store
from croupier.v1 import events_pb2

PAGE = 1000
"""How many records are read at a time."""


ROUND_ENDS = frozenset({NAMES[RoundSettled], NAMES[RoundVoided]})
"""The kinds of events with which a round ends."""

_EMPTY = Head()


def stream_events(store: Store, stream: str, after: int = 0) -> Iterator[events_pb2.Event]:
    """Yield a stream's events in order, page by page."""
    while records := store.stream(stream, after, PAGE):
        for record in records:
            yield read(record)
        after = records[-1].originator_version


class Committed:
    """The bottom layer of state. It only ever moves forward, along the log."""

    def __init__(
        self, store: Store, capacity: int, snapshots: Snapshots, known: Head = _EMPTY
    ) -> None:
        """Begin before position 1. The log must pass through `known`, which was seen before."""
        self._store = store
        self._snapshots = snapshots
        self._known = known
        self._live = Live(capacity, snapshots)
        self.book = Book()
        self.head = Head()

    # --- State -----------------------------------------------------------------------------------

    def table(self, table_id: str) -> Table | None:
        """Return a table, loaded from its snapshot and its stream if it is not in memory."""
        found = self._live.get(table_id)
        if found is None:
            found = self._load(table_id)
            if found is not None:
                self._live.put(found)
        return found

    def open_table(self, table_id: str, number: int) -> Table | None:
        """Return a table unless it is seen without loading it that this round of it is over."""
        found = self._live.get(table_id)
        if found is None:
            stream = TABLES + table_id
            for record in self._store.stream(stream, self._store.stream_version(stream) - 1, 1):
                last = read(record)
                if last.round != number or last.type in ROUND_ENDS:
                    return None
        return found or self.table(table_id)

    def balance(self, key: Key) -> int:
        """Return a balance, minor units."""
        return self.book.balances.get(key, 0)

    def version(self, stream: str) -> int:
        """Return the last version of a stream."""
        return self.book.versions.get(stream, 0)

    @property
    def balances(self) -> Mapping[Key, int]:
        """Return all balances, minor units, by account and currency."""
        return MappingProxyType(self.book.balances)

    @property
    def format_version(self) -> int:
        """Return the log's format, 0 before its first event."""
        return self.book.format_version

    @property
    def live_tables(self) -> int:
        """Return how many tables are in memory."""
        return len(self._live)

    # --- tables that are not in memory -----------------------------------------------------------

    def _load(self, table_id: str) -> Table | None:
        begun = self._snapshots.table(table_id, self.head.position)
        if begun is not None:
            found = self._go_on(begun)
            if found is not None:
                self._snapshots.loaded(begun)
                return found
            self._snapshots.drop(Kind.TABLE, Drop.OTHER_LOG, TABLES + table_id)
        found = None
        for event in stream_events(self._store, TABLES + table_id):
            found = fold_table(found, event)
        return found

    def _go_on(self, begun: Begun) -> Table | None:
        """Return a table of a snapshot with what followed, None if the log is another.

        The stream is read from the snapshot's last event on, which has to be the same; and what the
        table holds has to be what its escrow has, and where the house banks, so has its bankroll.
        """
        found, position = begun.table, begun.position
        stream, after = TABLES + found.id, found.version - 1
        seen = False
        while records := self._store.stream(stream, after, PAGE):
            for record in records:
                event = read(record)
                if not seen:
                    said = (record.id, event.version, leaf_hash(record.state))
                    if said != (position, found.version, begun.leaf):
                        return None
                    seen = True
                    continue
                found, position = fold_table(found, event), event.position
            after = records[-1].originator_version
        currency = found.opened.currency
        escrow = self.balance((names.escrow(found.id), currency))
        bankroll = self.balance((names.bankroll(found.id), currency))
        same = (found.at_risk, found.bankroll) == (escrow, bankroll)
        # Beyond the head the book does not know yet what the table does.
        exact = position > self.head.position or same
        return found if seen and exact else None

    # --- moving forward --------------------------------------------------------------------------

    def advance(self, layer: Layer, commit: Commit) -> None:
        """Take over a turn's layer, which is now committed."""
        for at in layer.tables.values():
            self._live.put(at)
        self.book.advance(layer, commit)
        self.head = commit.head

    def catch_up(self, head: Head) -> None:
        """Fold what others committed, up to `head`.

        Raises:
            LogError: `head` is not an extension of what was folded before. What is folded by then
                is of no more use.

        """
        seen = max(self.head.position, self._known.position)
        if head.position < seen:
            msg = f"the head went back from {seen} to {head.position}"
            raise LostError(msg, head.position)
        if self.head.position == 0 and head.position > 0:
            self._recover(head)
        else:
            self._fold_to(head)
        self.head = head

    def _recover(self, head: Head) -> None:
        """Begin with the book's snapshot if there is one, else, or if it does not fit, before all.

        Records before the snapshot are read later, and not here (see `recheck`).
        """
        book = self._snapshots.book(head.position)
        if book is not None and book.position > self._known.position > 0:
            # From there it cannot be seen whether the log leads through what was seen before.
            self._snapshots.drop(Kind.BOOK, Drop.AHEAD)
        elif book is not None:
            self.book = book.copy()
            try:
                self._fold_to(head, check=self._check_known_requests)
                if book.position == head.position:  # else the tree was compared after the fold
                    check_tail(self._store, head)
                self._store.check_streams(head.position)
            except LogError as error:
                self._snapshots.drop(Kind.BOOK, Drop.OTHER_LOG, why=str(error))
            else:
                self._snapshots.began(book, head.position)
                return
        self.book = Book()
        self._fold_to(head)
        check_tail(self._store, head)
        self._store.check_streams(head.position)
        self._check_requests(head.position)
        self._snapshots.began(None, head.position)

    def _fold_to(
        self, head: Head, check: Callable[[Sequence[events_pb2.Event]], None] | None = None
    ) -> None:
        """Fold records up to `head`; `check` sees each page of events that was folded."""
        self._check_known(head)
        while self.book.position < head.position:
            wanted = min(PAGE, head.position - self.book.position)
            records = self._store.records(self.book.position, wanted)
            if not records:
                msg = (
                    f"position {self.book.position + 1} is missing, the head is at {head.position}"
                )
                raise LogError(msg)
            events = []
            for record in records:
                event = read(record)
                self.book.fold(record, event)
                self._check_known(head)
                self._fold_live(event)
                events.append(event)
            if check is not None:
                check(events)
        if self.book.frontier != head.frontier:
            if self.head.position:  # what was folded before was the log then
                seen = self.head.position
                msg = f"the log to {head.position} does not go on from what was seen to {seen}"
                raise LostError(msg)
            msg = f"the tree over events 1 to {head.position} is not the head's: one was changed"
            raise LogError(msg)

    def _check_known(self, head: Head) -> None:
        at, known = self.book.frontier, self._known.frontier
        # Where the head is what was seen, and the log is not, it is the log that was changed.
        if at.size == known.size and at != known != head.frontier:
            msg = f"the log to {known.size} is not the one that was seen before"
            raise LostError(msg)

    def _check_requests(self, last: int) -> None:
        """Refuse a log whose request ids are not all known: a retry would apply twice."""
        known = self._store.count_requests(last)
        if known != self.book.requests:
            msg = (
                f"{self.book.requests} requests are in the log, {known} in the index of request ids"
            )
            raise LogError(msg)

    def _check_known_requests(self, events: Sequence[events_pb2.Event]) -> None:
        check_requests(self._store, events)

    def _fold_live(self, event: events_pb2.Event) -> None:
        if event.stream.startswith(TABLES):
            live = self._live.get(event.stream.removeprefix(TABLES))
            # A table replayed while another process committed may be ahead of this fold.
            if live is not None and event.version == live.version + 1:
                try:
                    self._live.put(fold_table(live, event))
                except (UnknownEventError, ValueError) as error:
                    raise LogError(str(error)) from error


def check_requests(store: Store, events: Sequence[events_pb2.Event]) -> None:
    """Refuse events whose request ids are not in the index: a retry would apply twice.

    Raises:
        LogError: one is missing, or the index says something else of it.

    """
    found = store.find_requests({(event.caller, event.request_id) for event in events})
    for event in events:
        entry = found.get((event.caller, event.request_id))
        if entry is None or not is_caused_by(event, entry):
            msg = f"the request of position {event.position} is not in the index of request ids"
            raise LogError(msg)


def is_caused_by(event: events_pb2.Event, entry: RequestEntry) -> bool:
    """Return whether an event says that the request of an entry caused it."""
    return (
        (event.caller, event.request_id) == entry.key
        and event.request_digest == entry.digest
        and entry.first <= event.position <= entry.last
    )


def fold_table(at: Table | None, event: events_pb2.Event) -> Table:
    """Return a table after the next event of its stream."""
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
