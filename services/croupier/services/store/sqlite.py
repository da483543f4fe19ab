"""The default engine: SQLite, one file per ledger, nothing to install.

A commit is acknowledged when it is on disk (write-ahead log, `synchronous=FULL`). The log can
only grow: triggers refuse to change or remove a record and to put another in its place.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from eventsourcing import sqlite as library
from eventsourcing.persistence import (
    DataError,
    IntegrityError,
    Notification,
    PersistenceError,
    StoredEvent,
)

from croupier.services.audit.tree import Frontier
from croupier.services.files import writable_folder
from croupier.services.store.lock import FileLock
from croupier.services.store.room import hint
from croupier.services.store.sqlite_commit import INSERT, record, row_of
from croupier.services.store.sqlite_connection import Datastore, Pool, translated, writing
from croupier.services.store.sqlite_file import check_file, check_tables
from croupier.services.store.sqlite_schema import SNAPSHOTS, statements
from croupier.services.store.store import (
    Commit,
    Head,
    RequestEntry,
    RequestKey,
    Snapshot,
)

__all__ = ["Datastore", "Factory", "Recorder", "SQLiteEngine"]

_COLUMNS = "SELECT position, originator_id, originator_version, topic, state FROM stored_events "


LOCKED_OUT_MS = 500
"""How long a commit waits for somebody outside the service who has locked the file."""


class Recorder(library.SQLiteApplicationRecorder):
    """The library's recorder over the append-only log of one ledger, and its `Store`.

    The library's own methods work as documented: `insert_events(events)` allots positions. With
    `commit=` the events are records that hold their positions, and the head is compared and moved
    in the same transaction. A log with a head takes no more events without one.
    """

    durability = asked = "fsync"

    def __init__(
        self, datastore: library.SQLiteDatastore, events_table_name: str = "stored_events"
    ) -> None:
        super().__init__(datastore, events_table_name)
        self._own: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._seen_version = -1
        self._lock: FileLock | None = None

    def construct_create_table_statements(self) -> list[str]:
        """Return the schema's statements."""
        return statements()

    # --- the library's interface ---------------------------------------------------------------

    def _insert_events(
        self, c: library.SQLiteCursor, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        commit: Commit | None = kwargs.get("commit")
        if commit is not None:
            return record(c, stored_events, commit)
        c.execute("SELECT position FROM head")
        if c.fetchone()[0]:
            msg = "this log has a head; events are added with commit=..."
            raise IntegrityError(msg)
        c.execute("SELECT COALESCE(MAX(position), 0) FROM stored_events")
        last: int = c.fetchone()[0]
        positions = range(last + 1, last + 1 + len(stored_events))
        c.executemany(INSERT, map(row_of, positions, stored_events))
        return list(positions)

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return records in order of position, as the library describes."""
        where: list[str] = []
        params: list[Any] = []
        if start is not None:
            where.append("position >= ?" if inclusive_of_start else "position > ?")
            params.append(start)
        if stop is not None:
            where.append("position <= ?")
            params.append(stop)
        if topics:
            where.append(f"topic IN ({','.join('?' * len(topics))})")
            params += topics
        statement = _COLUMNS + (f"WHERE {' AND '.join(where)} " if where else "")
        with self.datastore.transaction(commit=False) as c:
            c.execute(statement + "ORDER BY position LIMIT ?", (*params, limit))
            return [self._notification(row) for row in c.fetchall()]

    def _notification(self, row: Sequence[Any]) -> Notification:
        position, stream, version, topic, state = row
        return Notification(
            id=position,
            originator_id=self.convert_originator_id(stream),
            originator_version=version,
            topic=topic,
            state=state,
        )

    # --- the ledger's interface ----------------------------------------------------------------

    @property
    def _connection(self) -> sqlite3.Connection:
        """A connection of its own: `data_version` counts what all the others commit."""
        if self._own is None:
            pool = self.datastore.pool
            if not isinstance(pool, Pool):
                msg = "the ledger's interface needs this module's Datastore"
                raise TypeError(msg)
            self._identity = _identity(self.datastore.pool.db_name)
            self._own = pool.connect()
            # Writers have the ledger's own lock; whoever else locks the file keeps only this
            # ledger waiting, and not for long: turns run on the event loop.
            self._own.execute(f"PRAGMA busy_timeout={LOCKED_OUT_MS}")
        return self._own

    def is_made(self) -> bool:
        """Return whether the file has the schema, which is made whole or not at all."""
        if self._has_table("head"):
            return True
        check_tables(self._connection)
        return False

    def add_snapshots(self) -> None:
        """Make the table of snapshots in a file that has none; without it all else works."""
        with suppress(sqlite3.Error, PersistenceError):
            if not self._has_table("snapshots"):
                self._connection.execute(SNAPSHOTS)

    def _has_table(self, name: str) -> bool:
        query = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
        with translated():
            return bool(self._connection.execute(query, (name,)).fetchone()[0])

    def _data_version(self) -> int:
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def changed(self) -> bool:
        """Return whether another connection has committed since the last `head`."""
        with translated():
            return self._data_version() != self._seen_version

    def head(self) -> Head:
        """Return the committed head; one that makes no sense is a `DataError`."""
        with translated():
            self._seen_version = self._data_version()
            row = self._connection.execute(
                "SELECT position, recorded_us, frontier,"
                " (SELECT COALESCE(MAX(position), 0) FROM stored_events) FROM head"
            ).fetchone()
        if _identity(self.datastore.pool.db_name) != self._identity:
            msg = "the ledger's file was removed or another was put in its place"
            raise DataError(msg)
        # A column takes values of any type, and many of them would pass for a head.
        types = [type(value) for value in row or ()]
        if types != [int, int, bytes, int]:
            names = ", ".join(kind.__name__ for kind in types)
            msg = f"the stored head is none: {names or 'no row'}"
            raise DataError(msg)
        position, recorded_us, frontier, last = row
        if position != last:
            msg = f"the head is at position {position}, the log ends at {last}"
            raise DataError(msg)
        try:
            return Head(Frontier.from_bytes(position, frontier), recorded_us)
        except ValueError as error:
            msg = f"the stored head is none: {error}"
            raise DataError(msg) from error

    def look(self, keys: Iterable[RequestKey]) -> tuple[Head, dict[RequestKey, RequestEntry]]:
        """Return the head and those of the requests that were accepted, under the turn's lock."""
        return self.head(), self.find_requests(keys)

    def assumed_head(self) -> Head | None:
        """Return nothing: a look is cheap here."""
        return None

    def commit(self, records: Sequence[Notification], commit: Commit) -> None:
        """Record all or nothing; see `Store.commit`."""
        with translated():
            connection = self._connection
            with writing(connection):
                record(library.SQLiteCursor(connection.cursor()), records, commit)

    def _select(self, tail: str, params: Sequence[Any]) -> list[Notification]:
        with translated():
            rows = self._connection.execute(_COLUMNS + tail, params).fetchall()
        return [self._notification(row) for row in rows]

    def records(self, after: int, limit: int) -> Sequence[Notification]:
        """Return records in order of position, from the one after `after`."""
        return self._select("WHERE position > ? ORDER BY position LIMIT ?", (after, limit))

    def stream(self, stream: str, after: int, limit: int) -> Sequence[Notification]:
        """Return a stream's records in order of version, from the one after `after`."""
        tail = "WHERE originator_id = ? AND originator_version > ? "
        return self._select(tail + "ORDER BY originator_version LIMIT ?", (stream, after, limit))

    def check_streams(self, position: int) -> None:
        """Do nothing: a record's stream is a column of its own row."""

    def stream_version(self, stream: str) -> int:
        """Return the last version of a stream, 0 if there is none."""
        query = "SELECT MAX(originator_version) FROM stored_events WHERE originator_id = ?"
        with translated():
            return self._connection.execute(query, (stream,)).fetchone()[0] or 0

    def streams(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        """Return the streams that begin with `prefix`, in order, from the one after `after`."""
        # One lower bound, so that the search begins there; else it would pass all that is before.
        first = "originator_id >= ?" if after < prefix else "originator_id > ?"
        query = _STREAMS + first + " AND originator_id < ? ORDER BY originator_id LIMIT ?"
        end = prefix + chr(sys.maxunicode)
        with translated():
            rows = self._connection.execute(query, (max(after, prefix), end, limit)).fetchall()
        return [row[0] for row in rows]

    def find_requests(self, keys: Iterable[RequestKey]) -> dict[RequestKey, RequestEntry]:
        """Return those of the requests that were accepted."""
        wanted = list(keys)
        found: dict[RequestKey, RequestEntry] = {}
        with translated():
            for cut in range(0, len(wanted), _KEYS_PER_QUERY):
                some = wanted[cut : cut + _KEYS_PER_QUERY]
                placeholders = ",".join(["(?,?)"] * len(some))
                query = f"WITH wanted (caller, request_id) AS (VALUES {placeholders}) "
                params = [part for key in some for part in key]
                for row in self._connection.execute(query + _FIND_REQUESTS, params):
                    entry = RequestEntry(*row)
                    found[entry.key] = entry
        return found

    def count_requests(self, last: int) -> int:
        """Return how many accepted requests have all their events up to position `last`."""
        query = "SELECT COUNT(*) FROM requests WHERE last <= ?"
        with translated():
            return int(self._connection.execute(query, (last,)).fetchone()[0])

    def snapshot(self, name: str) -> Snapshot | None:
        """Return the snapshot of this name; see `Store.snapshot`."""
        query = "SELECT name, position, stamp, state, digest FROM snapshots WHERE name = ?"
        with translated():
            row = self._connection.execute(query, (name,)).fetchone()
        return None if row is None else Snapshot.checked(*row)

    def mark(self, _head: Head, /) -> bool:
        """Do nothing: so is every other commit."""
        return False

    def confirm(self) -> None:
        """Do nothing: a commit is on disk when it returns."""

    @property
    def _file_lock(self) -> FileLock:
        if self._lock is None:
            self._lock = FileLock(Path(self.datastore.pool.db_name))
        return self._lock

    def try_lock(self) -> bool:
        """Take the ledger's lock if nobody has it or waits for it."""
        return self._file_lock.try_acquire()

    def lock(self) -> None:
        """Take the ledger's lock, waiting for it in turn."""
        self._file_lock.acquire()

    def unlock(self) -> None:
        """Give the ledger's lock back."""
        if self._lock is not None:
            self._lock.release()

    def close(self) -> None:
        """Close every connection and let go of the lock."""
        if self._own is not None:
            self._own.close()
            self._own = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        self.datastore.close()


# Without these words SQLite prefers to look at every version of every stream.
_STREAMS = (
    "SELECT originator_id FROM stored_events INDEXED BY streams WHERE originator_version = 1 AND "
)

# A cross join keeps its order: each key is looked up. `IN (VALUES ...)` would scan all requests.
_FIND_REQUESTS = (
    "SELECT caller, requests.request_id, digest, first, last "
    "FROM wanted CROSS JOIN requests USING (caller, request_id)"
)

_KEYS_PER_QUERY = 400
"""Two parameters a key, below the 999 that the oldest supported SQLite takes."""


class Factory(library.SQLiteFactory):
    """The library's factory: `PERSISTENCE_MODULE=croupier.services.store.sqlite`."""

    application_recorder_class = Recorder

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.datastore.close()
        self.datastore = Datastore(
            self.datastore.pool.db_name,
            lock_timeout=self.datastore.pool.lock_timeout,
            single_row_tracking=self.datastore.single_row_tracking,
            originator_id_type=self.datastore.originator_id_type,
        )


def _identity(path: str) -> tuple[int, int] | None:
    """Return which file is at `path`, None if there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


class SQLiteEngine:
    """Ledgers as files of one folder."""

    name = "sqlite"
    durability = Recorder.durability

    def __init__(self, folder: Path) -> None:
        """Use `folder`, made if it does not exist.

        Raises:
            OSError: the folder cannot be made or written.

        """
        self._folder = writable_folder(folder, "data")
        self.where = str(folder)

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers that have a file here, sorted."""
        return sorted(path.name.removesuffix(".db") for path in self._folder.glob("*.db"))

    def exists(self, ledger: str) -> bool:
        """Return whether the ledger has a file here."""
        return self._path(ledger).is_file()

    def _path(self, ledger: str) -> Path:
        return self._folder / f"{ledger}.db"

    def open(self, ledger: str) -> Recorder:
        """Return the store of a ledger; its file is made if it does not exist."""
        path = self._path(ledger).resolve()
        # What a ledger holds is for the service's user alone; SQLite keeps the mode for its files.
        with suppress(OSError):  # what is wrong with the place, SQLite says below
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            check_file(path)
        recorder = Recorder(Datastore(str(path)))
        try:
            if not recorder.is_made():
                recorder.create_table()
            recorder.add_snapshots()
        except PersistenceError as error:
            recorder.close()
            raise type(error)(f"{error}{hint(self._folder)}") from error
        except BaseException:
            recorder.close()
            raise
        return recorder

    def close(self) -> None:
        """Let go of nothing: stores hold what is held."""
