"""Two processes serve one ledger: one order, nothing lost or doubled, nobody starves."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import grpc

from tests.support.api import Api
from tests.support.processes import ServerProcess

HEAVY = 32
LIGHT_COMMANDS = 150


async def test_unequal_load_on_one_table_has_one_order_and_starves_nobody(tmp_path):
    with ServerProcess(tmp_path) as one, ServerProcess(tmp_path) as other:
        async with (
            grpc.aio.insecure_channel(one.address) as first,
            grpc.aio.insecure_channel(other.address) as second,
        ):
            heavy, light = Api(first), Api(second)
            await heavy.create()
            await light.deposit("anna", 100)
            await heavy.deposit("bert", 100)
            await light.open()
            await heavy.post("anna", 100)
            await light.fade("bert", 100)
            receipts = []
            finished = asyncio.Event()

            async def press():
                while not finished.is_set():
                    receipts.append(await heavy.roll("anna", 1, 2, 4))

            pressing = [asyncio.ensure_future(press()) for _ in range(HEAVY)]
            light_receipts = [await light.roll("anna", 1, 3, 5) for _ in range(LIGHT_COMMANDS)]
            finished.set()
            await asyncio.gather(*pressing)
            await _check(heavy, light, receipts, light_receipts)


async def _check(heavy, light, receipts, light_receipts):
    # Both got on: neither had to wait for the other to be done.
    assert len(light_receipts) == LIGHT_COMMANDS
    assert len(receipts) > LIGHT_COMMANDS
    log, same_log = await heavy.log(), await light.log()
    assert log == same_log
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    throws = [event for event in log if event.WhichOneof("payload") == "rolled"]
    assert [event.version for event in throws] == list(range(6, 6 + len(throws)))
    by_id = {event.request_id: event for event in throws}
    assert len(by_id) == len(throws) == len(receipts) + len(light_receipts)
    for receipt in (*receipts, *light_receipts):
        assert by_id[receipt.events[0].request_id] == receipt.events[0]
    # Each waited for a few turns of the other at most, not for its load to end.
    positions = [receipt.position for receipt in light_receipts]
    gaps = [after - before for before, after in pairwise(positions)]
    assert max(gaps) < len(receipts) / 2


async def test_a_withdrawal_through_one_follows_an_acknowledged_deposit_through_the_other(tmp_path):
    with ServerProcess(tmp_path) as one, ServerProcess(tmp_path) as other:
        async with (
            grpc.aio.insecure_channel(one.address) as first,
            grpc.aio.insecure_channel(other.address) as second,
        ):
            here, there = Api(first), Api(second)
            await here.create()
            for amount in range(1, 101):
                await here.deposit("anna", amount)
                assert await there.balance("player:anna") == amount
                answer = await there.withdraw("anna", amount)
                assert answer.account.balance == 0
                assert await here.balance("player:anna") == 0


async def test_a_table_opened_through_one_is_found_through_the_other(tmp_path):
    with ServerProcess(tmp_path) as one, ServerProcess(tmp_path) as other:
        async with (
            grpc.aio.insecure_channel(one.address) as first,
            grpc.aio.insecure_channel(other.address) as second,
        ):
            here, there = Api(first), Api(second)
            await here.create()
            opened = (await here.open()).table
            assert await there.table() == opened
