"""A watcher at one process hears of what another commits: by a wake-up, or by his own poll."""

from __future__ import annotations

import asyncio

import pytest

from croupier.services.ledger import feed
from croupier.v1 import admin_pb2, audit_pb2
from tests.support.redis_server import redis_server
from tests.support.stories import create_ledger, deposit
from tests.support.waiting import soon

NEVER_S = 600.0
SOON_S = 20


@pytest.fixture
def server():
    with redis_server(appendonly="no") as server:
        yield server


class Watcher:
    """Somebody who watches a ledger at a server, and has seen its first event."""

    def __init__(self, caller):
        self._call = caller.listen(audit_pb2.WatchEventsRequest(parent="ledgers/casino"))
        self.seen = 0

    async def has_seen(self, position):
        async with asyncio.timeout(SOON_S):
            while self.seen < position:
                response = await self._call.read()
                self.seen = max([self.seen, *(event.position for event in response.events)])

    def leave(self):
        self._call.cancel()


async def two(serve, data, **settings):
    """Return a caller of one process, and a watcher at another one that has seen its ledger."""
    here, there = [await (await serve(data, **settings)).client() for _ in range(2)]
    await here.ask(create_ledger())
    watcher = Watcher(there)
    await watcher.has_seen(1)
    return here, watcher


async def listened(server):
    async def asked():
        with server.client() as client:
            return client.pubsub_numsub("croupier:wakeups")[0][1] == 2

    await soon("two listeners", asked)


async def test_a_wake_up_is_enough(serve, tmp_path, server, monkeypatch):
    monkeypatch.setattr(feed, "POLL_S", NEVER_S)
    here, watcher = await two(serve, tmp_path / "data", wakeups=server.url)
    await listened(server)
    for position in range(2, 12):
        await here.ask(deposit("player:anna", 5))
        await watcher.has_seen(position)
    watcher.leave()


async def test_without_wake_ups_he_asks_for_himself(serve, tmp_path):
    here, watcher = await two(serve, tmp_path / "data", wakeups="off")
    for position in range(2, 5):
        await here.ask(deposit("player:anna", 5))
        await watcher.has_seen(position)
    watcher.leave()


async def test_losing_the_channel_loses_nothing(serve, tmp_path, server):
    here, watcher = await two(serve, tmp_path / "data", wakeups=server.url)
    await listened(server)
    server.kill()
    for position in range(2, 5):
        await here.ask(deposit("player:anna", 5))
        await watcher.has_seen(position)
    await asyncio.to_thread(server.start)
    await listened(server)
    await here.ask(deposit("player:anna", 5))
    await watcher.has_seen(5)
    watcher.leave()


async def test_a_channel_that_was_never_there_keeps_nobody_from_starting(serve, tmp_path):
    here, watcher = await two(serve, tmp_path / "data", wakeups="redis://127.0.0.1:1")
    await here.ask(deposit("player:anna", 5))
    await watcher.has_seen(2)
    said = await here.ask(admin_pb2.GetLedgerRequest(name="ledgers/casino"))
    assert said.ledger.position == 2
    watcher.leave()


async def test_ledgers_in_redis_are_watched_by_the_same_server(
    serve, tmp_path, server, monkeypatch
):
    monkeypatch.setattr(feed, "POLL_S", NEVER_S)
    server.kill()
    with redis_server() as durable:
        peers = ("127.0.0.1:50051", "127.0.0.1:50052")
        settings = {"engine": durable.url, "peers": peers, "advertise": peers[0]}
        here, watcher = await two(serve, tmp_path / "data", **settings)
        await listened(durable)
        await here.ask(deposit("player:anna", 5))
        await watcher.has_seen(2)
        watcher.leave()
