"""Files that are lost or locked, callers in crowds: a clear answer, and nobody else is hurt."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter

import grpc
import pytest

from croupier.services.store.lock import FileLock
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.api import LEDGER, Api, details
from tests.support.processes import ServerProcess

CROWD = 4000


async def furnished(server):
    """Return the channel and the API of a server whose ledger has a deposit."""
    channel = grpc.aio.insecure_channel(server.address)
    api = Api(channel)
    await api.create()
    await api.deposit("anna", 100, "known")
    return channel, api


async def refused(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return details(caught.value)["ErrorInfo"]


async def after_restart(folder, change):
    """Change a ledger's file between two lives of the service; return what a retry gets."""
    with ServerProcess(folder) as server:
        channel, _ = await furnished(server)
        await channel.close()
        server.stop()
    database = sqlite3.connect(folder / "main.db", isolation_level=None)
    for statement in change:
        database.execute(statement)
    database.close()
    with ServerProcess(folder) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            error = await refused(Api(channel).deposit("anna", 100, "known"))
        return error, "".join(server.said)


@pytest.mark.sqlite("its file is changed")
async def test_a_lost_request_id_fences_the_ledger_instead_of_paying_twice(tmp_path):
    change = (
        "DROP TRIGGER requests_not_deleted",
        "DELETE FROM requests WHERE request_id = 'known'",
    )
    error, said = await after_restart(tmp_path, change)
    assert error.reason == "LEDGER_FENCED"
    assert "2 requests are in the log, 1 in the index" in error.metadata["why"]
    assert "NOT SERVED: main: 2 requests are in the log" in said


@pytest.mark.sqlite("its file is changed")
async def test_a_lost_head_fences_the_ledger_instead_of_beginning_it_anew(tmp_path):
    change = ("DROP TRIGGER head_not_deleted", "DELETE FROM head")
    error, said = await after_restart(tmp_path, change)
    assert error.reason == "LEDGER_FENCED"
    assert "NOT SERVED: main" in said


@pytest.mark.sqlite("its file is changed")
async def test_a_head_set_back_to_nothing_fences_the_ledger(tmp_path):
    change = ("UPDATE head SET position = 0, frontier = x''",)
    error, _ = await after_restart(tmp_path, change)
    assert error.reason == "LEDGER_FENCED"
    assert error.metadata["why"] == "the head is at position 0, the log ends at 2"


@pytest.mark.sqlite("its file is taken away")
async def test_a_file_removed_under_the_service_is_not_acknowledged_into(tmp_path):
    with ServerProcess(tmp_path) as server:
        channel, api = await furnished(server)
        for file in tmp_path.glob("main.db*"):
            file.unlink()
        error = await refused(api.deposit("anna", 1))
        assert error.reason == "LEDGER_FENCED"
        assert "removed" in error.metadata["why"]
        await channel.close()


@pytest.mark.sqlite("its file is locked")
async def test_a_ledger_locked_from_outside_says_so_and_the_others_go_on(tmp_path):
    with ServerProcess(tmp_path) as server:
        channel, api = await furnished(server)
        await api.create("other")
        outside = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
        outside.execute("BEGIN IMMEDIATE")
        error = await refused(api.deposit("anna", 1, "later"))
        assert error.reason == "STORE_UNAVAILABLE"
        request = accounts_pb2.DepositRequest(
            account="ledgers/other/accounts/player:anna",
            currency="EUR",
            amount=5,
            request_id="elsewhere",
        )
        assert (await api.accounts.Deposit(request, timeout=5)).account.balance == 5
        # A process that starts meanwhile only has to read.
        with ServerProcess(tmp_path) as second:
            async with grpc.aio.insecure_channel(second.address) as reading:
                assert await Api(reading).balance("player:anna") == 100
        outside.execute("ROLLBACK")
        outside.close()
        assert (await api.deposit("anna", 1, "later")).account.balance == 101
        await channel.close()


@pytest.mark.sqlite("its lock is held")
async def test_a_lock_that_is_never_let_go_does_not_keep_the_service_from_stopping(tmp_path):
    with ServerProcess(tmp_path, "--grace-s=1") as server:
        channel, api = await furnished(server)
        held = FileLock(tmp_path / "main.db")
        held.acquire()
        waiting = asyncio.ensure_future(api.deposit("anna", 1))
        # Reads of the ledger go on meanwhile.
        assert await api.balance("player:anna") == 100
        assert await asyncio.to_thread(server.stop) == 0
        with pytest.raises(grpc.aio.AioRpcError):
            await waiting
        held.release()
        held.close()
        await channel.close()


async def test_a_crowd_on_one_connection_is_answered_whole(tmp_path):
    with ServerProcess(tmp_path) as server:
        channel, api = await furnished(server)
        answers = await asyncio.gather(
            *(api.deposit("bert", 1, f"crowd-{number}") for number in range(CROWD)),
            return_exceptions=True,
        )
        kinds = Counter(
            answer.code().name if isinstance(answer, grpc.aio.AioRpcError) else "answered"
            for answer in answers
        )
        assert kinds == {"answered": CROWD}
        assert await api.balance("player:bert") == CROWD
        ledger = (await api.admin.GetLedger(admin_pb2.GetLedgerRequest(name=LEDGER))).ledger
        assert ledger.position == 2 + CROWD
        await channel.close()
