"""Several processes share the ledgers: any takes any command, whichever dies, nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from urllib.request import urlopen

import grpc
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.services.assignment import best
from croupier.services.client import Client, Patience, account_name
from croupier.services.commands.workers import free_ports
from croupier.services.store.lock import FileLock
from croupier.v1 import admin_pb2
from tests.support.api import LEDGER, Api
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.workers import END_TIMEOUT_S, Load, Workers, ready, still_run

PATIENCE = Patience(deadline_s=30.0, attempt_s=10.0, pause_s=0.01, pause_max_s=0.1)

ONE_ATTEMPT = Patience(deadline_s=20.0, attempt_s=20.0, pause_s=1e6, pause_max_s=1e6)


@pytest.fixture
def workers(tmp_path):
    with Workers(tmp_path, 2) as started:
        yield started


async def check(client, ledger, acknowledged):
    """Check that a ledger has every acknowledged deposit once, in one order, and balances."""
    log = [event async for event in client.audit.events(ledger)]
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    times = Counter(event.request_id for event in log)
    assert set(times.values()) == {1}
    recorded = {event.request_id: event for event in log}
    for request_id, answer in acknowledged.items():
        assert recorded[request_id] == answer.receipt.events[0]
    account = await client.accounts.get(account_name(ledger, "player:anna"), "EUR")
    assert account.balance == sum(event.deposited.amount for event in log)
    books = await client.accounts.trial_balance(ledger)
    assert [currency.sum for currency in books.currencies] == [0]


def read(page):
    with urlopen(page) as answer:  # noqa: S310  # our own server
        return answer.read().decode()


async def until(port, line):
    """Wait until the metrics at a port have a line."""
    async with asyncio.timeout(END_TIMEOUT_S):
        while line not in await asyncio.to_thread(read, f"http://127.0.0.1:{port}/metrics"):
            pass


def deposits(client, ledger):
    """Return what asks for a deposit with a request id, always the same deposit."""
    account = account_name(ledger, "player:anna")
    return lambda request_id: client.accounts.deposit(account, "EUR", 1, request_id=request_id)


async def test_all_workers_answer_and_agree_who_is_best(workers):
    assert len(workers.processes()) == 2
    said = []
    for number, address in enumerate(workers.addresses):
        async with Client(address) as client:
            info = await client.admin.server_info("somewhere")
        assert info.address == address
        assert tuple(info.addresses) == workers.addresses
        said.append(info.best_address)
        page = f"http://127.0.0.1:{workers.metrics_port + number}/metrics"
        assert "croupier_calls_total" in await asyncio.to_thread(read, page)
    assert said == [best(workers.addresses, "somewhere")] * 2
    assert workers.stop() == 0


async def test_a_ledger_created_through_one_is_played_through_all(workers):
    async with (
        grpc.aio.insecure_channel(workers.addresses[0]) as first,
        grpc.aio.insecure_channel(workers.addresses[1]) as second,
    ):
        here, there = Api(first), Api(second)
        await here.create()
        name = admin_pb2.GetLedgerRequest(name=LEDGER)
        assert (await there.admin.GetLedger(name)).ledger.position == 1
        await there.deposit("anna", 100)
        await here.deposit("bert", 100)
        await there.open()
        await here.post("anna", 100)
        await there.fade("bert", 100)
        receipts = [await api.roll("anna", 1, 2, 4) for api in (here, there) * 10]
        receipts += await asyncio.gather(*(api.roll("anna", 1, 2, 4) for api in (here, there) * 20))
        log = await here.log()
        assert log == await there.log()
        assert [event.position for event in log] == list(range(1, len(log) + 1))
        throws = [event for event in log if event.WhichOneof("payload") == "rolled"]
        assert [one.version for one in throws] == list(range(6, 6 + 60))
        assert sorted(one.position for one in receipts) == [one.position for one in throws]
        for api in (here, there):
            steps = await api.replay()
            assert len(steps) == 3 + 2 + 60
            assert not [finding for step in steps for finding in step.findings]
            assert all(currency.sum == 0 for currency in (await api.trial_balance()).currencies)


async def test_a_killed_workers_ledgers_are_served_by_the_other_and_then_by_it_again(workers):
    doomed, other = workers.addresses
    ledger = workers.ledger_of(doomed)
    async with Client(other, patience=PATIENCE) as client, Client(doomed) as direct:
        casino = await client.for_ledger(ledger)
        assert casino.address == doomed
        await casino.admin.create_ledger(ledger)
        load = Load("load", deposits(casino, ledger))
        await load.answers(200)
        parent, killed = psutil.Process(workers.pid), workers.process(doomed)
        parent.suspend()  # so that it cannot start the worker again yet
        killed.kill()
        # Nobody was told and nobody waits for the restart: the next best takes over.
        await load.answers(200)
        parent.resume()
        await ready(doomed)
        assert workers.process(doomed).pid != killed.pid
        back = await direct.accounts.deposit(
            account_name(ledger, "player:anna"), "EUR", 5, request_id="back"
        )
        await load.answers(50)
        await load.stop()
        assert load.ends == []
        await check(client, ledger, load.acknowledged | {"back": back})
        await check(direct, ledger, load.acknowledged | {"back": back})
    assert workers.stop() == 0


async def test_interrupted_the_workers_finish_what_they_took(tmp_path):
    with Workers(tmp_path, 2) as workers:
        processes = workers.processes()
        # Without retries, so that it shows how each call ends.
        clients = [Client(one, patience=ONE_ATTEMPT) for one in workers.addresses]
        ledgers = [workers.ledger_of(address) for address in workers.addresses]
        loads = []
        for client, ledger in zip(clients, ledgers, strict=True):
            await client.admin.create_ledger(ledger)
            loads.append(Load(f"to {ledger}", deposits(client, ledger)))
        await asyncio.gather(*(load.answers(100) for load in loads))
        assert await asyncio.to_thread(workers.stop) == 0
        assert still_run(processes) == []
        for load, client in zip(loads, clients, strict=True):
            await load.end()
            # What was taken was answered: whoever got none was turned away at the door.
            codes = {error.code.name for error in load.ends}
            assert codes <= {"UNAVAILABLE", "CANCELLED"}
            await client.close()
    with ServerProcess(tmp_path) as server:
        async with Client(server.address) as client:
            for load, ledger in zip(loads, ledgers, strict=True):
                await check(client, ledger, load.acknowledged)


@pytest.mark.sqlite("its lock is held")
async def test_what_waits_for_its_turn_when_interrupted_is_answered(workers, tmp_path):
    async with grpc.aio.insecure_channel(workers.addresses[1]) as channel:
        api, health = Api(channel), health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        await api.create()
        held = FileLock(tmp_path / "main.db")
        held.acquire()
        waiting = [asyncio.ensure_future(api.deposit("anna", 1)) for _ in range(20)]
        await until(workers.metrics_port + 1, "croupier_queue_commands 20.0\n")
        stopping = asyncio.ensure_future(asyncio.to_thread(workers.stop))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        held.release()
        held.close()
        assert {(await one).receipt.position for one in waiting} == set(range(2, 22))
        assert await stopping == 0


async def test_restarted_one_after_the_other_nobody_notices(workers):
    ledger = workers.ledger_of(workers.addresses[0])
    async with Client(workers.addresses[1], patience=PATIENCE) as client:
        casino = await client.for_ledger(ledger)
        await casino.admin.create_ledger(ledger)
        load = Load("load", deposits(casino, ledger))
        for address in workers.addresses:
            await load.answers(100)
            stopped = workers.process(address)
            stopped.terminate()
            assert await asyncio.to_thread(still_run, [stopped]) == []
            await ready(address)
        await load.answers(100)
        await load.stop()
        assert load.ends == []
        await check(client, ledger, load.acknowledged)


async def test_workers_end_with_a_parent_that_is_killed(workers):
    processes = workers.processes()
    assert len(processes) == 2
    workers.kill()
    assert still_run(processes) == []


async def test_one_worker_is_the_process_itself(tmp_path):
    with ServerProcess(tmp_path, "--workers=1") as server:
        assert psutil.Process(server.pid).children() == []
        async with Client(server.address) as client:
            info = await client.admin.server_info("main")
        assert info.address == info.best_address == server.address
        assert list(info.addresses) == [server.address]


def test_a_worker_that_cannot_start_ends_all_with_its_message_said_once(tmp_path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text("{}")
    ran = croupier(
        "serve",
        "--workers=2",
        "--listen=127.0.0.1:0",
        "--metrics-listen=",
        f"--data={tmp_path / 'data'}",
        f"--tokens={tokens}",
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [f"{tokens}: not a token file: 'callers'"]
    assert ran.stdout == ""


def test_a_port_that_one_of_the_workers_cannot_have_ends_all(tmp_path):
    first = free_ports("127.0.0.1", 2)
    with ServerProcess(tmp_path / "other", f"--listen=127.0.0.1:{first + 1}"):
        ran = croupier(
            "serve",
            "--workers=2",
            f"--listen=127.0.0.1:{first}",
            "--metrics-listen=",
            f"--data={tmp_path / 'data'}",
        )
    assert ran.returncode == 1
    assert f"cannot listen on 127.0.0.1:{first + 1}: is another service there?" in ran.stderr
    assert "Traceback" not in ran.stderr
