"""A copy of a ledger's file while others write to it: all of one moment, and never a torn one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from croupier.services.store.sqlite import Recorder
from croupier.services.store.sqlite_connection import Datastore, Pool, translated

PAGES = 256
"""Pages copied at a time, a mebibyte."""


def copy_file(source: Path, target: Path) -> None:
    """Copy a ledger's file into one that does not exist yet.

    The copy is what one read transaction sees, so writers go on meanwhile; what they write waits in
    the write-ahead log, which grows by it until the copy is done.

    Raises:
        PersistenceError: the source cannot be read or the target not written.

    """
    with translated(), _reading(source) as live, closing(_connect(target, "rwc")) as copy:
        # Not even a crash has to find this file again: it is not the copy until it is checked.
        copy.execute("PRAGMA journal_mode=OFF")
        copy.execute("PRAGMA synchronous=OFF")
        live.execute("BEGIN")
        live.execute("SELECT position FROM head").fetchone()  # from here on nothing moves
        live.backup(copy, pages=PAGES, sleep=0)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold a connection that changes nothing and leaves no file behind that was not there."""
    # Without a write-ahead log nobody serves the file: a connection that could write removes the
    # one that it makes. With one, somebody does, or died; it is left as it is.
    served = path.with_name(path.name + "-wal").exists()
    with closing(_connect(path, "ro" if served else "rw")) as connection:
        connection.execute("PRAGMA query_only=ON")
        yield connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, isolation_level=None)


class _CopyPool(Pool):
    """Connections to a file that nobody writes: no journal, no lock, no file beside it."""

    def _prepare(self, raw: sqlite3.Connection) -> None:
        raw.row_factory = sqlite3.Row


@contextmanager
def opened_copy(path: Path) -> Iterator[Recorder]:
    """Hold a store that reads a file which nobody writes."""
    datastore = Datastore(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1")
    datastore.pool.close()
    datastore.pool = _CopyPool(db_name=datastore.pool.db_name)
    recorder = Recorder(datastore)
    try:
        yield recorder
    finally:
        recorder.close()
