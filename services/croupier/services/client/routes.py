"""Where a client's calls go: channels that are shared, and the best address for a ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from croupier.services.client.calls import now, refusal_of

# A server that is gone without a word is noticed, and what stands between keeps the connection.
# Servers take twice as many (`min_recv_ping_interval_s`).
KEEPALIVE = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)

_OPTIONS = [
    # Retries are ours: each carries the same request id and keeps to the call's deadline.
    ("grpc.enable_retries", 0),
    # A server that restarts is found again within a pause or two.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    *KEEPALIVE,
]

AWAY_S = 2.0
"""How long an address that did not answer is passed over, seconds."""

UNREACHED = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,  # by a server that stops
    }
)


class Channels:
    """One channel for each address, opened when first needed."""

    def __init__(self, root_certificates: bytes | None, server_name: str | None = None) -> None:
        """Open channels in plaintext, or with root certificates (PEM) by TLS.

        With `server_name`, that is the name to find in a certificate, not the one in the address.
        """
        named = [("grpc.ssl_target_name_override", server_name)] if server_name else []
        self._options = [*_OPTIONS, *named]
        self._credentials = (
            None
            if root_certificates is None
            else grpc.ssl_channel_credentials(root_certificates or None)
        )
        self._open: dict[str, grpc.aio.Channel] = {}

    def to(self, address: str) -> grpc.aio.Channel:
        """Return the channel to an address."""
        channel = self._open.get(address)
        if channel is None:
            channel = self._open[address] = (
                grpc.aio.insecure_channel(address, options=_OPTIONS)
                if self._credentials is None
                else grpc.aio.secure_channel(address, self._credentials, options=self._options)
            )
        return channel

    async def close(self) -> None:
        """Close every channel; calls under way are cancelled."""
        while self._open:
            await self._open.popitem()[1].close()


class Route:
    """The addresses that a ledger's calls may go to, the best one first.

    It stands in for a channel where stubs are made. A call goes to the first address that was
    not found away a moment ago; an attempt that reached nobody makes the next one go elsewhere.
    """

    def __init__(self, channels: Channels, addresses: Sequence[str]) -> None:
        self._channels = channels
        self.addresses = tuple(dict.fromkeys(addresses))
        self._away_until = dict.fromkeys(self.addresses, 0.0)

    def address(self) -> str:
        """Return where the next call goes."""
        time_s = now()
        reached = (one for one in self.addresses if self._away_until[one] <= time_s)
        return next(reached, None) or min(self.addresses, key=lambda one: self._away_until[one])

    def failed(self, address: str, error: grpc.aio.AioRpcError) -> None:
        """Pass over an address for a while if nobody answered there."""
        if error.code() in UNREACHED and not refusal_of(error).reason:
            self._away_until[address] = now() + AWAY_S

    def unary_unary(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Return what calls a method at the address of the moment."""

        async def call(request: Any, **how: Any) -> Any:
            address, method = at_best()
            try:
                return await method(request, **how)
            except grpc.aio.AioRpcError as error:
                self.failed(address, error)
                raise

        at_best = self._at_best(lambda channel: channel.unary_unary(path, *args, **kwargs))
        return call

    def unary_stream(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Return what calls a method whose answers are a stream."""
        return self._streaming(lambda channel: channel.unary_stream(path, *args, **kwargs))

    def stream_unary(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Return what calls a method whose requests are a stream."""
        return self._streaming(lambda channel: channel.stream_unary(path, *args, **kwargs))

    def stream_stream(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Return what calls a method that streams both ways."""
        return self._streaming(lambda channel: channel.stream_stream(path, *args, **kwargs))

    def _streaming(self, make: Callable[[grpc.aio.Channel], Any]) -> Any:
        watching: set[asyncio.Task[None]] = set()

        async def watch(call: Any, address: str) -> None:
            # Whoever has read enough cancels a stream: that says nothing of the server.
            if (code := await call.code()) in UNREACHED - {grpc.StatusCode.CANCELLED}:
                trailing = await call.trailing_metadata()
                self.failed(address, grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing))

        def call(*args: Any, **how: Any) -> Any:
            address, method = at_best()
            made = method(*args, **how)
            # A stream outlives this call: how it ends is seen when it does.
            task = asyncio.ensure_future(watch(made, address))
            watching.add(task)
            task.add_done_callback(watching.discard)
            return made

        at_best = self._at_best(make)
        return call

    def _at_best(self, make: Callable[[grpc.aio.Channel], Any]) -> Callable[[], tuple[str, Any]]:
        made: dict[str, Any] = {}

        def at_best() -> tuple[str, Any]:
            address = self.address()
            if address not in made:
                made[address] = make(self._channels.to(address))
            return address, made[address]

        return at_best
