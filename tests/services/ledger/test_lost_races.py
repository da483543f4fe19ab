"""Turns that somebody else was faster than: decided again, on what he left, and nothing else."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger import pace
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import Withdraw
from croupier.services.ledger.snapshots import Policy
from croupier.services.store.store import HeadMovedError
from tests.support.ledgers import House, refused
from tests.support.waiting import soon


class Contested:
    """A store in which others commit just before us, as often as a test says."""

    def __init__(self, store):
        self._store = store
        self.before = deque()
        self.sizes = []

    def __getattr__(self, name):
        return getattr(self._store, name)

    def commit(self, records, commit):
        self.sizes.append(len(commit.requests))
        if self.before:
            self.before.popleft()()
            raise HeadMovedError("somebody else was first")
        self._store.commit(records, commit)


@pytest.fixture
async def contested(tmp_path):
    """Return a house, its store, and a house in another process, as it were."""
    stores = []

    def wrap(store):
        stores.append(Contested(store))
        return stores[-1]

    house, other = House(tmp_path, wrap=wrap), House(tmp_path)
    await house.create()
    await house.deposit("anna", 100)
    stores[0].sizes.clear()
    yield house, stores[0], other
    house.close()
    other.close()


def nothing():
    pass


async def test_each_request_is_decided_on_the_head_that_it_is_recorded_on(contested):
    house, store, other = contested
    withdrawn = []

    def withdraw():
        # The lock that both have on this machine is ours now; without it this is how it goes.
        other.ledger._writer._store.try_lock = lambda: True
        withdrawn.append(asyncio.ensure_future(other.ask(Withdraw("player:anna", "EUR", 80))))

    async def is_withdrawn():
        return withdrawn and withdrawn[0].done()

    store.before.append(withdraw)
    asking = asyncio.ensure_future(house.ask(Withdraw("player:anna", "EUR", 50)))
    await soon("it is withdrawn", is_withdrawn)
    # What was enough when it was decided first is not enough any more.
    caught = await refused(asking, Reason.INSUFFICIENT_FUNDS)
    assert caught.reason is Reason.INSUFFICIENT_FUNDS
    assert other.ledger.balance("player:anna", "EUR") == 20
    assert len(house.log()) == 3


async def test_the_order_of_requests_stays_and_each_is_recorded_once(contested):
    house, store, _ = contested
    store.before.extend([nothing] * 5)
    receipts = await asyncio.gather(*(house.deposit("anna", 1) for _ in range(30)))
    assert [receipt.first for receipt in receipts] == list(range(3, 33))
    assert house.ledger.balance("player:anna", "EUR") == 130
    assert len(house.log()) == 32


async def test_turns_get_shorter_while_they_are_in_vain_and_longer_afterwards(contested):
    house, store, _ = contested
    house.ledger._writer._pace = pace.Pace(32)
    store.before.extend([nothing] * 4)
    await asyncio.gather(*(house.deposit("anna", 1) for _ in range(100)))
    assert store.sizes[:6] == [32, 16, 8, 4, 2, 3]
    assert store.sizes[-1] > 4
    assert sum(store.sizes[4:]) == 100


async def test_a_batch_of_all_or_nothing_is_not_divided(contested):
    house, store, _ = contested
    house.ledger._writer._pace = pace.Pace(4)
    store.before.extend([nothing] * 3)
    requests = [
        house.request(Withdraw("player:anna", "EUR", 1), f"together-{number}")
        for number in range(20)
    ]
    answers = await house.ledger.enqueue(requests, atomic=True)
    assert [answer.first for answer in answers] == list(range(3, 23))
    assert store.sizes == [20, 20, 20, 20]


async def test_who_has_gone_meanwhile_is_left_out(contested):
    house, store, _ = contested
    waiting = [
        house.ledger.enqueue([house.request(Withdraw("player:anna", "EUR", 1))], atomic=False)
        for _ in range(2)
    ]
    store.before.append(waiting[0].cancel)
    (receipt,) = await waiting[1]
    assert receipt.first == 3
    assert len(house.log()) == 3


async def test_callers_are_not_kept_waiting_for_ever(contested, monkeypatch):
    house, store, _ = contested
    monkeypatch.setattr(pace, "LOST_MAX", 5)
    store.before.extend([nothing] * 5)
    before = house.books()
    with pytest.raises(Refused) as caught:
        await house.deposit("anna", 1, "late")
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert house.books() == before
    assert (await house.deposit("anna", 1, "late")).last == 3


async def test_a_deadline_that_passes_meanwhile_ends_the_request(contested):
    house, store, _ = contested

    def later():
        house.clock.now_us += 10

    store.before.append(later)
    asking = house.deposit("anna", 1, deadline_us=house.clock.now_us + 5)
    await refused(asking, Reason.DEADLINE_PASSED)
    assert len(house.log()) == 2


async def test_a_snapshot_that_went_along_goes_along_again(tmp_path):
    stores = []

    def wrap(store):
        stores.append(Contested(store))
        return stores[-1]

    limits = Limits(snapshots=Policy(table_events=1, book_events=1))
    house = House(tmp_path, wrap=wrap, limits=limits)
    await house.create()
    await house.open_table()
    await house.ledger._writer.snapshots.take_if_due(house.ledger._writer.committed.book)
    stores[0].before.extend([nothing] * 3)
    await house.deposit("anna", 1)
    assert house.watcher.dropped == []
    assert sorted(house.watcher.saved) == ["book", "table"]
    house.close()


async def test_draining_waits_for_turns_that_are_decided_again(contested):
    house, store, _ = contested
    store.before.extend([nothing] * 3)
    asking = asyncio.ensure_future(house.deposit("anna", 1))
    await asyncio.sleep(0)
    await house.ledgers.drain()
    assert asking.done()
