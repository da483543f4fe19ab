"""A writer that is alone on an engine over a network decides without a look, and is never wrong."""

from __future__ import annotations

import asyncio
import random

import pytest

from croupier.domain.errors import Reason
from croupier.services.ledger.requests import Withdraw
from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.recorder import ALONE
from croupier.services.store.redis_address import parse
from tests.support.ledgers import LEDGER, House, refused
from tests.support.redis_server import redis_server

KEYS = Keys("croupier", LEDGER)


@pytest.fixture(scope="module")
def server():
    with redis_server() as server:
        yield server


@pytest.fixture
def raw(server):
    with server.client() as raw:
        raw.flushall()
        yield raw


@pytest.fixture
async def houses(raw, server, tmp_path):
    """What two processes have of one ledger; the first has been alone for a while."""
    engines = [RedisEngine(parse(server.url)) for _ in range(2)]
    one, other = (House(tmp_path, engine=engine) for engine in engines)
    await one.create()
    for _ in range(ALONE):
        await one.deposit("bert", 1)
    assert is_assuming(one)
    yield one, other
    for house, engine in zip((one, other), engines, strict=True):
        house.close()
        engine.close()


def is_assuming(house):
    return house.ledger._store.assumed_head() is not None


def withdraw(amount=1, player="anna"):
    return Withdraw(f"player:{player}", "EUR", amount)


async def together(house, *asked):
    """Have commands with their ids decided in one turn, each for itself."""
    requests = [house.request(command, request_id) for command, request_id in asked]
    return await house.ledger.enqueue(requests, atomic=False)


def log(raw):
    return raw.xrange(KEYS.log)


async def test_a_command_costs_one_call_of_the_engine(houses, raw):
    one, _ = houses
    raw.config_resetstat()
    await one.deposit("anna", 5)
    calls = {name: stat["calls"] for name, stat in raw.info("commandstats").items()}
    assert calls["cmdstat_evalsha"] == 1


async def test_what_another_process_recorded_meanwhile_is_decided_on(houses):
    one, other = houses
    await other.deposit("anna", 7)
    assert is_assuming(one)
    receipt = await one.ask(withdraw(7))
    assert receipt.first == ALONE + 3
    assert one.ledger.balance("player:anna", "EUR") == 0
    assert one.watcher.conflicts == []


async def test_a_refusal_rests_on_a_look(houses):
    one, other = houses
    await refused(one.ask(withdraw(7), "early"), Reason.INSUFFICIENT_FUNDS)
    await other.deposit("anna", 7)
    assert is_assuming(one)
    assert (await one.ask(withdraw(7), "late")).first == ALONE + 3


async def test_a_refusal_beside_what_is_recorded_rests_on_the_same_state(houses):
    one, other = houses
    await other.deposit("anna", 7)
    assert is_assuming(one)
    deposit, withdrawal = await together(one, (withdraw(1, "bert"), "b"), (withdraw(7), "a"))
    assert (deposit.first, withdrawal.first) == (ALONE + 3, ALONE + 4)


async def test_what_was_recorded_through_another_process_is_not_done_again(houses, raw):
    one, other = houses
    await one.deposit("anna", 7)
    receipt = await other.ask(withdraw(3), "once")
    assert is_assuming(one)
    assert await one.ask(withdraw(3), "once") == receipt
    assert len(log(raw)) == receipt.last


async def test_a_retry_of_its_own_gets_its_receipt_without_a_second_doing(houses, raw):
    one, _ = houses
    await one.deposit("anna", 7)
    receipt = await one.ask(withdraw(3), "once")
    assert is_assuming(one)
    assert await one.ask(withdraw(3), "once") == receipt
    assert len(log(raw)) == receipt.last


async def test_a_retry_that_would_be_refused_now_gets_its_receipt_beside_new_commands(houses, raw):
    one, _ = houses
    await one.deposit("anna", 7)
    receipt = await one.ask(withdraw(7), "all")
    assert is_assuming(one)
    new, again = await together(one, (withdraw(1, "bert"), "new"), (withdraw(7), "all"))
    assert again == receipt
    assert new.first == receipt.last + 1
    assert len(log(raw)) == new.last


async def test_a_retry_that_would_be_refused_now_gets_its_receipt(houses):
    one, _ = houses
    await one.deposit("anna", 7)
    receipt = await one.ask(withdraw(7), "all")
    assert is_assuming(one)
    assert await one.ask(withdraw(7), "all") == receipt


async def test_an_id_that_is_used_for_something_else_is_refused(houses):
    one, _ = houses
    await one.deposit("anna", 7)
    await one.ask(withdraw(3), "once")
    assert is_assuming(one)
    await refused(one.ask(withdraw(4), "once"), Reason.REQUEST_ID_REUSED)
    assert one.ledger.balance("player:anna", "EUR") == 4


async def test_a_log_that_went_back_is_noticed_by_the_next_command(houses, raw):
    one, _ = houses
    kept = {key: raw.dump(key) for key in raw.scan_iter()}
    await one.deposit("anna", 7)
    assert is_assuming(one)
    raw.flushall()
    for key, dumped in kept.items():
        raw.restore(key, 0, dumped)
    await refused(one.deposit("anna", 1), Reason.LEDGER_FENCED)
    assert one.watcher.fenced == {LEDGER: f"the head went back from {ALONE + 2} to {ALONE + 1}"}


async def test_whoever_writes_and_however_the_books_are_those_of_one_order(houses, raw):
    """Bursts of one process, then of the other, so that both come to assume and to be wrong."""
    chance = random.Random(7)
    accepted = 0
    for burst in range(30):
        house = chance.choice(houses)
        for number in range(chance.choice((1, 3, 2 * ALONE))):
            asked = [
                (withdraw(1, chance.choice(("bert", "anna"))), f"{burst}.{number}.{turn}")
                for turn in range(chance.randint(1, 3))
            ]
            asked.append((withdraw(1, "bert"), f"{chance.randint(0, burst)}.0.0"))
            await house.deposit(chance.choice(("bert", "anna")), 2, f"{burst}.{number}")
            await together(house, *asked)
    one, other = houses
    await asyncio.gather(one.deposit("anna", 1), other.deposit("anna", 1))
    ids = set()
    for _, record in log(raw):
        ids.add(record[b"b"])
        accepted += 1
    assert len(ids) == accepted == raw.hlen(KEYS.requests)
    assert dict(one.ledger.balances()) == dict(other.ledger.balances())
    assert min(one.ledger.balance(f"player:{who}", "EUR") for who in ("anna", "bert")) >= 0
    assert sum(dict(one.ledger.balances()).values()) == 0
