"""What a file says of itself before it is opened: a file that is not ours is left as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from eventsourcing.persistence import DataError

from croupier.services.store.sqlite_connection import translated
from croupier.services.store.store import NewerLayoutError

LAYOUT = 0
"""The layout of a ledger's file, kept as SQLite's `user_version`; a newer program may raise it."""

_MAGIC = b"SQLite format 3\0"
_WRITE_AHEAD = 2


def check_file(path: Path) -> None:
    """Refuse a file that this program must not open, without touching it. An empty one is new.

    Raises:
        NewerLayoutError: a newer program made it.
        PersistenceError: it is a database of something else.
        OSError: it cannot be read.

    """
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(_MAGIC):
        return  # a new file, or none of SQLite's, which SQLite says better
    layout = int.from_bytes(header[60:64], "big")
    if layout > LAYOUT:
        raise NewerLayoutError(f"layout {layout} is newer than this program's, which is {LAYOUT}")
    if header[18] != _WRITE_AHEAD:
        # Ours are write-ahead, and so are online copies of them. To look at another kind of file
        # makes none beside it.
        with (
            translated(),
            closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection,
        ):
            check_tables(connection)


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse a database that has tables and not those of a ledger.

    Raises:
        DataError: it is so.

    """
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith("sqlite_")
    }
    if tables and "stored_events" not in tables:
        raise DataError(f"not a ledger: a database of {', '.join(sorted(tables)[:3])}")
