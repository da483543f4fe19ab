"""Drills with one server: killed, stopped, cut off, full."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from croupier.services.store.redis.scripts import COMMIT
from croupier.v1 import admin_pb2
from tests.drills.crowd import Crowd, Report, check, report
from tests.support.cutting_proxy import CuttingProxy
from tests.support.lines import Cut
from tests.support.processes import ServerProcess
from tests.support.redis_server import RedisServer
from tests.support.serving import Client
from tests.support.stories import create_ledger

LEDGER = "casino"
QUIET = "--log-level=critical"

STOPPED_S = 3.0
"""How long a server is stopped: three of the service's time-outs."""

CUTS = 21
ROOM_BYTES = 400_000
"""What a server that fills up has left at first."""


@asynccontextmanager
async def served(data: Path, engine: str, *ledgers: str) -> AsyncIterator[Client]:
    """Serve new ledgers of an engine by a process of its own, and yield a caller."""
    with ServerProcess(data, f"--engine={engine}", QUIET) as server:
        caller = Client(server.address)
        try:
            for ledger in ledgers:
                await caller.ask(create_ledger(ledger))
            yield caller
        finally:
            await caller.channel.close()


async def killed(folder: Path) -> Report:
    """The server is killed under load and started again on its files."""
    with RedisServer(folder / "redis") as server:
        async with served(folder / "data", server.url, LEDGER) as caller:
            crowd = Crowd(caller, LEDGER)
            await crowd.answers(200)
            server.kill()
            await crowd.refusals("STORE_UNAVAILABLE")
            await asyncio.to_thread(server.start)
            healed = monotonic()
            await crowd.answers(200)
            await crowd.stop()
            return report(crowd, await check(caller, crowd), healed)


async def stopped(folder: Path) -> Report:
    """The server is stopped for longer than the service's time-outs, and goes on."""
    with RedisServer(folder / "redis") as server:
        async with served(folder / "data", server.url, LEDGER) as caller:
            crowd = Crowd(caller, LEDGER)
            await crowd.answers(200)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                await crowd.refusals("STORE_UNAVAILABLE")
                began = monotonic()
                # Meanwhile the service answers whatever needs no store.
                while monotonic() < began + STOPPED_S:
                    await caller.ask(admin_pb2.GetServerInfoRequest(), timeout=2)
                    await asyncio.sleep(0.05)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            healed = monotonic()
            await crowd.answers(200)
            await crowd.stop()
            return report(crowd, await check(caller, crowd), healed)


async def cut(folder: Path) -> Report:
    """Connections are cut before, in the middle of, and after commits."""
    with (
        RedisServer(folder / "redis") as server,
        CuttingProxy(server.port) as proxy,
        server.client() as client,
    ):
        client.script_load(COMMIT.text)
        async with served(folder / "data", proxy.url, LEDGER) as caller:
            crowd = Crowd(caller, LEDGER)
            await crowd.answers(100)
            kinds = (Cut.AFTER, Cut.DURING, Cut.BEFORE)
            for number in range(CUTS):
                before = proxy.line.cuts
                proxy.line.cut(kinds[number % len(kinds)])
                await crowd.answers(20)
                assert proxy.line.cuts == before + 1
            healed = monotonic()
            await crowd.answers(100)
            await crowd.stop()
            return report(crowd, await check(caller, crowd), healed)


async def full(folder: Path) -> Report:
    """The server's memory fills up; reads go on, and so do writes once there is room."""
    with RedisServer(folder / "redis") as server, server.client() as client:
        async with served(folder / "data", server.url, LEDGER) as caller:
            used = client.info("memory")["used_memory"]
            client.config_set("maxmemory", used + ROOM_BYTES)
            crowd = Crowd(caller, LEDGER)
            await crowd.refusals("STORE_UNAVAILABLE")
            said = [await caller.ask(admin_pb2.GetLedgerRequest(name=f"ledgers/{LEDGER}"))]
            client.config_set("maxmemory", 0)
            healed = monotonic()
            await crowd.answers(200)
            await crowd.stop()
            assert said[0].ledger.position > 1
            return report(crowd, await check(caller, crowd), healed)
