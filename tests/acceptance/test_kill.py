"""Killed at any instant, the service loses nothing that it acknowledged."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from tests.support.api import Api
from tests.support.processes import ServerProcess

WORKERS = 16
KILL_AFTER_ACKNOWLEDGED = (40, 300, 900)


class Load:
    """Workers that deposit and throw as fast as they are answered, and remember every answer."""

    def __init__(self, api, round_name):
        self._api = api
        self._name = round_name
        self.sent = []
        self.acknowledged = {}
        self.ends = set()
        self.enough = asyncio.Event()

    async def run(self, kill_after):
        self._kill_after = kill_after
        await asyncio.gather(*(self._work(worker) for worker in range(WORKERS)))

    async def _work(self, worker):
        for number in range(10_000):
            request_id = f"{self._name}.{worker}.{number}"
            self.sent.append(request_id)
            try:
                self.acknowledged[request_id] = await ask(self._api, request_id)
            except grpc.aio.AioRpcError as error:
                self.ends.add(error.code())
                return
            if len(self.acknowledged) >= self._kill_after:
                self.enough.set()


async def ask(api, request_id):
    """Ask what the id says: the same id is always the same request."""
    worker = int(request_id.split(".")[1])
    if worker % 2:
        return (await api.deposit("anna", 7, request_id)).receipt
    # A meaningless throw may be repeated for ever, and each is recorded.
    return await api.roll("anna", 1, 2, 4, request_id=request_id)


@pytest.mark.parametrize("kill_after", KILL_AFTER_ACKNOWLEDGED)
async def test_every_acknowledged_command_survives_a_kill_once(tmp_path, kill_after):
    with ServerProcess(tmp_path) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            api = Api(channel)
            await api.create()
            await api.deposit("anna", 100)
            await api.deposit("bert", 100)
            await api.open()
            await api.post("anna", 100)
            await api.fade("bert", 100)
            load = Load(api, "load")
            running = asyncio.ensure_future(load.run(kill_after))
            await load.enough.wait()
            server.kill()
            await running
    assert load.ends == {grpc.StatusCode.UNAVAILABLE}
    assert len(load.acknowledged) >= kill_after
    with ServerProcess(tmp_path) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            await _check(Api(channel), load)
        assert server.stop() == 0


async def _check(api, load):
    log = await api.log()
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    recorded = {}
    for event in log:
        recorded.setdefault(event.request_id, []).append(event)
    for request_id, receipt in load.acknowledged.items():
        assert recorded[request_id] == list(receipt.events)
    before = len(log)
    # Whatever was sent can be sent again: what was recorded keeps its receipt, the rest is new.
    for request_id in load.sent:
        receipt = await ask(api, request_id)
        if request_id in recorded:
            assert list(receipt.events) == recorded[request_id]
    log = await api.log()
    assert len(log) == before + len(set(load.sent) - set(recorded))
    assert len({event.request_id for event in log if event.request_id in set(load.sent)}) == len(
        load.sent
    )
    deposits = sum(int(request_id.split(".")[1]) % 2 for request_id in load.sent)
    assert await api.balance("player:anna") == 7 * deposits
    assert not [finding for step in await api.replay() for finding in step.findings]
    assert all(currency.sum == 0 for currency in (await api.trial_balance()).currencies)
