"""The library's factory: `PERSISTENCE_MODULE=croupier.services.store.redis`."""

from __future__ import annotations

from typing import Any, cast

from eventsourcing.persistence import InfrastructureFactory, ProcessRecorder
from eventsourcing.utils import resolve_topic

from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.library import FollowerRecorder, StreamRecorder
from croupier.services.store.redis.log import Log, OriginatorIdType
from croupier.services.store.redis.reaching import servers_of
from croupier.services.store.redis.recorder import Recorder
from croupier.services.store.redis_address import parse


class FollowingRecorder(FollowerRecorder, Recorder, ProcessRecorder):
    """The library's recorder of applications that follow others."""


class Factory(InfrastructureFactory[FollowerRecorder]):
    """Makes recorders over the keys of one application, named as it is."""

    REDIS_URL = "REDIS_URL"
    ORIGINATOR_ID_TYPE = "ORIGINATOR_ID_TYPE"
    CREATE_TABLE = "CREATE_TABLE"

    def __init__(self, env: Any) -> None:
        """Connect to the server that the environment names.

        Raises:
            OSError: it names none, or what it says is wrong.

        """
        super().__init__(env)
        by = self.env.get(self.ORIGINATOR_ID_TYPE, "uuid").lower()
        if by not in {"uuid", "text"}:
            raise OSError(f"{self.ORIGINATOR_ID_TYPE} is uuid or text")
        self._by = cast(OriginatorIdType, by)
        try:
            address = parse(self.env.get(self.REDIS_URL, ""))
        except ValueError as error:
            raise OSError(f"{self.REDIS_URL}: {error}") from error
        self._prefix = address.prefix
        self._servers = servers_of(address)

    def _made(self, kind: type[Any], purpose: str = "events") -> Any:
        # Events of an application are one log, whoever records them.
        name = self.env.name if purpose == "events" else f"{self.env.name}.{purpose}"
        recorder: Log = kind(self._servers, Keys(self._prefix, name), self._by)
        if self.env.get(self.CREATE_TABLE, "yes").lower() not in {
            "no",
            "n",
            "f",
            "false",
            "off",
            "0",
        }:
            recorder.create()
        return recorder

    def aggregate_recorder(self, purpose: str = "events") -> StreamRecorder:
        """Return a recorder of aggregates' events, or of what the purpose says."""
        return cast(StreamRecorder, self._made(StreamRecorder, purpose))

    def application_recorder(self) -> Recorder:
        """Return a recorder of an application's events."""
        return cast(Recorder, self._made(Recorder))

    def tracking_recorder(
        self, tracking_recorder_class: type[FollowerRecorder] | None = None
    ) -> FollowerRecorder:
        """Return a recorder of positions, of the class given or named by the environment."""
        kind = tracking_recorder_class
        if kind is None:
            topic = self.env.get(self.TRACKING_RECORDER_TOPIC)
            kind = resolve_topic(topic) if topic else FollowerRecorder
        return cast(FollowerRecorder, self._made(kind))

    def process_recorder(self) -> FollowingRecorder:
        """Return a recorder of an application that follows others."""
        return cast(FollowingRecorder, self._made(FollowingRecorder))

    def close(self) -> None:
        """Let go of every connection."""
        self._servers.close()
