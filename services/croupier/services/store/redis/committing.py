"""One commit as the arguments of one script call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    IntegrityError,
    Notification,
    ProgrammingError,
    StoredEvent,
    Tracking,
)

from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.packing import request_field, request_value
from croupier.services.store.redis.turns import Turns
from croupier.services.store.store import Commit

RECORDS_MAX = 100_000
BYTES_MAX = 64_000_000
"""What one commit may have, so that no other ledger on the same server waits for long; see
docs/engines.md. It is far below what a server takes in one command."""


def name_of(event: StoredEvent) -> str:
    """Return the name of an event's stream."""
    stream = event.originator_id
    return stream.hex if isinstance(stream, UUID) else stream


def commit_arguments(
    keys: Keys, records: Sequence[Notification], commit: Commit, epoch: bytes, turns: Turns
) -> tuple[list[str], list[Any]]:
    """Return the keys and arguments of the script.

    Raises:
        IntegrityError: two of the records or requests are the same.
        ProgrammingError: the records do not follow the head, or are too many.

    """
    expected, head = commit.expected, commit.head
    if [record.id for record in records] != list(range(expected.position + 1, head.position + 1)):
        msg = f"records from {expected.position + 1} to {head.position} were expected"
        raise ProgrammingError(msg)
    streams: dict[str, int] = {}
    firsts: list[int] = []
    nexts: list[int] = []
    packed: list[Any] = []
    for record in records:
        name, version = name_of(record), record.originator_version
        number = streams.setdefault(name, len(streams))
        if number == len(firsts):
            firsts.append(version)
            nexts.append(version)
        if nexts[number] != version:
            msg = f"version {version} of {name} does not follow {nexts[number] - 1}"
            raise IntegrityError(msg)
        nexts[number] += 1
        packed += (number, version, record.topic, record.state)
    check_size(len(records), sum(len(record.state) for record in records))
    requests = {request_field(one.key): request_value(one) for one in commit.requests}
    if len(requests) != len(commit.requests):
        raise IntegrityError("a request is there twice")
    refused = {request_field(key) for key in commit.assumed_new or ()} - requests.keys()
    arguments: list[Any] = [
        expected.position,
        expected.frontier.to_bytes(),
        epoch,
        turns.name,
        head.position,
        head.recorded_us,
        head.frontier.to_bytes(),
        len(streams),
        len(records),
        len(requests),
        len(commit.snapshots),
        turns.notice_ms,
        len(refused),
    ]
    for name, first in zip(streams, firsts, strict=True):
        arguments += (name, first)
    arguments += packed
    for field, value in requests.items():
        arguments += (field, value)
    for one in commit.snapshots:
        arguments += (one.position, one.stamp, one.digest(), one.state)
    arguments += refused
    return [
        *keys.own,
        keys.queue,
        *map(keys.index, streams),
        *(keys.snapshot(one.name) for one in commit.snapshots),
    ], arguments


def append_arguments(
    keys: Keys, events: Sequence[StoredEvent], tracking: Tracking | None
) -> tuple[list[str], list[Any]]:
    """Return the keys and arguments of the script that allots positions.

    Raises:
        IntegrityError: two of the events are the same.
        ProgrammingError: they are too many.

    """
    streams: dict[str, int] = {}
    packed: list[Any] = []
    versions = set()
    for event in events:
        name = name_of(event)
        number = streams.setdefault(name, len(streams))
        versions.add((name, event.originator_version))
        packed += (number, event.originator_version, event.topic, event.state)
    if len(versions) != len(events):
        raise IntegrityError("a version of a stream is there twice")
    check_size(len(events), sum(len(event.state) for event in events))
    own = (keys.head, keys.log, keys.streams, keys.tracking)
    followed = (tracking.application_name, tracking.notification_id) if tracking else ("", "")
    return (
        [*own, *map(keys.index, streams)],
        [len(streams), len(events), *followed, *streams, *packed],
    )


def check_size(records: int, size: int) -> None:
    """Refuse what would keep a server from everybody else for too long.

    Raises:
        ProgrammingError: it would.

    """
    if records > RECORDS_MAX or size > BYTES_MAX:
        msg = (
            f"{records} records of {size} bytes in one commit; "
            f"{RECORDS_MAX} and {BYTES_MAX} are the most"
        )
        raise ProgrammingError(msg)
