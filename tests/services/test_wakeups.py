"""Processes wake each other's watchers by Redis, and miss nothing when it is away."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import pytest

from croupier.services import redis_wakeups
from croupier.services.config import ConfigError, Settings, load
from croupier.services.redis_wakeups import RedisWakeups
from croupier.services.store.redis_address import parse
from croupier.services.wakeups import NoWakeups, wakeups_of
from tests.support.redis_cluster import redis_cluster
from tests.support.redis_sentinel import watched
from tests.support.redis_server import redis_server
from tests.support.tls_front import TLSFront
from tests.support.waiting import soon

TIMEOUT_S = 30


@pytest.fixture
def server():
    with redis_server(appendonly="no") as server:
        yield server


class Process:
    """One process's wake-ups, and the ledgers it heard of."""

    def __init__(self, url):
        self.heard = asyncio.Queue()
        self.wakeups = RedisWakeups(parse(url), self.heard.put_nowait)

    @asynccontextmanager
    async def running(self):
        task = asyncio.ensure_future(self.wakeups.run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def next(self):
        async with asyncio.timeout(TIMEOUT_S):
            return await self.heard.get()


async def listened(client, listeners):
    """Wait until so many processes listen."""

    async def asked():
        return client.pubsub_numsub("croupier:wakeups")[0][1] == listeners

    await soon("listeners", asked)


@asynccontextmanager
async def two(server, url=None):
    """Run two processes that listen."""
    one, other = Process(url or server.url), Process(url or server.url)
    async with one.running(), other.running():
        with server.client() as client:
            await listened(client, 2)
        yield one, other


async def test_a_commit_here_wakes_whoever_watches_there(server):
    async with two(server) as (one, other):
        one.wakeups.committed("main", 5)
        assert await other.next() == "main"
        other.wakeups.committed("vip", 1)
        assert await one.next() == "vip"
        # Nobody hears what he said himself.
        assert one.heard.empty()
        assert other.heard.empty()


async def test_what_is_committed_faster_than_it_is_told_is_told_once(server):
    async with two(server) as (one, other):
        for position in range(1, 200):
            one.wakeups.committed("main", position)
        one.wakeups.committed("vip", 1)
        assert {await other.next(), await other.next()} == {"main", "vip"}
        assert other.heard.empty()


@pytest.mark.parametrize("said", ["", "x", "x y main", "x -1 main", "\xff", "1 2"])
async def test_what_strangers_say_is_nothing(server, said):
    async with two(server) as (one, other):
        with server.client() as client:
            client.publish("croupier:wakeups", said.encode("latin-1"))
        one.wakeups.committed("main", 5)
        assert await other.next() == "main"


async def test_deployments_on_one_server_do_not_wake_each_other(server):
    async with two(server) as (one, other):
        stranger = Process(f"{server.url}?prefix=other")
        async with stranger.running():
            one.wakeups.committed("main", 5)
            assert await other.next() == "main"
            assert stranger.heard.empty()


async def test_after_the_server_was_away_they_wake_each_other_again(server, monkeypatch):
    monkeypatch.setattr(redis_wakeups, "PAUSE_MAX_S", 0.1)
    async with two(server) as (one, other):
        server.kill()
        one.wakeups.committed("main", 5)  # lost, and nobody waits for it
        await asyncio.to_thread(server.start)
        with server.client() as client:
            await listened(client, 2)

        async def woken():
            one.wakeups.committed("main", 6)
            return not other.heard.empty()

        await soon("a wake-up", woken)


async def test_a_server_that_says_nothing_any_more_is_left(server, monkeypatch):
    monkeypatch.setattr(redis_wakeups, "ALIVE_S", 0.1)
    monkeypatch.setattr(redis_wakeups, "PAUSE_MAX_S", 0.1)
    connected, made = redis_wakeups._connected, []

    def counted(*args):
        made.append(args)
        return connected(*args)

    async def left():
        return len(made) >= 2

    async with two(server) as (one, other):
        monkeypatch.setattr(redis_wakeups, "_connected", counted)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            await soon("both listeners on other connections", left)
        finally:
            os.kill(server.pid, signal.SIGCONT)

        async def woken():
            one.wakeups.committed("main", 6)
            return not other.heard.empty()

        await soon("a wake-up", woken)


async def test_a_server_that_never_answers_costs_nobody_anything():
    process = Process("redis://127.0.0.1:1")
    async with process.running():
        for position in range(1_000):
            process.wakeups.committed("main", position)
        await asyncio.sleep(0)
    assert process.heard.empty()


# --- over every topology ----------------------------------------------------------------------


async def test_over_tls(server, tmp_path):
    with TLSFront(tmp_path, server.port) as front:
        async with two(server, front.url()) as (one, other):
            one.wakeups.committed("main", 5)
            assert await other.next() == "main"


async def test_over_whoever_sentinels_name():
    with watched() as group:
        async with two(group.master, group.url) as (one, other):
            one.wakeups.committed("main", 5)
            assert await other.next() == "main"


async def test_over_any_node_of_a_cluster():
    with redis_cluster() as cluster:
        first, second = cluster.servers[:2]
        one = Process(f"redis+cluster://{first.address}")
        other = Process(f"redis+cluster://{second.address}")
        async with one.running(), other.running():
            for server in (first, second):
                with server.client() as client:
                    await listened(client, 1)
            one.wakeups.committed("main", 5)
            assert await other.next() == "main"


# --- settings ---------------------------------------------------------------------------------

PEERS = {"peers": ("127.0.0.1:50051", "127.0.0.1:50052")}


@pytest.mark.parametrize(
    "given, there_are",
    [
        ({}, False),
        ({"wakeups": "redis://127.0.0.1"}, True),
        ({"wakeups": "off"}, False),
        ({"engine": "redis://127.0.0.1"}, False),
        ({"engine": "redis://127.0.0.1", **PEERS}, True),
        ({"engine": "redis://127.0.0.1", "wakeups": "off", **PEERS}, False),
        (PEERS, False),
    ],
)
def test_who_has_no_others_beside_him_needs_none(given, there_are):
    found = wakeups_of(Settings(**given), print)
    assert isinstance(found, RedisWakeups if there_are else NoWakeups)


@pytest.mark.parametrize("wrong", ["sqlite", "on", "", "redis://", "redis://h:x"])
def test_what_is_no_channel_is_refused(wrong):
    with pytest.raises(ConfigError, match="wakeups"):
        load({"wakeups": wrong}, None)


def test_a_password_of_the_channel_is_not_repeated():
    with pytest.raises(ConfigError) as caught:
        load({"wakeups": "redis://:s3cret@h:x"}, None)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(Settings(wakeups="redis://:s3cret@127.0.0.1"))
