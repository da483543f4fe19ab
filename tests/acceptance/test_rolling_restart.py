"""One process after the other is restarted under load, and no caller sees a failed call.

The callers are plain gRPC channels, as any language has them, with the service config that the
client package publishes and no retry of their own.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import ExitStack

import grpc
import pytest

from croupier.services.client import Client, account_name
from croupier.services.client.policy import SERVICE_CONFIG
from croupier.services.commands.workers import free_ports
from croupier.v1 import accounts_pb2, play_pb2
from tests.support.api import LEDGER, Api, thrown
from tests.support.processes import ServerProcess
from tests.support.workers import END_TIMEOUT_S, Load, ready

CALLERS = 6
BETWEEN = 150
"""Answers between one restart and the next."""
BUY_IN = 10_000


class Pair:
    """Two processes that share the ledgers of a folder."""

    def __init__(self, folder):
        first = free_ports("127.0.0.1", 2)
        self._folder = folder
        self.addresses = [f"127.0.0.1:{first}", f"127.0.0.1:{first + 1}"]
        self._stack = ExitStack()
        self._running = {}

    def start(self, address):
        peers = ",".join(self.addresses)
        flags = (f"--listen={address}", f"--peers={peers}")
        self._running[address] = self._stack.enter_context(ServerProcess(self._folder, *flags))

    def restart(self, address):
        """Stop a process and start it again at the same address; return how it ended."""
        code = self._running[address].stop()
        self.start(address)
        return code

    def __enter__(self):
        for address in self.addresses:
            self.start(address)
        return self

    def __exit__(self, *exc):
        self._stack.__exit__(*exc)


@pytest.fixture
def pair(tmp_path):
    with Pair(tmp_path) as started:
        yield started


def channel(addresses, policy):
    """Return a channel over all addresses that does as the published config says."""
    config = json.loads(SERVICE_CONFIG) | {"loadBalancingConfig": [{policy: {}}]}
    return grpc.aio.insecure_channel(
        f"ipv4:{','.join(addresses)}",
        options=[
            ("grpc.service_config", json.dumps(config)),
            ("grpc.use_local_subchannel_pool", 1),
        ],
    )


async def roll_over(pair, load):
    """Restart both processes in turn, twice, while a load goes on."""
    for address in (*pair.addresses, *pair.addresses):
        await load.answers(BETWEEN)
        assert await asyncio.to_thread(pair.restart, address) == 0
        await ready(address)
    await load.answers(BETWEEN)


class Casino:
    """What callers do, each request with an id that it keeps however often it is sent."""

    def __init__(self, api):
        self._api = api

    async def open(self):
        await self._api.create()
        for number in range(CALLERS):
            table, seats = f"t{number}", (f"anna{number}", f"bert{number}")
            for player in seats:
                await self._api.deposit(player, BUY_IN)
            await self._api.open(table, seats)
            await self._api.post(seats[0], 100, table=table)
            await self._api.fade(seats[1], 100, table=table)

    async def ask(self, request_id):
        """Throw at the caller's table, or let him buy in for one more."""
        _, caller, number = request_id.split(".")
        at = int(caller) % CALLERS
        if int(number) % 3:
            command = play_pb2.PlayRequest(
                table=f"{LEDGER}/tables/t{at}",
                round=1,
                player=f"anna{at}",
                request_id=request_id,
                roll=thrown(1, 2, 4),  # means nothing, so it may be thrown for ever
            )
            return (await self._api.plays.Play(command)).receipt
        deposit = accounts_pb2.DepositRequest(
            account=account_name("main", f"player:bert{at}"),
            currency="EUR",
            amount=1,
            request_id=request_id,
        )
        return (await self._api.accounts.Deposit(deposit)).receipt


async def check(api, acknowledged):
    """Check that the log has all that was acknowledged, once, and that money was conserved."""
    log = await api.log()
    assert [event.position for event in log] == list(range(1, len(log) + 1))
    times = Counter(event.request_id for event in log if event.request_id in acknowledged)
    assert set(times) == set(acknowledged)
    assert set(times.values()) == {1}
    recorded = {event.request_id: event for event in log}
    for request_id, receipt in acknowledged.items():
        assert list(receipt.events) == [recorded[request_id]]
    brought = sum(event.deposited.amount for event in log)
    (euros,) = (await api.trial_balance()).currencies
    assert (euros.sum, euros.players + euros.escrow) == (0, brought)
    for number in range(CALLERS):
        assert not [one for step in await api.replay(f"t{number}") for one in step.findings]


@pytest.mark.parametrize("policy", ["round_robin", "pick_first"])
async def test_no_call_fails_while_both_are_restarted_in_turn(pair, policy):
    async with channel(pair.addresses, policy) as shared:
        api = Api(shared)
        casino = Casino(api)
        await casino.open()
        load = Load("load", casino.ask)
        await roll_over(pair, load)
        await load.stop()
        assert load.ends == []
        await check(api, load.acknowledged)


async def test_the_client_for_a_ledger_goes_on_with_its_calls_streams_and_watching(pair):
    async with (
        channel(pair.addresses, "round_robin") as shared,
        Client(pair.addresses[0]) as client,
    ):
        api = Api(shared)
        casino = Casino(api)
        await casino.open()
        main = await client.for_ledger("main")
        account = account_name("main", "player:anna0")
        watched, more = [], asyncio.Event()

        async def watch():
            async for event in main.audit.watch("main"):
                watched.append(event)
                more.set()

        watching = asyncio.ensure_future(watch())
        async with main.play.stream("main") as stream:

            async def ask(request_id):
                _, caller, _ = request_id.split(".")
                if int(caller) % 2:
                    response = await main.accounts.deposit(account, "EUR", 1, request_id=request_id)
                    return response.receipt
                command = play_pb2.PlayRequest(
                    table=f"{LEDGER}/tables/t0",
                    round=1,
                    player="anna0",
                    request_id=request_id,
                    roll=thrown(1, 2, 4),
                )
                (result,) = await stream.send(command)
                if isinstance(result, Exception):
                    raise result
                return result

            load = Load("load", ask)
            await roll_over(pair, load)
            await load.stop()
        assert load.ends == []
        await check(api, load.acknowledged)
        log = await api.log()
        async with asyncio.timeout(END_TIMEOUT_S):
            while len(watched) < len(log):
                more.clear()
                await more.wait()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        assert watched == log
