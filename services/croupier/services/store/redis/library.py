"""The library's own recorders, for applications that use it as it is; see also `recorder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    AggregateRecorder,
    IntegrityError,
    InterfaceError,
    StoredEvent,
    Tracking,
    TrackingRecorder,
)

from croupier.services.store.redis import scripts
from croupier.services.store.redis.committing import append_arguments
from croupier.services.store.redis.log import Log


class StreamRecorder(Log, AggregateRecorder):
    """The library's recorder of aggregates: positions are allotted as events come."""

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Record events after all others.

        Raises:
            IntegrityError: one exists, or the log has a head.

        """
        self._append(stored_events, kwargs.get("tracking"))
        return None

    def _append(
        self, stored_events: Sequence[StoredEvent], tracking: Tracking | None
    ) -> Sequence[int]:
        if not stored_events and tracking is None:
            return []
        keys, arguments = append_arguments(self._keys, stored_events, tracking)
        match self._servers.run(scripts.APPEND, keys, arguments):
            case [b"OK", first]:
                return list(range(int(first), int(first) + len(stored_events)))
            case [b"EXISTS", what]:
                raise IntegrityError(f"{what.decode()} exists")
            case [b"DENIED", what]:
                raise InterfaceError(f"the user may not {what.decode()}")
            case _:
                msg = "this log has a head; events are added with commit=..."
                raise IntegrityError(msg)

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Return events of a stream, as the library describes."""
        stream = originator_id.hex if isinstance(originator_id, UUID) else originator_id
        most = 2**53 if limit is None else limit
        found = self._stream_records(stream, -1 if gt is None else gt, lte, most, desc=desc)
        return [
            StoredEvent(one.originator_id, one.originator_version, one.topic, one.state)
            for one in found
        ]


class FollowerRecorder(Log, TrackingRecorder):
    """The library's recorder of how far an application has followed others."""

    def insert_tracking(self, tracking: Tracking) -> None:
        """Record that a position was processed.

        Raises:
            IntegrityError: it was before, or a later one.

        """
        keys, arguments = append_arguments(self._keys, (), tracking)
        status, what = self._servers.run(scripts.APPEND, keys, arguments)
        if status == b"EXISTS":
            raise IntegrityError(f"{what.decode()} exists")

    def max_tracking_id(self, application_name: str) -> int | None:
        """Return the last position of an application that was processed."""
        key = self._keys.tracking
        found = self._servers.ask(key, "HGET", key, application_name)
        return None if found is None else int(found)
