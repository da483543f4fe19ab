"""How records, requests and snapshots look as values of Redis."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from eventsourcing.persistence import DataError

from croupier.services.store.store import (
    RequestEntry,
    RequestKey,
    Snapshot,
    SnapshotError,
)

_ENTRY = struct.Struct(">32sQI")
"""A request's digest, its first position, and how many more it has: 44 bytes."""

SNAPSHOT_FIELDS = ("position", "stamp", "state", "digest")

Row = tuple[int, str, int, str, bytes]
"""A record: position, stream, version, topic, state."""


def request_field(key: RequestKey) -> bytes:
    """Return the field of a request; the length tells where the caller ends."""
    caller, request_id = (part.encode() for part in key)
    return b"%d:%b%b" % (len(caller), caller, request_id)


def request_value(entry: RequestEntry) -> bytes:
    """Return what is kept of a request."""
    return _ENTRY.pack(entry.digest, entry.first, entry.last - entry.first)


def request_entry(key: RequestKey, value: bytes) -> RequestEntry:
    """Return the entry that was kept.

    Raises:
        DataError: the value is none.

    """
    try:
        digest, first, more = _ENTRY.unpack(value)
    except struct.error as error:
        msg = f"the request {key} has an entry of {len(value)} bytes"
        raise DataError(msg) from error
    return RequestEntry(*key, digest, first, first + more)


def last_of(value: bytes) -> int:
    """Return the last position of a kept request; one that is none has no position."""
    if len(value) != _ENTRY.size:
        return 0
    _, first, more = _ENTRY.unpack(value)
    return int(first + more)


def row_of(entry: Any) -> Row:
    """Return the record of an entry of the log.

    Raises:
        DataError: it is none.

    """
    try:
        name, (s, stream, v, version, t, topic, b, state) = entry
        position, _, rest = name.partition(b"-")
        if (s, v, t, b, rest) != (b"s", b"v", b"t", b"b", b"0"):
            raise ValueError(name)
        return int(position), stream.decode(), int(version), topic.decode(), state
    except (ValueError, TypeError, AttributeError) as error:
        shown = entry[0] if isinstance(entry, list) and entry else entry
        msg = f"the entry {shown!r} of the log is no record"
        raise DataError(msg) from error


def snapshot_of(name: str, values: Sequence[bytes | None]) -> Snapshot | None:
    """Return the snapshot that was saved under a name, None if there is none.

    Raises:
        SnapshotError: the values are not those that were saved.

    """
    if all(value is None for value in values):
        return None
    position, stamp, state, digest = values
    try:
        assert position is not None
        assert stamp is not None
        at, said = int(position), stamp.decode()
    except (AssertionError, ValueError) as error:
        raise SnapshotError("a field of the snapshot is of another type") from error
    return Snapshot.checked(name, at, said, state, digest)
