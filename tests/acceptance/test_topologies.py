"""A short game on every shape of Redis, through the API, on real servers."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.services.store.engine_error import EngineError
from croupier.v1 import admin_pb2, audit_pb2
from tests.support.engines import SQLITE
from tests.support.redis_cluster import redis_cluster
from tests.support.redis_sentinel import watched
from tests.support.redis_server import RedisServer
from tests.support.refusals import assert_refused
from tests.support.serving import serving
from tests.support.stories import create_ledger, deposit, furnish, play_round
from tests.support.tls_front import TLSFront
from tests.support.waiting import soon

USER, PASSWORD = "ledgers", "s3cret"
RULES = (
    f"user default off\nuser {USER} on >{PASSWORD} ~croupier:* resetchannels"
    " +@read +@write +@connection +@scripting -@dangerous +time +info +role +config|get\n"
)


async def play(client, ledger="casino"):
    """Play a round, and check that its log replays to what was paid."""
    await furnish(client, ledger)
    await play_round(client, ledger=ledger)
    table = f"ledgers/{ledger}/tables/t1"
    steps = await client.ask(audit_pb2.ReplayTableRequest(name=table))
    assert steps
    assert not [finding for step in steps for finding in step.findings]


async def said_by(client, *ledgers):
    asked = [admin_pb2.GetLedgerRequest(name=f"ledgers/{ledger}") for ledger in ledgers]
    return [(await client.ask(one)).ledger for one in asked]


async def check_survives(data, engine, *ledgers):
    """Play in ledgers, and find them as they were through another process."""
    async with serving(data, engine=engine) as served:
        client = await served.client()
        info = await client.ask(admin_pb2.GetServerInfoRequest())
        assert info.engine == "redis"
        for ledger in ledgers:
            await play(client, ledger)
        before = await said_by(client, *ledgers)
    async with serving(data.with_name("another"), engine=engine) as served:
        client = await served.client()
        assert await said_by(client, *ledgers) == before
        for ledger in ledgers:
            await client.ask(deposit("player:anna", 5, ledger))
        return info.durability


async def test_a_server_alone(tmp_path):
    with RedisServer(tmp_path / "redis") as server:
        assert await check_survives(tmp_path / "data", server.url, "casino") == "fsync"


async def test_a_master_that_sentinels_watch(tmp_path):
    with watched() as group:
        url = f"{group.url}?replicas=1"
        durability = await check_survives(tmp_path / "data", url, "casino")
    assert durability == "fsync+replicas:1"


async def test_after_a_failover_a_retry_says_what_the_new_master_and_its_replicas_have(tmp_path):
    with watched() as group:
        async with serving(tmp_path, engine=f"{group.url}?replicas=1&wait_ms=100") as served:
            client = await served.client()
            await client.ask(create_ledger("casino"))
            request = deposit("player:anna", 5, "casino")

            async def told(level):
                with suppress(grpc.aio.AioRpcError):
                    return (await client.ask(request)).receipt.durability == level

            (replica,) = group.replicas()
            os.kill(replica.pid, signal.SIGSTOP)
            try:
                assert await told("fsync")
            finally:
                os.kill(replica.pid, signal.SIGCONT)
            await asyncio.to_thread(group.settle)
            master = group.master
            master.kill()
            await asyncio.to_thread(group.new_master, master)
            # It has the deposit, and nobody else has: what is asked now is asked of it.
            await soon("the new master answers", lambda: told("fsync"))
            with master.start().client() as raw:
                raw.replicaof("127.0.0.1", replica.port)
            await soon("the other has it, too", lambda: told("fsync+replicas:1"))
            assert (await said_by(client, "casino"))[0].position == 2


async def test_a_cluster_with_ledgers_on_different_nodes(tmp_path):
    with redis_cluster() as cluster:
        ledgers = [cluster.ledger_on(server) for server in cluster.servers]
        await check_survives(tmp_path / "data", cluster.url, *ledgers)
        for server, ledger in zip(cluster.servers, ledgers, strict=True):
            with server.client() as client:
                keys = [key.decode() for key in client.keys("croupier:{*")]
            assert {key.partition("{")[2].partition("}")[0] for key in keys} == {ledger}


async def test_tls_with_certificates_on_both_sides(tmp_path):
    with (
        RedisServer(tmp_path / "redis") as server,
        TLSFront(tmp_path / "tls", server.port) as front,
    ):
        await check_survives(tmp_path / "data", front.url(), "casino")


async def test_without_the_right_certificate_nothing_is_served(tmp_path):
    with (
        RedisServer(tmp_path / "redis") as server,
        TLSFront(tmp_path / "tls", server.port) as front,
        TLSFront(tmp_path / "other", server.port) as stranger,
    ):
        for url in (
            f"rediss://localhost:{front.port}?ca={stranger.ca}",
            f"rediss://localhost:{front.port}?ca={front.ca}",
            f"redis://localhost:{front.port}",
        ):
            with pytest.raises(EngineError):
                async with serving(tmp_path / "data", engine=url):
                    pass


async def test_a_user_with_no_more_rights_than_needed(tmp_path):
    rules = tmp_path / "users.acl"
    rules.write_text(RULES)
    with RedisServer(tmp_path / "redis", aclfile=str(rules)) as server:
        url = f"redis://{USER}:{PASSWORD}@{server.address}"
        await check_survives(tmp_path / "data", url, "casino")


async def test_a_user_over_tls(tmp_path):
    rules = tmp_path / "users.acl"
    rules.write_text(RULES)
    with (
        RedisServer(tmp_path / "redis", aclfile=str(rules)) as server,
        TLSFront(tmp_path / "tls", server.port) as front,
    ):
        url = front.url(f"{USER}:{PASSWORD}@")
        await check_survives(tmp_path / "data", url, "casino")


@pytest.mark.parametrize("user", ["", f"{USER}:wrong@", f"nobody:{PASSWORD}@"])
async def test_who_is_no_user_is_told_so_without_his_password(tmp_path, user):
    rules = tmp_path / "users.acl"
    rules.write_text(RULES)
    with RedisServer(tmp_path / "redis", aclfile=str(rules)) as server:
        with pytest.raises(EngineError) as caught:
            async with serving(tmp_path / "data", engine=f"redis://{user}{server.address}"):
                pass
        assert PASSWORD not in str(caught.value)


async def test_ledgers_of_one_process_may_be_on_different_engines(tmp_path):
    """The floor is on SQLite; the tables whose names begin with fast are in Redis."""
    with RedisServer(tmp_path / "redis") as server:
        fast = {"fast*": server.url}
        async with serving(tmp_path / "data", engine=SQLITE, engines=fast) as served:
            client = await served.client()
            for ledger in ("floor", "fast-1"):
                await play(client, ledger)
            assert (tmp_path / "data" / "floor.db").exists()
            assert not (tmp_path / "data" / "fast-1.db").exists()
            refusal = await client.refusal(create_ledger("fast-1"))
            assert_refused(refusal, Reason.LEDGER_EXISTS, "ledger_id")
