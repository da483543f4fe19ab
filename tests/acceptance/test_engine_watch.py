"""What callers and operators are told of a Redis server that may lose commits while it serves."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import grpc
import pytest
from structlog.testing import capture_logs

from croupier.services import engine_watch, server
from croupier.v1 import admin_pb2
from tests.acceptance.test_engines import deposit, house
from tests.support.redis_sentinel import watched
from tests.support.redis_server import redis_server
from tests.support.serving import serving
from tests.support.waiting import soon


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(engine_watch, "INTERVAL_S", 0.02)


def gauge(served, name="croupier_engine_not_as_required", **labels):
    return served.server.registry.get_sample_value(name, {"engine": "redis"} | labels)


def events(lines):
    return [(one["event"], one["server"]) for one in lines if one["event"].startswith("redis is ")]


async def test_a_setting_changed_under_a_running_service_shows_everywhere_and_so_does_its_end(
    tmp_path,
):
    with redis_server() as redis, redis.client() as client, capture_logs() as lines:
        async with serving(
            tmp_path / "data", engine=redis.url, engines={"here": f"sqlite:{tmp_path / 'here'}"}
        ) as served:
            caller = await served.client()

            async def shown():
                info = await caller.ask(admin_pb2.GetServerInfoRequest())
                return (
                    info.durability,
                    {one.ledgers: one.durability for one in info.engines},
                    gauge(served),
                    gauge(served, engine="sqlite"),
                    gauge(served, "croupier_engine_info", durability="fsync"),
                    gauge(served, "croupier_engine_info", durability="memory"),
                    f"acknowledged = {info.durability}\n" in "\n".join(served.server.banner()),
                )

            async def are(wanted):
                return await shown() == wanted

            well = ("fsync", {"*": "fsync", "here": "fsync"}, 0, 0, 1, None, True)
            lower = ("memory", {"*": "memory", "here": "fsync"}, 1, 0, None, 1, True)
            assert (await house(caller)).durability == "fsync"
            await house(caller, "here")
            assert await shown() == well
            client.config_set("appendfsync", "no")
            await soon("all say memory", lambda: are(lower))
            assert (await deposit(caller, request_id="e")).receipt.durability == "memory"
            assert (await deposit(caller, "here", "e")).receipt.durability == "fsync"
            client.config_set("appendfsync", "always")
            await soon("all say fsync", lambda: are(well))
            assert (await deposit(caller, request_id="f")).receipt.durability == "fsync"
        assert events(lines) == [
            ("redis is not as required", redis.address),
            ("redis is as required again", redis.address),
        ]


async def test_after_a_failover_to_a_server_that_keeps_nothing_no_receipt_says_otherwise(tmp_path):
    with watched() as group:
        master, (replica,) = group.master, group.replicas()
        with replica.client() as client:
            client.config_set("appendonly", "no")
        async with serving(tmp_path, engine=group.url) as served:
            (warning,) = [one for one in served.server.banner() if "WARNING" in one]
            assert warning.startswith(f"  WARNING: {group.url}: replica {replica.address}, ")
            assert warning.endswith("set `appendonly yes`")
            caller = await served.client()
            assert (await house(caller)).durability == "fsync"
            group.settle()
            master.kill()

            async def recorded():
                try:
                    return await deposit(caller, request_id="after")
                except grpc.aio.AioRpcError:
                    return None

            # The server was away, and is looked at before it is used.
            assert (await soon("another master", recorded)).receipt.durability == "memory"

            async def told():
                return gauge(served)

            await soon("the gauge", told)


async def test_while_a_look_waits_for_a_server_that_stalls_others_are_served(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "AUDIT_INTERVAL_S", 3600)
    monkeypatch.setattr(engine_watch, "INTERVAL_S", 3600)
    with redis_server() as redis:
        async with serving(
            tmp_path / "data",
            engine=f"sqlite:{tmp_path / 'here'}",
            engines={"far": f"{redis.url}?timeout_ms=20000"},
        ) as served:
            caller = await served.client()
            await house(caller)

            async def looks():
                return [one for one in threading.enumerate() if one.name == "looks at engines"]

            async def none_looks():
                return not await looks()

            await soon("the first look is over", none_looks)
            os.kill(redis.pid, signal.SIGSTOP)
            try:
                task = asyncio.create_task(served.server._engine_watch._look())
                (look,) = await soon("a look that waits", looks)
                for number in range(20):
                    await deposit(caller, request_id=f"meanwhile-{number}")
                assert look.is_alive()
            finally:
                os.kill(redis.pid, signal.SIGCONT)
            await task
