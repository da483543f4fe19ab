"""Seals drafts: each gets its position, becomes bytes once, and its leaf enters the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from secrets import token_bytes

from eventsourcing.persistence import Notification
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain.games import SECRETS
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.deciding import Draft
from croupier.services.ledger.requests import Request
from croupier.services.store.mapper import payload_to_wire, posting_to_wire
from croupier.v1 import events_pb2

MICROS = 1_000_000

SALT_BYTES = 16
"""More than anybody can try out."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event as recorded: its message, and the record that holds the message's bytes."""

    event: events_pb2.Event
    record: Notification


def salt() -> bytes:
    """Return what makes the hash of an event tell nothing of what it hides."""
    return token_bytes(SALT_BYTES)


def timestamp(time_us: int) -> Timestamp:
    """Return microseconds since 1970 as a timestamp."""
    return Timestamp(seconds=time_us // MICROS, nanos=time_us % MICROS * 1000)


def microseconds(time: Timestamp) -> int:
    """Return a timestamp in microseconds since 1970."""
    return time.seconds * MICROS + time.nanos // 1000


def seal(
    frontier: Frontier, drafts: Iterable[Draft], request: Request, recorded_us: int
) -> tuple[Frontier, list[Sealed]]:
    """Return the tree after the drafts, and the drafts as records that follow its last position."""
    recorded_time = timestamp(recorded_us)
    occurred_time = None if request.occurred_us is None else timestamp(request.occurred_us)
    sealed = []
    for draft in drafts:
        field, name, payload = payload_to_wire(draft.event)
        event = events_pb2.Event(
            position=frontier.size + 1,
            stream=draft.stream,
            version=draft.version,
            type=name,
            recorded_time=recorded_time,
            occurred_time=occurred_time,
            caller=request.caller,
            actor=request.actor,
            request_id=request.request_id,
            request_digest=request.digest,
            correlation_id=request.correlation_id,
            round=draft.round,
            postings=[posting_to_wire(posting) for posting in draft.postings],
            **{field: payload},  # type: ignore[arg-type]  # the field that fits this payload
        )
        if type(draft.event) in SECRETS:
            event.salt = salt()
        state = event.SerializeToString(deterministic=True)
        frontier = frontier.append(leaf_hash(state))
        record = Notification(
            id=event.position,
            originator_id=draft.stream,
            originator_version=draft.version,
            topic=name,
            state=state,
        )
        sealed.append(Sealed(event, record))
    return frontier, sealed
