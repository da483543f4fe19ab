"""Answers wait until their commit is as safe as was asked for, and keep nobody else waiting."""

from __future__ import annotations

import asyncio
from collections import deque
from threading import Event

import pytest

from croupier.domain.errors import Reason
from croupier.services.ledger.requests import Withdraw
from tests.support.ledgers import House, refused
from tests.support.waiting import soon


class Confirming:
    """A store whose commits are safe when the test says so."""

    durability = "fsync"
    asked = "fsync+replicas:1"

    def __init__(self, store):
        self._store = store
        self._unconfirmed = False
        self.marks = []
        self.may_mark = True
        self.levels = deque()
        self.waits = []

    def __getattr__(self, name):
        return getattr(self._store, name)

    def commit(self, records, commit):
        self._store.commit(records, commit)
        self._unconfirmed = True

    def mark(self, head):
        self.marks.append(head.position)
        self._unconfirmed |= self.may_mark
        return self.may_mark

    def confirm(self):
        if not self._unconfirmed:
            return None
        self._unconfirmed = False
        done = Event()
        self.waits.append(done)
        level = self.levels.popleft() if self.levels else "fsync+replicas:1"

        def wait():
            assert done.wait(30)
            return level

        return wait


@pytest.fixture
async def confirming(tmp_path):
    stores = []

    def wrap(store):
        stores.append(Confirming(store))
        return stores[-1]

    house = House(tmp_path, wrap=wrap)
    creating = asyncio.ensure_future(house.create())
    await turns(lambda: stores and stores[0].waits)
    stores[0].waits[0].set()
    await creating
    stores[0].waits.clear()
    yield house, stores[0]
    house.close()


async def turns(holds):
    """Let the loop go on until something holds."""

    async def ask():
        return holds()

    await soon("it is so", ask)


async def test_an_answer_waits_and_says_what_was_reached(confirming):
    house, store = confirming
    asking = asyncio.ensure_future(house.deposit("anna", 5))
    await turns(lambda: store.waits)
    # It is recorded, and read; only its answer waits.
    assert house.ledger.balance("player:anna", "EUR") == 5
    assert not asking.done()
    store.waits[0].set()
    assert (await asking).durability == "fsync+replicas:1"


async def test_turns_go_on_meanwhile_and_are_waited_for_together(confirming):
    house, store = confirming
    first = asyncio.ensure_future(house.deposit("anna", 5))
    await turns(lambda: store.waits)
    later = []
    for number in range(1, 4):
        later.append(asyncio.ensure_future(house.deposit("anna", 1)))
        await turns(lambda number=number: house.ledger.head().position == 2 + number)
    assert len(store.waits) == 1
    assert not any(one.done() for one in (first, *later))
    store.waits[0].set()
    await first
    await turns(lambda: len(store.waits) == 2)
    assert not any(one.done() for one in later)
    store.waits[1].set()
    receipts = await asyncio.gather(*later)
    assert [receipt.last for receipt in receipts] == [3, 4, 5]
    assert {receipt.durability for receipt in receipts} == {"fsync+replicas:1"}


async def test_a_refusal_waits_for_what_it_rests_on(confirming):
    house, store = confirming
    paying = asyncio.ensure_future(house.ask(Withdraw("house", "EUR", 1)))
    await refused(paying, Reason.INSUFFICIENT_FUNDS)
    depositing = asyncio.ensure_future(house.deposit("anna", 5))
    await turns(lambda: store.waits)
    refusing = asyncio.ensure_future(house.ask(Withdraw("player:anna", "EUR", 6)))
    await turns(lambda: house.ledger._writer._answering._turns)
    assert not refusing.done()
    store.waits[0].set()
    await depositing
    await refused(refusing, Reason.INSUFFICIENT_FUNDS)
    assert len(store.waits) == 1


async def test_what_is_not_reached_in_time_is_said_and_no_error(confirming):
    house, store = confirming
    store.levels.extend(["fsync", "fsync+replicas:1"])
    for level in ("fsync", "fsync+replicas:1"):
        store.waits.clear()
        asking = asyncio.ensure_future(house.deposit("anna", 5, f"reached {level}"))
        await turns(lambda: store.waits)
        store.waits[0].set()
        assert (await asking).durability == level
    # With the later one the earlier one was confirmed, too.
    assert (await house.deposit("anna", 5, "reached fsync")).durability == "fsync+replicas:1"
    assert store.waits[1:] == []


# --- asking again -----------------------------------------------------------------------------


async def reached(house, store, level, request_id="d"):
    """Ask, let the wait for it end with a level, and return the level of the receipt."""
    store.levels.append(level)
    store.waits.clear()
    asking = asyncio.ensure_future(house.deposit("anna", 5, request_id))
    await turns(lambda: store.waits)
    assert not asking.done()
    store.waits[0].set()
    return (await asking).durability


async def test_a_retry_of_what_was_never_confirmed_says_what_is_found_now(confirming):
    house, store = confirming
    for level in ("fsync", "fsync", "fsync+replicas:1"):
        assert await reached(house, store, level) == level
    assert store.marks == [2, 2]


async def test_of_what_is_known_to_be_safe_nothing_more_is_asked(confirming):
    house, store = confirming
    assert await reached(house, store, "fsync", "before") == "fsync"
    assert await reached(house, store, "fsync+replicas:1") == "fsync+replicas:1"
    for request_id in ("before", "d"):
        receipt = await house.deposit("anna", 5, request_id)
        assert receipt.durability == "fsync+replicas:1"
    assert store.marks == []
    assert len(store.waits) == 1


async def test_a_part_of_what_was_asked_for_is_said_and_asked_for_again(confirming):
    house, store = confirming
    store.asked = "fsync+replicas:2"
    assert await reached(house, store, "fsync+replicas:1") == "fsync+replicas:1"
    # Less is known now, and what was known stays known.
    assert await reached(house, store, "fsync") == "fsync+replicas:1"
    assert await reached(house, store, "fsync+replicas:2") == "fsync+replicas:2"
    assert store.marks == [2, 2]


async def test_who_asks_again_while_others_wait_is_told_what_they_are_told(confirming):
    house, store = confirming
    assert await reached(house, store, "fsync") == "fsync"
    store.waits.clear()
    store.levels.append("fsync")
    retries = [asyncio.ensure_future(house.deposit("anna", 5, "d"))]
    await turns(lambda: store.waits)
    for count in range(1, 4):
        retries.append(asyncio.ensure_future(house.deposit("anna", 5, "d")))
        waiting = house.ledger._writer._answering._turns
        await turns(lambda count=count, waiting=waiting: len(waiting) == count)
    assert len(store.waits) == len(store.marks) == 1
    store.waits[0].set()
    # It was found out after they had asked: nobody waits twice as long.
    assert {one.durability for one in await asyncio.gather(*retries)} == {"fsync"}
    assert len(store.waits) == len(store.marks) == 1
    assert await reached(house, store, "fsync+replicas:1") == "fsync+replicas:1"


async def test_where_the_log_goes_on_elsewhere_a_retry_claims_no_more_and_waits_for_nobody(
    confirming,
):
    house, store = confirming
    assert await reached(house, store, "fsync") == "fsync"
    store.waits.clear()
    store.may_mark = False
    assert (await house.deposit("anna", 5, "d")).durability == "fsync"
    assert store.waits == []


async def test_a_refusal_asks_for_no_confirmation_of_its_own(confirming):
    house, store = confirming
    assert await reached(house, store, "fsync") == "fsync"
    await refused(house.ask(Withdraw("player:anna", "EUR", 6)), Reason.INSUFFICIENT_FUNDS)
    assert store.marks == []


async def test_what_another_process_committed_later_is_not_confirmed_with_ours(
    confirming, tmp_path
):
    house, store = confirming
    store.may_mark = False
    asking = [asyncio.ensure_future(house.deposit("anna", 5, "first"))]
    await turns(lambda: store.waits)
    # While that is waited for we commit once more, then another process does.
    asking.append(asyncio.ensure_future(house.deposit("anna", 5, "ours")))
    await turns(lambda: house.ledger.head().position == 3)
    other = House(tmp_path)
    assert (await other.deposit("anna", 5, "theirs")).last == 4
    other.close()
    asking.append(asyncio.ensure_future(house.deposit("anna", 5, "theirs")))
    await turns(lambda: len(house.ledger._writer._answering._turns) == 2)
    store.waits[0].set()
    await turns(lambda: len(store.waits) == 2)
    store.waits[1].set()
    levels = [(one.last, one.durability) for one in await asyncio.gather(*asking)]
    assert levels == [(2, "fsync+replicas:1"), (3, "fsync+replicas:1"), (4, "fsync")]


# --- the end ----------------------------------------------------------------------------------


async def test_draining_waits_for_answers_that_wait(confirming):
    house, store = confirming
    asking = asyncio.ensure_future(house.deposit("anna", 5))
    await turns(lambda: store.waits)
    draining = asyncio.ensure_future(house.ledgers.drain())
    await asyncio.sleep(0.01)
    assert not draining.done()
    store.waits[0].set()
    await draining
    assert asking.done()


async def test_who_does_not_wait_any_more_is_left_out(confirming):
    house, store = confirming
    asking = asyncio.ensure_future(house.deposit("anna", 5))
    await turns(lambda: store.waits)
    asking.cancel()
    store.waits[0].set()
    await house.ledgers.drain()
    assert house.ledger.balance("player:anna", "EUR") == 5
