"""When snapshots are taken and what they hold. They are a cache: any doubt, and there is none.

What goes wrong here is counted and logged, and never an error of whoever asked for something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, TypeVar

import structlog
from eventsourcing.persistence import Notification, PersistenceError

from croupier.domain.table import Table
from croupier.services.audit.tree import leaf_hash
from croupier.services.ledger.book import BOOK_STAMP, Book, decode, encode
from croupier.services.ledger.deciding import TABLES
from croupier.services.store.snapshots import (
    from_bytes,
    table_from_json,
    table_stamp,
    table_to_json,
    to_bytes,
)
from croupier.services.store.store import Commit, HeadMovedError, Snapshot, SnapshotError, Store

logger = structlog.get_logger()

T = TypeVar("T")

BOOK = "book"
"""The name of the book's snapshot; a table's is its stream."""

PER_COMMIT = 16
"""Tables whose snapshots go along with one commit; they cost it about a tenth of a millisecond."""

WAITING_MAX = 1_000
"""Tables that wait for a commit; beyond it those who wait longest are forgotten."""


UNCHECKED_MAX = 100
"""Tables that wait to be replayed in the background; those beyond it are not."""

CHECKED_MAX = 10_000
"""Tables of which it is remembered that they were; then it is forgotten of all."""


class Kind(StrEnum):
    """Of what a snapshot is."""

    TABLE = "table"
    BOOK = "book"


class Drop(StrEnum):
    """Why a snapshot is not used."""

    UNREADABLE = "unreadable"
    """The store did not give it."""
    CHANGED = "changed"
    """It is not what was saved."""
    STAMP = "stamp"
    """Another program wrote it, or other rules."""
    AHEAD = "ahead"
    """It is of a position that the log has not reached."""
    UNDECODABLE = "undecodable"
    """Its bytes make no such value."""
    OTHER_LOG = "other_log"
    """The log does not lead through it."""
    NOT_SAVED = "not_saved"
    """It could not be made, or its commit failed."""


class SnapshotObserver(Protocol):
    """Who is told what becomes of snapshots."""

    def snapshots_saved(self, kind: str, count: int) -> None:
        """Snapshots were saved with a commit."""
        ...

    def snapshot_dropped(self, kind: str, reason: str) -> None:
        """A snapshot is not used, or was not saved."""
        ...

    def snapshot_rechecked(self, kind: str, *, same: bool) -> None:
        """A snapshot that this process began with was compared with the log."""
        ...

    def events_unchecked(self, ledger: str, count: int) -> None:
        """So many events were taken from a snapshot and not read again since."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """After how many events a snapshot is taken."""

    table_events: int = 1_000
    """Of a table, while it is in memory."""
    evicted_events: int = 50
    """Of a table that leaves the memory."""
    book_events: int = 20_000
    """Of the ledger, at least."""
    book_entries: int = 1
    """Of the ledger, for each entry of the book, so that a large one is taken less often."""
    drained_events: int = 5_000
    """Of the ledger, when the process ends."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A table from its snapshot, and its last event by position and leaf hash.

    Who goes on from here has to find that event in the stream: else the log is another.
    """

    table: Table
    position: int
    leaf: bytes


class Snapshots:
    """The snapshots of one ledger. It belongs to the writer's event loop."""

    def __init__(
        self, ledger: str, store: Store, observer: SnapshotObserver, policy: Policy
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._observer = observer
        self._policy = policy
        self._saved: dict[str, int] = {}
        self._waiting: dict[str, Table] = {}
        self._book: Snapshot | None = None
        self._book_at = 0
        self._forgotten = 0
        self._began_at = 0
        self._unchecked_tables: dict[str, Begun] = {}
        self._checked_tables: set[str] = set()
        self.unchecked: Book | None = None
        """The book with which this process began, until all events before it were read again."""

    # --- tables in memory ------------------------------------------------------------------------

    def kept(self, table: Table) -> None:
        """Take a snapshot of a table in memory if it is time for one."""
        if table.version - self._saved.get(table.id, 0) >= self._policy.table_events:
            self._saved[table.id] = table.version
            self._wait(table)

    def let_go(self, table: Table) -> None:
        """Take a snapshot of a table that leaves the memory, if it is worth one."""
        if table.version - self._saved.pop(table.id, 0) >= self._policy.evicted_events:
            self._wait(table)

    def _wait(self, table: Table) -> None:
        self._waiting.pop(table.id, None)
        self._waiting[table.id] = table
        if len(self._waiting) > WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]

    # --- loading ---------------------------------------------------------------------------------

    def table(self, table_id: str, last: int) -> Begun | None:
        """Return a table as its snapshot has it, none newer than position `last`."""

        def decoded(snapshot: Snapshot) -> Begun:
            leaf, values = from_bytes(snapshot.state)
            table = table_from_json(values)
            if table.id != table_id:
                msg = f"the snapshot is of table {table.id}"
                raise ValueError(msg)
            return Begun(table, snapshot.position, bytes.fromhex(leaf))

        return self._load(Kind.TABLE, TABLES + table_id, last, stamp=table_stamp, decoded=decoded)

    def loaded(self, begun: Begun) -> None:
        """Remember the snapshot from which a table in memory began."""
        table = begun.table
        self._saved[table.id] = table.version
        # What was saved since this process began, was saved by processes that run now.
        older = begun.position <= self._began_at and table.id not in self._checked_tables
        if older and len(self._unchecked_tables) < UNCHECKED_MAX:
            self._unchecked_tables.setdefault(table.id, begun)

    def next_unchecked(self) -> Table | None:
        """Return a table as a snapshot had it that should be replayed, each once."""
        if not self._unchecked_tables:
            return None
        table_id = next(iter(self._unchecked_tables))
        if len(self._checked_tables) >= CHECKED_MAX:
            self._checked_tables.clear()
        self._checked_tables.add(table_id)
        return self._unchecked_tables.pop(table_id).table

    def book(self, last: int) -> Book | None:
        """Return the book as its snapshot has it, none newer than position `last`."""

        def decoded(snapshot: Snapshot) -> Book:
            book = decode(snapshot.state)
            if book.position != snapshot.position or not book.is_sound():
                msg = f"no log has such a book at {snapshot.position}"
                raise ValueError(msg)
            return book

        return self._load(Kind.BOOK, BOOK, last, stamp=lambda: BOOK_STAMP, decoded=decoded)

    def began(self, book: Book | None, position: int) -> None:
        """Remember where this process began, and from which book; None if it read the whole log."""
        self._began_at = position
        self.unchecked = book
        self._book_at = book.position if book else 0
        self._tell_unchecked(book.position if book else 0)

    def drop(self, kind: Kind, reason: Drop, name: str = "", why: str = "") -> None:
        """Count a snapshot that is not used."""
        logger.warning(
            "snapshot dropped", ledger=self._ledger, snapshot=name or kind, reason=reason, why=why
        )
        with suppress(Exception):
            self._observer.snapshot_dropped(kind, reason)

    def checked(self, position: int) -> None:
        """Report that the events to a position were read again."""
        if self.unchecked is not None:
            self._tell_unchecked(self.unchecked.position - position)

    def all_checked(self, book: Book) -> None:
        """Remember that all events before a book were read again and make that book."""
        if self.unchecked is book:
            self.unchecked = None
            self._tell_unchecked(0)

    def rechecked(self, kind: Kind, *, same: bool) -> None:
        """Report that a snapshot was compared with the log."""
        with suppress(Exception):
            self._observer.snapshot_rechecked(kind, same=same)

    def _tell_unchecked(self, count: int) -> None:
        with suppress(Exception):
            self._observer.events_unchecked(self._ledger, count)

    def _load(
        self,
        kind: Kind,
        name: str,
        last: int,
        *,
        stamp: Callable[[], str],
        decoded: Callable[[Snapshot], T],
    ) -> T | None:
        """Return a snapshot decoded, None if there is none or it is not beyond doubt."""
        reason = Drop.UNREADABLE
        try:
            snapshot = self._store.snapshot(name)
            if snapshot is None:
                return None
            reason = Drop.STAMP
            if snapshot.stamp == stamp():
                reason = Drop.AHEAD
                if snapshot.position <= last:
                    reason = Drop.UNDECODABLE
                    return decoded(snapshot)
            why = f"{snapshot.stamp} at {snapshot.position}"
        except SnapshotError as error:
            reason, why = Drop.CHANGED, str(error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the log is there
            why = repr(error)
        self.drop(kind, reason, name, why)
        return None

    # --- saving ----------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Return whether anything waits to go along with a commit."""
        return bool(self._waiting) or self._book is not None

    def commit(self, records: Sequence[Notification], commit: Commit) -> None:
        """Record a commit and the snapshots that wait; if they are why it fails, without them.

        Raises:
            HeadMovedError: as `Store.commit`.
            PersistenceError: as `Store.commit`.

        """
        book, waiting = self._book, dict(self._waiting)
        snapshots = self._take()
        if not snapshots:
            self._store.commit(records, commit)
            return
        try:
            self._store.commit(records, replace(commit, snapshots=snapshots))
        except HeadMovedError:
            # What they hold was committed before, and is as good with the next commit.
            self._book, self._waiting = book, waiting
            raise
        except PersistenceError as error:
            # Whether a commit that failed was recorded, nobody knows but the head, if it moved it.
            if not records or self._store.head() != commit.head:
                self._not_saved(snapshots, str(error))
                if records:
                    self._store.commit(records, commit)
                return
        for kind in Kind:
            count = sum(_kind(snapshot) is kind for snapshot in snapshots)
            if count:
                with suppress(Exception):
                    self._observer.snapshots_saved(kind, count)

    def _not_saved(self, snapshots: Sequence[Snapshot], why: str) -> None:
        for snapshot in snapshots:
            self.drop(_kind(snapshot), Drop.NOT_SAVED, snapshot.name, why)

    def _take(self) -> list[Snapshot]:
        """Return what is to go along with a commit; none of it waits any more."""
        taken = []
        if self._book is not None:
            taken.append(self._book)
            self._book = None
        for table_id in list(self._waiting)[:PER_COMMIT]:
            table = self._waiting.pop(table_id)
            try:
                taken.append(self._of_table(table))
            except Exception as error:  # noqa: BLE001  # no fault of who commits
                self.drop(Kind.TABLE, Drop.NOT_SAVED, TABLES + table_id, repr(error))
        return taken

    def _of_table(self, table: Table) -> Snapshot:
        name = TABLES + table.id
        (last,) = self._store.stream(name, table.version - 1, 1)
        if last.originator_version != table.version:
            msg = f"version {table.version} is missing"
            raise ValueError(msg)
        values = table_to_json(table)
        state = to_bytes([leaf_hash(last.state).hex(), values])
        if table_from_json(from_bytes(state)[1]) != table:
            msg = "what was read back is another table"
            raise ValueError(msg)
        return Snapshot(name, last.id, table_stamp(), state)

    async def take_if_due(self, book: Book, *, ending: bool = False) -> bool:
        """Take a snapshot of the book if it is time for one; return whether one was taken.

        It is encoded in small steps, between which others run, and waits for a commit then.
        """
        policy = self._policy
        least = max(policy.book_events, policy.book_entries * book.entries)
        if ending:
            least = policy.drained_events
        if book.position - self._book_at < least:
            return False
        book, forgotten = book.copy(), self._forgotten
        self._book_at = book.position
        state = await encode(book)
        if forgotten == self._forgotten:
            self._book = Snapshot(BOOK, book.position, BOOK_STAMP, state)
        return True

    def forget(self) -> None:
        """Let go of what waits: the state in memory may not be what is committed."""
        self._saved.clear()
        self._waiting.clear()
        self._book = None
        self._forgotten += 1


def _kind(snapshot: Snapshot) -> Kind:
    return Kind.BOOK if snapshot.name == BOOK else Kind.TABLE
