"""One commit in SQLite: the head, the records, the request ids and the snapshots together."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eventsourcing import sqlite as library
from eventsourcing.persistence import Notification, ProgrammingError, StoredEvent

from croupier.services.store.store import Commit, HeadMovedError

INSERT = "INSERT INTO stored_events VALUES (?,?,?,?,?)"

_SNAPSHOT = (
    "INSERT OR REPLACE INTO snapshots (name, position, stamp, digest, state) VALUES (?,?,?,?,?)"
)


def row_of(position: int, event: StoredEvent) -> tuple[int, str, int, str, bytes]:
    """Return a record as its columns."""
    stream = event.originator_id
    name = stream.hex if isinstance(stream, UUID) else stream
    return (position, name, event.originator_version, event.topic, event.state)


def record(c: library.SQLiteCursor, records: Sequence[StoredEvent], commit: Commit) -> list[int]:
    """Compare and move the head, then insert; the caller holds a writing transaction."""
    expected, head = commit.expected, commit.head
    moved = c.sqlite_cursor.execute(
        "UPDATE head SET position = ?, recorded_us = ?, frontier = ? "
        "WHERE position = ? AND frontier = ?",
        (
            head.position,
            head.recorded_us,
            head.frontier.to_bytes(),
            expected.position,
            expected.frontier.to_bytes(),
        ),
    ).rowcount
    if moved != 1:
        msg = f"the head is not at {expected.position} any more"
        raise HeadMovedError(msg)
    positions = [record.id for record in records if isinstance(record, Notification)]
    if positions != list(range(expected.position + 1, head.position + 1)):
        msg = f"records from {expected.position + 1} to {head.position} were expected"
        raise ProgrammingError(msg)
    c.executemany(INSERT, map(row_of, positions, records))
    c.executemany(
        "INSERT INTO requests VALUES (?,?,?,?,?)",
        [(r.caller, r.request_id, r.digest, r.first, r.last) for r in commit.requests],
    )
    if commit.snapshots:  # without any the table may be missing
        c.executemany(
            _SNAPSHOT,
            [(s.name, s.position, s.stamp, s.digest(), s.state) for s in commit.snapshots],
        )
    return positions
