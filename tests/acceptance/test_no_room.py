"""A disk without room: refused with a reason, nothing half written, and well again with room."""

from __future__ import annotations

import asyncio
import resource
import shutil
import subprocess

import grpc
import psutil
import pytest
from eventsourcing.persistence import PersistenceError

from croupier.domain.errors import Reason
from croupier.services.store.sqlite import SQLiteEngine
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.api import Api, details
from tests.support.cli import croupier
from tests.support.processes import COMMAND, WITHOUT_ROOM, ServerProcess
from tests.support.refusals import assert_refused
from tests.support.serving import Serve, refusal_of
from tests.support.workers import END_TIMEOUT_S

CROWD = 16


def deposit(request_id, amount=1, player="anna"):
    return accounts_pb2.DepositRequest(
        account=f"ledgers/main/accounts/player:{player}",
        currency="EUR",
        amount=amount,
        request_id=request_id,
    )


async def filled(client):
    """Use up the room that the pages have; return how many more commands were recorded."""
    accepted = 0
    while True:
        try:
            await client.ask(deposit(f"filling-{accepted}"))
        except grpc.aio.AioRpcError as error:
            assert_refused(refusal_of(error), Reason.STORE_UNAVAILABLE)
            return accepted
        accepted += 1


@pytest.mark.sqlite("its file may not grow")
async def test_a_file_that_may_not_grow_refuses_and_goes_on_when_it_may(serve: Serve):
    """SQLite itself says SQLITE_FULL, as it does where the disk is full."""
    served = await serve()
    client = await served.client()
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
    await client.ask(deposit("before"))
    connection = served.server.ledgers.get("main")._store._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    accepted = await filled(client)
    before = await client.evidence("main")
    for number in range(3):
        refusal = await client.refusal(deposit(f"refused-{number}"))
        assert_refused(refusal, Reason.STORE_UNAVAILABLE)
        assert refusal.retry_ms
    # Reads go on, and nothing of what was refused is in them.
    assert await client.evidence("main") == before
    connection.execute("PRAGMA max_page_count=1000000")
    answers = [await client.ask(deposit(f"refused-{number}")) for number in range(3)]
    answers.append(await client.ask(deposit(f"filling-{accepted}")))
    assert [one.receipt.position for one in answers] == list(range(accepted + 3, accepted + 7))
    assert (await client.ask(deposit("before"))).receipt.position == 2


@pytest.mark.sqlite("its file may not grow")
async def test_a_process_whose_files_may_not_grow_loses_nothing_and_recovers(tmp_path):
    with ServerProcess(tmp_path, "--log-format=json") as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            api = Api(channel)
            await api.create()
            await api.deposit("anna", 1000, "before")
            process = psutil.Process(server.pid)
            before = process.rlimit(psutil.RLIMIT_FSIZE)
            largest = max(path.stat().st_size for path in tmp_path.iterdir())
            process.rlimit(psutil.RLIMIT_FSIZE, (largest, before[1]))
            acknowledged, refused = {}, []
            async with asyncio.timeout(END_TIMEOUT_S):
                while not refused:
                    await crowd(api, acknowledged, refused)
            await crowd(api, acknowledged, refused)
            assert len(refused) >= CROWD
            position = await api.balance("player:anna")
            assert position == 1000 + len(acknowledged)
            process.rlimit(psutil.RLIMIT_FSIZE, before)
            for request_id in refused:
                acknowledged[request_id] = (await api.deposit("anna", 1, request_id)).receipt
            await check(api, acknowledged)
        assert server.stop() == 0
    with ServerProcess(tmp_path) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            await check(Api(channel), acknowledged)


async def crowd(api, acknowledged, refused):
    """Let a crowd ask at once; sort who was answered from who was refused."""
    ids = [f"ask-{len(acknowledged) + len(refused)}-{number}" for number in range(CROWD)]
    asked = (api.deposit("anna", 1, request_id) for request_id in ids)
    for request_id, answer in zip(
        ids, await asyncio.gather(*asked, return_exceptions=True), strict=True
    ):
        if isinstance(answer, grpc.aio.AioRpcError):
            assert details(answer)["ErrorInfo"].reason == Reason.STORE_UNAVAILABLE
            refused.append(request_id)
        else:
            acknowledged[request_id] = answer.receipt


async def check(api, acknowledged):
    """Check that the log has what was acknowledged, once, and nothing else."""
    log = await api.log()
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    assert {event.request_id for event in log[2:]} == set(acknowledged)
    assert len(log) == 2 + len(acknowledged)
    for request_id, receipt in acknowledged.items():
        assert log[receipt.position - 1].request_id == request_id
    assert await api.balance("player:anna") == 1000 + len(acknowledged)


def started_without_room(*flags):
    """Start a service whose process may not write a byte to any file; return how it ended."""
    return subprocess.run(
        [*WITHOUT_ROOM, *COMMAND, "serve", "--listen=127.0.0.1:0", "--metrics-listen=", *flags],
        check=False,
        capture_output=True,
        text=True,
        timeout=END_TIMEOUT_S,
    )


def test_a_start_without_room_says_so_and_leaves_nothing_behind(tmp_path):
    data = tmp_path / "data"
    ran = started_without_room(f"--data={data}")
    assert ran.returncode == 1
    assert f"{data / 'draw.key'}: File too large" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [one for one in data.iterdir() if one.is_file()] == []


@pytest.mark.sqlite("its file may not grow")
async def test_a_ledger_without_room_is_named_at_the_start_and_served_with_room(tmp_path):
    data = tmp_path / "data"
    assert croupier("demo", f"--data={data}").returncode == 0
    before = (data / "demo.db").read_bytes()
    with ServerProcess(data, no_room=True) as server:
        said = "".join(server.said)
        assert "NOT SERVED: demo: " in said
        async with grpc.aio.insecure_channel(server.address) as channel:
            admin = Api(channel).admin
            name = admin_pb2.GetLedgerRequest(name="ledgers/demo")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await admin.GetLedger(name)
            assert details(caught.value)["ErrorInfo"].reason == Reason.STORE_UNAVAILABLE
            assert (data / "demo.db").read_bytes() == before
            process = psutil.Process(server.pid)
            process.rlimit(psutil.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert (await admin.GetLedger(name)).ledger.position > 0
        assert server.stop() == 0


def test_an_error_of_a_disk_that_is_full_says_so(tmp_path, monkeypatch):
    (tmp_path / "main.db").write_bytes(b"no database" * 1000)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=4096))
    with pytest.raises(PersistenceError, match=r"not a database \(the disk of .* has 4096 bytes"):
        SQLiteEngine(tmp_path).open("main")
    monkeypatch.undo()
    with pytest.raises(PersistenceError, match=r"not a database$"):
        SQLiteEngine(tmp_path).open("main")
