"""Calls that nobody has begun: counted, and refused while they are too many."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace

import grpc
import pytest

from croupier.domain.errors import Reason, Refused
from croupier.services.rpc import backlog as module
from croupier.services.rpc.backlog import RETRY_MS_LEAST, RETRY_MS_MOST, Backlog
from croupier.v1 import accounts_pb2
from tests.acceptance.test_refusals import locked
from tests.support.refusals import assert_refused
from tests.support.serving import refusal_of, serving
from tests.support.stories import deposit, furnish


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


def server(number, started, ended=0, failed=0):
    data = SimpleNamespace(calls_started=started, calls_succeeded=ended, calls_failed=failed)
    return SimpleNamespace(ref=SimpleNamespace(server_id=number), data=data)


@pytest.fixture
def transport(monkeypatch):
    """What the library tells of the servers of this process."""
    servers = []
    monkeypatch.setattr(module, "_servers", lambda: servers)
    return servers


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def backlog(transport, clock):
    transport[:] = [server(3, 500), server(7, 0)]
    backlog = Backlog(10, clock)
    backlog.follow_newest()
    return backlog


def test_what_was_taken_and_neither_ended_nor_begun_waits(backlog, transport):
    transport[1] = server(7, started=100, ended=60, failed=5)
    for _ in range(12):
        backlog.begun()
    backlog.sample()
    assert backlog.waiting == 100 - 60 - 5 - 12


def test_a_call_that_is_begun_waits_no_longer(backlog, transport):
    transport[1] = server(7, started=12)
    backlog.sample()
    with pytest.raises(Refused):
        backlog.check()
    backlog.begun()
    backlog.begun()
    backlog.check()
    assert backlog.waiting == 10


def test_who_is_refused_is_told_how_long_the_others_will_take(backlog, transport, clock):
    transport[1] = server(7, started=1_000)
    backlog.sample()
    for _ in range(100):
        backlog.begun()
        backlog.ended()
    clock.now_s = 0.5
    backlog.sample()
    with pytest.raises(Refused) as caught:
        backlog.check()
    assert caught.value.reason is Reason.QUEUE_FULL
    assert caught.value.metadata == {"waiting": "1000", "retry_ms": "5000"}  # 200 a second


@pytest.mark.parametrize("waiting, told_ms", [(11, RETRY_MS_LEAST), (10**6, RETRY_MS_MOST)])
def test_what_callers_are_told_to_wait_is_bounded(backlog, transport, waiting, told_ms):
    transport[1] = server(7, started=waiting)
    backlog.sample()
    with pytest.raises(Refused) as caught:
        backlog.check()
    assert caught.value.metadata["retry_ms"] == str(told_ms)


def test_a_quiet_time_says_nothing_of_how_fast_calls_end(backlog, transport, clock):
    clock.now_s = 60.0
    backlog.sample()
    transport[1] = server(7, started=100)
    backlog.sample()
    with pytest.raises(Refused) as caught:
        backlog.check()
    assert caught.value.metadata["retry_ms"] == "100"  # 1000 a second, as assumed


async def test_a_burst_is_answered_or_sent_away_and_leaves_no_call_uncounted(tmp_path):
    async with serving(tmp_path, backlog=50) as served:
        client = await served.client()
        await furnish(client)
        heard = Counter()

        async def ask():
            try:
                await client.ask(deposit("player:anna", 1))
            except grpc.aio.AioRpcError as error:
                refusal = refusal_of(error)
                assert_refused(refusal, Reason.QUEUE_FULL)
                assert refusal.retry_ms == int(refusal.metadata["retry_ms"])
                heard["refused"] += 1
            else:
                heard["done"] += 1

        await asyncio.gather(*(ask() for _ in range(1_500)))
        assert set(heard) == {"refused", "done"}
        asked = accounts_pb2.GetAccountRequest(
            name="ledgers/casino/accounts/player:anna", currency="EUR"
        )
        assert (await client.ask(asked)).account.balance == 100_000 + heard["done"]
        # What is answered is counted as ended before the answer goes out.
        assert served.server._backlog._under_way == 0


async def test_what_is_beyond_a_connections_calls_waits_at_the_caller(tmp_path):
    async with serving(tmp_path, calls_per_connection=10) as served:
        client = await served.client()
        await furnish(client)
        begun = []

        async with locked(tmp_path):
            asked = [
                asyncio.ensure_future(client.ask(deposit("player:anna", 1))) for _ in range(50)
            ]
            # Another connection is another caller, and is served meanwhile.
            other = await served.client()
            for _ in range(20):
                await other.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
                begun.append(served.server._backlog._under_way)
        await asyncio.gather(*asked)
    assert max(begun) == 10
