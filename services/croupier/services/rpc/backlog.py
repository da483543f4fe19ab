"""The queue before the queues: calls that the transport has taken and the service has not begun.

The gRPC library takes calls off the network as they come and hands them to the event loop one by
one. When they come faster than that, they wait where no ledger's queue sees them. What the library
tells of itself (channelz) and what is under way here give their number; beyond a limit calls are
refused as soon as they are begun, which is cheaper than serving them, until fewer wait.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from grpc_channelz.v1 import channelz_pb2
from grpc_channelz.v1.channelz import ChannelzServicer

from croupier.domain.errors import Reason, Refused

SAMPLE_S = 0.1
"""How often the library is asked, seconds."""

PER_S = 1_000.0
"""How many calls a second are assumed to end before it is known."""

RETRY_MS_LEAST, RETRY_MS_MOST = 50, 5_000
"""Bounds of what a refused caller is told to wait, milliseconds."""


class Backlog:
    """How many calls wait to be begun."""

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        """Refuse calls while more than `most` wait; `clock` gives seconds."""
        self._clock = clock
        self._most = most
        self._server = 0
        self._under_way = 0
        self._ended = 0
        self._sampled_s = clock()
        self._per_s = PER_S
        self.waiting = 0
        self.taken = 0

    def begun(self) -> None:
        """Know that a call is under way."""
        self._under_way += 1
        self.taken += 1
        if self.waiting:
            self.waiting -= 1

    def ended(self) -> None:
        """Know that a call has ended."""
        self._under_way -= 1
        self._ended += 1

    def check(self) -> None:
        """Refuse a call while too many wait.

        Raises:
            Refused: `QUEUE_FULL`, with how long to wait before the next attempt.

        """
        if self.waiting <= self._most:
            return
        until_served_ms = round(1000 * self.waiting / self._per_s)
        retry_ms = min(max(until_served_ms, RETRY_MS_LEAST), RETRY_MS_MOST)
        raise Refused(
            Reason.QUEUE_FULL,
            f"{self.waiting} calls wait for this server; try again in {retry_ms} ms",
            waiting=self.waiting,
            retry_ms=retry_ms,
        )

    def follow_newest(self) -> None:
        """Count the calls of the server that was made last in this process."""
        self._server = max(server.ref.server_id for server in _servers())

    def sample(self) -> None:
        """Count anew."""
        now_s = self._clock()
        if self.waiting:  # else what ended says nothing of how fast it could have
            self._per_s = max(self._ended / max(now_s - self._sampled_s, SAMPLE_S), 1.0)
        self._ended, self._sampled_s = 0, now_s
        for server in _servers():
            if server.ref.server_id == self._server:
                data = server.data
                unfinished = data.calls_started - data.calls_succeeded - data.calls_failed
                self.waiting = max(0, unfinished - self._under_way)


def _servers() -> list[Any]:
    # Asked as its service would ask; the context is only for a failure, which there is none of.
    ask: Any = ChannelzServicer.GetServers
    return list(ask(channelz_pb2.GetServersRequest(), None).server)
