"""Hundreds of ledgers in one process: a flood on one of them does not keep the others waiting."""

from __future__ import annotations

import asyncio

import grpc

from croupier.v1 import accounts_pb2, accounts_pb2_grpc
from tests.support.api import Api, new_id
from tests.support.serving import CALL_TIMEOUT_S, serving

FLOOD = 400
"""Requests in flight on one ledger, each sent again as soon as it is answered."""

ENOUGH = 10
"""So many times the flood is answered whole before it gives up."""

FAIR = 4
"""So many times, at most, it is answered whole while each of the others is answered once: turn by
turn it would be once."""

QUIET = 200


class Flood:
    """A crowd that leaves when told to, or when it is through."""

    def __init__(self, accounts, ledger):
        self._accounts = accounts
        self._ledger = ledger
        self.answered = 0
        self.over = False
        self.under_way = asyncio.Event()
        self._crowd = [asyncio.ensure_future(self._press()) for _ in range(FLOOD)]

    async def _press(self):
        while not self.over and self.answered < ENOUGH * FLOOD:
            await deposit(self._accounts, self._ledger)
            self.answered += 1
            if self.answered >= FLOOD:
                self.under_way.set()

    async def end(self):
        self.over = True
        await asyncio.gather(*self._crowd)


async def deposit(accounts, ledger):
    request = accounts_pb2.DepositRequest(
        account=f"ledgers/{ledger}/accounts/house", currency="EUR", amount=1, request_id=new_id()
    )
    return await accounts.Deposit(request, timeout=CALL_TIMEOUT_S)


async def test_quiet_ledgers_are_answered_while_another_is_flooded(tmp_path):
    quiet = [f"quiet-{number}" for number in range(QUIET)]
    own = [("grpc.use_local_subchannel_pool", 1)]
    async with (
        serving(tmp_path) as served,
        grpc.aio.insecure_channel(served.address, options=own) as loud,
        grpc.aio.insecure_channel(served.address, options=own) as low,
    ):
        await Api(loud).create("flooded")
        for ledger in quiet:
            await Api(low).create(ledger)
        flood = Flood(accounts_pb2_grpc.AccountServiceStub(loud), "flooded")
        await flood.under_way.wait()
        before = flood.answered
        stub = accounts_pb2_grpc.AccountServiceStub(low)
        answers = await asyncio.gather(*(deposit(stub, ledger) for ledger in quiet))
        meanwhile = flood.answered - before
        await flood.end()
    assert [answer.account.balance for answer in answers] == [1] * QUIET
    # When the last of them was answered, the flood was not through, and not even far.
    assert meanwhile < FAIR * FLOOD
    assert before + meanwhile < ENOUGH * FLOOD
