"""The service on Redis, as callers and operators see it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import grpc
import psutil
import pytest

from croupier.services import config
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.api import Api
from tests.support.cli import croupier
from tests.support.processes import COMMAND, ServerProcess
from tests.support.redis_server import RedisServer, redis_server
from tests.support.serving import serving
from tests.support.waiting import soon, until


@pytest.fixture(scope="module")
def server():
    with redis_server() as one:
        yield one


@pytest.fixture(autouse=True)
def _empty(server, monkeypatch):
    with server.client() as client:
        client.flushall()
    for name in config.Settings.model_fields:
        monkeypatch.delenv(f"CROUPIER_{name.upper()}", raising=False)


async def house(client, ledger="main"):
    """Create a ledger and deposit, and return the deposit's receipt."""
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id=ledger, request_id="create"))
    return (await deposit(client, ledger)).receipt


async def deposit(client, ledger="main", request_id="d"):
    return await client.ask(
        accounts_pb2.DepositRequest(
            account=f"ledgers/{ledger}/accounts/player:anna",
            currency="EUR",
            amount=500,
            request_id=request_id,
        )
    )


# --- settings ---------------------------------------------------------------------------------


def test_engines_are_given_by_flag_environment_and_file(tmp_path, monkeypatch):
    file = tmp_path / "croupier.toml"
    file.write_text('engine = "redis://a"\n[engines]\n"vip*" = "redis://b"\nmain = "sqlite:/x"\n')
    settings = config.load({}, file)
    assert settings.engine == "redis://a"
    assert settings.engines == {"vip*": "redis://b", "main": "sqlite:/x"}
    monkeypatch.setenv("CROUPIER_ENGINE", "redis://c")
    monkeypatch.setenv("CROUPIER_ENGINES", "vip*=redis://d?replicas=1 main=sqlite")
    settings = config.load({}, file)
    assert settings.engine == "redis://c"
    assert settings.engines == {"vip*": "redis://d?replicas=1", "main": "sqlite"}
    settings = config.load({"engine": "sqlite", "engines": ""}, file)
    assert (settings.engine, settings.engines) == ("sqlite", {})


@pytest.mark.parametrize(
    "flags, said",
    [
        ({"engine": "redis://:secret@h/x"}, "engine: the path is"),
        ({"engine": "mysql://secret@h"}, "engine: an engine is"),
        ({"engine": ""}, "engine: an engine is"),
        ({"engines": "vip"}, "LEDGER=ENGINE"),
        ({"engines": "vip=redis://:secret@h vip=sqlite"}, "twice"),
        ({"engines": "a/b=sqlite"}, "no ledger's id"),
        ({"engines": "vip=redis://:secret@h?x=1"}, "no option x"),
        ({"engines": {"vip": "redis://:secret@h?x=1"}}, "no option x"),
        ({"engines": {"vip": 5}}, "valid string"),
    ],
)
def test_what_is_no_engine_is_refused_without_its_password(flags, said):
    with pytest.raises(config.ConfigError, match=said) as refused:
        config.load(flags, None)
    assert "secret" not in str(refused.value)


def test_no_password_is_shown_with_the_settings():
    settings = config.load({"engine": "redis://:secret@h", "engines": "v=redis://:secret@h"}, None)
    assert "secret" not in f"{settings!r} {settings}"


# --- at the start -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "engine, code, said",
    [
        ("redis://:secret@127.0.0.1:1", 1, "redis://127.0.0.1:1"),
        ("redis://:secret@127.0.0.1:1/x", 2, "number of a database"),
        ("gopher://secret", 2, "an engine is"),
    ],
)
def test_what_cannot_be_served_ends_with_a_code_and_says_why(tmp_path, engine, code, said):
    flags = ("serve", f"--data={tmp_path}", "--listen=127.0.0.1:0", "--metrics-listen=")
    for run in (
        croupier(*flags, f"--engine={engine}"),
        croupier(*flags, CROUPIER_ENGINE=engine),
        croupier("demo", f"--engine={engine}"),
    ):
        assert run.returncode == code
        assert said in run.stderr
        assert "secret" not in run.stdout + run.stderr
        assert "Traceback" not in run.stderr


def test_a_server_that_may_lose_ledgers_is_not_served(tmp_path):
    with redis_server(maxmemory_policy="allkeys-lru") as unsafe:
        run = croupier(
            "serve",
            f"--data={tmp_path}",
            "--listen=127.0.0.1:0",
            "--metrics-listen=",
            f"--engine={unsafe.url}",
        )
        assert run.returncode == 1
        assert "set `maxmemory-policy noeviction`" in run.stderr
        with unsafe.client() as client:
            assert client.keys() == []


def test_the_banner_says_where_ledgers_are_and_how_safe(tmp_path, server):
    flags = (
        f"--engine={server.url}?replicas=1",
        f"--engines=vip*=sqlite:{tmp_path / 'vip'} x={server.url}?prefix=x",
    )
    with ServerProcess(tmp_path / "data", *flags) as process:
        said = "".join(process.said)
    assert f"engine   redis in {server.url}, acknowledged = fsync+replicas:1" in said
    assert f"x: redis in {server.url}, acknowledged = fsync" in said
    assert f"vip*: sqlite in {tmp_path / 'vip'}, acknowledged = fsync" in said
    assert "NOT CHECKED: " in said
    assert "0 replicas are connected, 1 should have each commit" in said


def test_workers_get_the_password_and_nobody_sees_it(tmp_path):
    with redis_server(requirepass="very-secret") as server:
        process = subprocess.Popen(
            [
                *COMMAND,
                "serve",
                "--workers=2",
                "--listen=127.0.0.1:0",
                "--metrics-listen=",
                f"--data={tmp_path}",
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | {
                "CROUPIER_ENGINE": f"redis://:very-secret@{server.address}",
                "CROUPIER_ENGINES": f"vip=redis://:very-secret@{server.address}?prefix=vip",
            },
        )
        try:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if line.startswith("  callers"):
                    break
            assert any("redis in redis://127.0.0.1" in line for line in said)
            assert "very-secret" not in "".join(said)
            workers = psutil.Process(process.pid).children()
            assert len(workers) == 2
            for one in workers:
                assert "very-secret" not in " ".join(one.cmdline())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            process.stdout.close()


# --- to callers -------------------------------------------------------------------------------


async def test_ledgers_are_where_the_settings_say(tmp_path, server):
    async with serving(
        tmp_path / "data", engine=server.url, engines={"vip*": f"sqlite:{tmp_path / 'vip'}"}
    ) as served:
        client = await served.client()
        for ledger in ("main", "vip-1"):
            assert (await house(client, ledger)).durability == "fsync"
        listed = await client.ask(admin_pb2.ListLedgersRequest())
        assert [one.name for one in listed.ledgers] == ["ledgers/main", "ledgers/vip-1"]
        info = await client.ask(admin_pb2.GetServerInfoRequest())
        assert (info.engine, info.durability) == ("redis", "fsync")
        assert {(one.ledgers, one.name, one.durability) for one in info.engines} == {
            ("*", "redis", "fsync"),
            ("vip*", "sqlite", "fsync"),
        }
    assert (tmp_path / "vip" / "vip-1.db").exists()
    assert list((tmp_path / "data").glob("*.db")) == []
    with server.client() as raw:
        assert raw.smembers("croupier:ledgers") == {b"main"}


async def test_what_was_acknowledged_is_there_after_a_restart_of_everything(tmp_path):
    with RedisServer(tmp_path / "redis") as redis:
        async with serving(tmp_path / "data", engine=redis.url) as served:
            receipt = await house(await served.client())
        redis.kill()
        redis.start()
        async with serving(tmp_path / "data", engine=redis.url) as served:
            client = await served.client()
            assert (await deposit(client)).receipt == receipt
            assert (await deposit(client, request_id="e")).receipt.position == 3


async def test_a_receipt_says_which_replicas_have_it(tmp_path, server):
    with redis_server() as replica, replica.client() as client, server.client() as master:
        client.replicaof("127.0.0.1", server.port)
        until("a replica", lambda: master.info("replication")["connected_slaves"] == 1)
        until("it is up", lambda: client.info("replication")["master_link_status"] == "up")
        engine = f"{server.url}?replicas=1&wait_ms=10000"
        async with serving(tmp_path, engine=engine) as served:
            caller = await served.client()
            receipt = await house(caller)
            assert receipt.durability == "fsync+replicas:1"
            info = await caller.ask(admin_pb2.GetServerInfoRequest())
            assert info.durability == "fsync+replicas:1"
            # A retry says the same of it, and so does a batch.
            assert (await deposit(caller)).receipt == receipt


async def test_who_asks_again_is_told_once_a_replica_has_it_by_any_process(tmp_path, server):
    with redis_server() as replica, replica.client() as client, server.client() as master:
        client.replicaof("127.0.0.1", server.port)
        until("a replica", lambda: master.info("replication")["connected_slaves"] == 1)
        until("it is up", lambda: client.info("replication")["master_link_status"] == "up")
        engine = f"{server.url}?replicas=1&wait_ms=100"
        async with (
            serving(tmp_path / "one", engine=engine) as one,
            serving(tmp_path / "other", engine=engine) as other,
        ):
            callers = [await one.client(), await other.client()]
            os.kill(replica.pid, signal.SIGSTOP)
            try:
                await house(callers[0])
                for caller in callers:
                    receipt = (await deposit(caller)).receipt
                    assert receipt.durability == "fsync"
            finally:
                os.kill(replica.pid, signal.SIGCONT)

            for caller in callers:

                async def confirmed(caller=caller):
                    told = (await deposit(caller)).receipt
                    return told if told.durability == "fsync+replicas:1" else None

                # Nobody commits anything meanwhile.
                told = await soon("a receipt says more", confirmed, timeout_s=20)
                receipt.durability = told.durability
                assert told == receipt
            assert master.hget("croupier:{main}:head", "position") == b"2"


async def test_a_replica_that_is_gone_makes_no_error_and_the_receipt_says_so(tmp_path, server):
    async with serving(tmp_path, engine=f"{server.url}?replicas=1&wait_ms=50") as served:
        caller = await served.client()
        assert (await house(caller)).durability == "fsync"
        answers = await asyncio.gather(
            *(deposit(caller, request_id=f"many-{number}") for number in range(20))
        )
        assert {answer.receipt.durability for answer in answers} == {"fsync"}
        assert sorted(answer.receipt.position for answer in answers) == list(range(3, 23))


# --- when the engine fails --------------------------------------------------------------------


async def test_while_the_engine_stalls_the_process_answers_and_goes_on_afterwards(tmp_path):
    with RedisServer(tmp_path / "redis") as redis:
        async with serving(
            tmp_path / "data",
            engine=f"{redis.url}?timeout_ms=200",
            engines={"here": f"sqlite:{tmp_path / 'here'}"},
        ) as served:
            client = await served.client()
            await house(client)
            await house(client, "here")
            os.kill(redis.pid, signal.SIGSTOP)
            try:
                refusals = [
                    await client.refusal(deposit_request(f"stalled-{number}"))
                    for number in range(5)
                ]
                assert {one.reason for one in refusals} == {"STORE_UNAVAILABLE"}
                # Ledgers of other engines are served as if nothing were wrong.
                assert (await deposit(client, "here", "e")).receipt.position == 3
                listed = await client.ask(admin_pb2.ListLedgersRequest())
                assert [one.name for one in listed.ledgers] == ["ledgers/here"]
            finally:
                os.kill(redis.pid, signal.SIGCONT)

            async def is_back():
                return not any(
                    node.breaker.is_open for node in served.server.engines.usual._servers.nodes()
                )

            await soon("redis is back", is_back)
            receipts = [
                await deposit(client, request_id=f"stalled-{number}") for number in range(5)
            ]
            positions = sorted(one.receipt.position for one in receipts)
            assert positions == list(range(3, 8))


def deposit_request(request_id):
    return accounts_pb2.DepositRequest(
        account="ledgers/main/accounts/player:anna",
        currency="EUR",
        amount=500,
        request_id=request_id,
    )


@pytest.mark.parametrize("how", ["older", "gone", "other"])
async def test_a_log_that_went_back_fences_its_ledger(tmp_path, server, how):
    keys = ("head", "log", "requests", "streams", "index:ledger", "index:accounts/player:anna")
    async with serving(tmp_path, engine=server.url) as served:
        client = await served.client()
        await house(client)
        with server.client() as raw:
            older = {key: raw.dump(f"croupier:{{main}}:{key}") for key in keys}
            await deposit(client, request_id="lost")
            if how == "gone":
                raw.flushall()
            if how == "other":
                await deposit(client, "main", "lost too")
                position = b"4"
                raw.hset("croupier:{main}:head", "frontier", bytes(32))
                assert raw.hget("croupier:{main}:head", "position") == position
            if how == "older":
                for key, value in older.items():
                    raw.restore(f"croupier:{{main}}:{key}", 0, value, replace=True)
        refusal = await client.refusal(deposit_request("after"))
        assert refusal.reason == "LEDGER_FENCED"
        served.server.take_gauges()
        assert "main" in served.server.ledgers.not_served()


async def test_two_processes_share_a_ledger_and_nothing_is_answered_wrongly(tmp_path, server):
    flags = (f"--engine={server.url}",)
    with ServerProcess(tmp_path / "a", *flags) as one, ServerProcess(tmp_path / "b", *flags) as two:
        async with (
            grpc.aio.insecure_channel(one.address) as first,
            grpc.aio.insecure_channel(two.address) as second,
        ):
            here, there = Api(first), Api(second)
            await here.create()
            await asyncio.gather(
                *(side.deposit("anna", 1) for _ in range(150) for side in (here, there))
            )
            assert await here.balance("player:anna") == await there.balance("player:anna") == 300
            # Of withdrawals through both of the last coin, one is refused, ever and ever again.
            for _ in range(20):
                await here.withdraw("anna", await there.balance("player:anna"))
                await there.deposit("anna", 1)
                answers = await asyncio.gather(
                    here.withdraw("anna", 1), there.withdraw("anna", 1), return_exceptions=True
                )
                assert sum(isinstance(answer, grpc.aio.AioRpcError) for answer in answers) == 1
                assert await there.balance("player:anna") == 0
                await here.deposit("anna", 1)
            log, same = await here.log(), await there.log()
            assert log == same
            assert [event.position for event in log] == list(range(1, len(log) + 1))


async def test_the_demonstration_plays_on_redis(tmp_path, server):
    def play() -> subprocess.CompletedProcess[str]:
        return croupier("demo", f"--engine={server.url}", f"--data={Path(tmp_path)}")

    for _ in range(2):
        run = await asyncio.to_thread(play)
        assert run.returncode == 0, run.stderr
        assert "all is as it has to be" in run.stdout
