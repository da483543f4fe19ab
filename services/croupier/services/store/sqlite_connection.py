"""SQLite connections for the library's recorders that lose no commit and begin writing as such."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eventsourcing import sqlite as library
from eventsourcing.persistence import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    PersistenceError,
    ProgrammingError,
)

BUSY_TIMEOUT_S = 10
"""How long a writer waits for a reader's or backup's lock on the file; the ledger's own lock
comes before it, so that no two writers ever meet here."""

_ERRORS: tuple[tuple[type[sqlite3.Error], type[PersistenceError]], ...] = (
    (sqlite3.IntegrityError, IntegrityError),
    (sqlite3.OperationalError, OperationalError),
    (sqlite3.ProgrammingError, ProgrammingError),
    (sqlite3.DataError, DataError),
    (sqlite3.InternalError, InternalError),
    (sqlite3.NotSupportedError, NotSupportedError),
    (sqlite3.DatabaseError, DatabaseError),
    (sqlite3.InterfaceError, InterfaceError),
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise the library's errors in place of the driver's."""
    try:
        yield
    except sqlite3.Error as error:
        for theirs, ours in _ERRORS:
            if isinstance(error, theirs):
                raise ours(error) from error
        raise PersistenceError(error) from error


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold a transaction that may write from its first statement on: all of it, or nothing.

    One that reads first and then writes would fail at once when somebody else writes meanwhile.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.commit()
    except BaseException:
        # A COMMIT that fails leaves the transaction open, and this connection would go on to read
        # as recorded what nobody else ever sees.
        connection.rollback()
        raise


def _write_ahead(raw: sqlite3.Connection) -> None:
    """Turn on write-ahead logging, which a file keeps once it has it."""
    mode: str | None = None
    while mode is None:
        try:
            (mode,) = raw.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            primary = error.sqlite_errorcode & 0xFF  # the rest says in which way it is busy
            if primary != sqlite3.SQLITE_BUSY:
                raise
            # Somebody else opens a new file too. This switch never waits, but a transaction does,
            # up to the timeout.
            raw.execute("BEGIN EXCLUSIVE")
            raw.rollback()
    if mode != "wal":
        msg = f"write-ahead logging is not possible here, only {mode}"
        raise OperationalError(msg)


class Connection(library.SQLiteConnection):
    """The library's connection whose writing transactions begin as such."""

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[library.SQLiteCursor]:
        """Hold a transaction, rolled back unless it is to `commit`."""
        if not commit:
            with super().transaction(commit=commit) as cursor:
                yield cursor
            return
        with translated(), writing(self._sqlite_conn), self.cursor() as raw:
            yield library.SQLiteCursor(raw)


class Pool(library.SQLiteConnectionPool):
    """The library's pool with connections that are durable, and some outside of it."""

    @staticmethod
    def detect_memory_mode(db_name: str) -> bool:
        """Return whether the name is that of no file; a path may look like it."""
        named = bool(db_name) and db_name.startswith((":memory:", "file:"))
        return named and library.SQLiteConnectionPool.detect_memory_mode(db_name)

    def _create_connection(self) -> Connection:
        return Connection(sqlite_conn=self._connect(), max_age=self.max_age)

    def connect(self) -> sqlite3.Connection:
        """Return a connection of the caller's own, outside the pool."""
        if self.closed:
            msg = "the database is closed"
            raise InterfaceError(msg)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        try:
            with translated():
                raw = sqlite3.connect(
                    self.db_name,
                    uri=True,
                    check_same_thread=False,
                    isolation_level=None,
                    timeout=self.lock_timeout or BUSY_TIMEOUT_S,
                )
        except TypeError as error:  # the name is not one
            raise InterfaceError(error) from error
        try:
            with translated():
                self._prepare(raw)
        except BaseException:
            raw.close()
            raise
        return raw

    def _prepare(self, raw: sqlite3.Connection) -> None:
        raw.row_factory = sqlite3.Row
        if not self.is_sqlite_memory_mode:
            _write_ahead(raw)
        # The level belongs to a connection, not to the file: unset, a power cut may lose commits.
        raw.execute("PRAGMA synchronous=FULL")


class Datastore(library.SQLiteDatastore):
    """The library's datastore over such connections."""

    def __init__(
        self,
        db_name: str,
        *,
        lock_timeout: int | None = None,
        single_row_tracking: bool = True,
        originator_id_type: Any = "text",
    ) -> None:
        super().__init__(
            db_name=db_name,
            single_row_tracking=single_row_tracking,
            originator_id_type=originator_id_type,
        )
        self.pool.close()
        self.pool: Pool = Pool(db_name=db_name, lock_timeout=lock_timeout)
