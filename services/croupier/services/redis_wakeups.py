"""Wake-ups by a channel of a Redis server, which may be away, for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from secrets import token_hex
from typing import Any

import structlog
from redis import asyncio as redis
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

from croupier.services.store.redis.errors import said
from croupier.services.store.redis_address import Address

logger = structlog.get_logger()

# The driver has no types for it.
_SENTINEL: Any = Sentinel

PAUSE_S, PAUSE_MAX_S = 0.1, 5.0
"""Between two attempts to reach the server, at first and at most, seconds."""

ALIVE_S = 5.0
"""How often a server that says nothing is asked whether it is there, seconds."""


class RedisWakeups:
    """A channel of a Redis server."""

    def __init__(self, address: Address, heard: Callable[[str], None]) -> None:
        """Tell `heard` of which ledgers others have committed to."""
        self._address = address
        self._heard = heard
        self._channel = f"{address.prefix}:wakeups"
        self._own = token_hex(8)
        self._waiting: dict[str, int] = {}
        self._something = asyncio.Event()

    def committed(self, ledger: str, position: int) -> None:
        """Let others know that a ledger's log ends at a position. Waits for nobody."""
        self._waiting[ledger] = position
        self._something.set()

    async def run(self) -> None:
        """Publish and listen, again and again, until cancelled."""
        ways = (("published", self._publish), ("heard", self._listen))
        tasks = {asyncio.ensure_future(self._again(what, do)) for what, do in ways}
        try:
            await asyncio.wait(tasks)
        finally:
            # The driver sometimes keeps a cancellation to itself: who goes on is told once more.
            while tasks:
                for task in tasks:
                    task.cancel()
                _, tasks = await asyncio.wait(tasks, timeout=PAUSE_S)

    async def _again(
        self, what: str, do: Callable[[Any, Callable[[], None]], Awaitable[None]]
    ) -> None:
        """Do something with a connection, and after it was lost with another one."""
        pause_s, away = PAUSE_S, False

        def well() -> None:
            nonlocal pause_s, away
            if away:
                logger.info("wake-ups back", what=what, server=self._address.shown)
            pause_s, away = PAUSE_S, False

        for attempt in count():
            try:
                async with _connected(self._address, attempt) as client:
                    await do(client, well)
            except Exception as error:  # noqa: BLE001  # whatever it is, nothing rests on it
                if not away:
                    # Watchers hear of others' commits when they next ask for themselves.
                    where = self._address.shown
                    logger.warning("wake-ups away", what=what, server=where, error=said(error))
                away = True
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def _publish(self, client: Any, well: Callable[[], None]) -> None:
        await client.ping()
        while True:
            well()
            await self._something.wait()
            self._something.clear()
            waiting, self._waiting = self._waiting, {}
            pipeline = client.pipeline(transaction=False)
            for ledger, position in waiting.items():
                pipeline.publish(self._channel, f"{self._own} {position} {ledger}")
            await pipeline.execute()

    async def _listen(self, client: Any, well: Callable[[], None]) -> None:
        async with client.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(self._channel)
            asked = False
            while True:
                message = await channel.get_message(timeout=ALIVE_S)
                if message is None and asked:
                    raise RedisConnectionError("the server says nothing any more")
                well()
                asked = message is None
                if message is None:
                    await channel.ping()
                elif message["type"] == "message":
                    self._take(message["data"])

    def _take(self, data: bytes) -> None:
        """Pass on what another process said; whatever else was said is nothing."""
        own, _, rest = data.decode(errors="replace").partition(" ")
        position, _, ledger = rest.partition(" ")
        if own != self._own and position.isdecimal() and ledger:
            self._heard(ledger)


@asynccontextmanager
async def _connected(address: Address, attempt: int) -> AsyncIterator[Any]:
    """Hold a client, with all its connections; of several hosts each attempt takes the next."""
    options: dict[str, Any] = {
        "socket_timeout": 2 * ALIVE_S,
        "socket_connect_timeout": address.timeout_s,
        "retry": Retry(NoBackoff(), 0),
    }
    if address.tls:
        options |= {
            "ssl": True,
            "ssl_ca_certs": str(address.ca) if address.ca else None,
            "ssl_certfile": str(address.certificate) if address.certificate else None,
            "ssl_keyfile": str(address.key) if address.key else None,
        }
    user: dict[str, Any] = {
        "username": address.username or None,
        "password": address.password or None,
    }
    asked: list[Any] = []
    if address.kind == "sentinel":
        sentinels = _SENTINEL(address.hosts, sentinel_kwargs=options, **options, **user)
        asked += sentinels.sentinels
        client = sentinels.master_for(address.service)
    else:
        # Nodes of a Cluster pass messages on to each other, so any of them does.
        host, port = address.hosts[attempt % len(address.hosts)]
        client = redis.Redis(host=host, port=port, **options, **user)
    try:
        yield client
    finally:
        for one in (client, *asked):
            with suppress(RedisError, OSError):
                await one.aclose()
                await one.connection_pool.disconnect()
