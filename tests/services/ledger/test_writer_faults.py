"""When the engine fails: what was acknowledged is there, what was not can be asked again."""

from __future__ import annotations

import asyncio

import pytest
from eventsourcing.persistence import OperationalError

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger import committed
from croupier.services.ledger.requests import Deposit
from tests.support.ledgers import LEDGER, Faulty, House, refused


@pytest.fixture
async def faulty(tmp_path):
    """Return a house and its store, whose faults can be named."""
    stores = []

    def wrap(store):
        stores.append(Faulty(store))
        return stores[-1]

    house = House(tmp_path, wrap=wrap)
    await house.create()
    await house.deposit("anna", 1000)
    yield house, stores[0]
    house.close()


async def test_a_commit_that_failed_is_not_recorded_and_can_be_asked_again(faulty):
    house, store = faulty
    before = house.books()
    store.fault = "fails"
    await refused(house.deposit("anna", 5, "d"), Reason.STORE_UNAVAILABLE)
    assert house.books() == before
    assert (await house.deposit("anna", 5, "d")).last == before[0].position + 1
    assert house.ledger.balance("player:anna", "EUR") == 1005


async def test_a_commit_that_failed_but_persisted_is_acknowledged(faulty):
    house, store = faulty
    store.fault = "fails_but_persisted"
    receipt = await house.deposit("anna", 5, "d")
    assert (await house.deposit("anna", 5, "d")).events == receipt.events
    assert house.ledger.balance("player:anna", "EUR") == 1005


async def test_a_commit_of_which_nobody_knows_is_found_by_its_request_id(faulty):
    house, store = faulty
    store.fault, store.then = "fails_but_persisted", "head_fails"
    await refused(house.deposit("anna", 5, "d"), Reason.STORE_UNAVAILABLE)
    assert (await house.deposit("anna", 5, "d")).last == 3
    assert house.ledger.balance("player:anna", "EUR") == 1005
    assert len(house.log()) == 3


async def test_what_lost_a_race_for_the_head_is_decided_again(faulty):
    house, store = faulty
    store.fault = store.then = "head_moved"
    receipt = await house.deposit("anna", 5, "d")
    assert (receipt.first, receipt.last) == (3, 3)
    assert store.fault == store.then == ""
    assert len(house.log()) == 3
    assert house.watcher.conflicts == [LEDGER] * 2


async def test_a_head_that_went_back_fences_the_ledger(faulty):
    house, store = faulty
    store.fault = "head_of_an_older_copy"
    await refused(house.deposit("anna", 5), Reason.LEDGER_FENCED)
    assert "went back from 2 to 0" in house.watcher.fenced[LEDGER]
    # It stays fenced, for reads too, until an operator has looked.
    await refused(house.deposit("anna", 5), Reason.LEDGER_FENCED)
    with pytest.raises(Refused, match="waits for an operator"):
        house.ledger.head()


async def test_a_head_that_went_back_while_nobody_knew_fences_the_ledger(faulty):
    house, store = faulty
    store.fault, store.then = "fails_but_persisted", "head_fails"
    await refused(house.deposit("anna", 5), Reason.STORE_UNAVAILABLE)
    store.fault = "head_of_an_older_copy"
    await refused(house.deposit("anna", 5), Reason.LEDGER_FENCED)


async def test_a_head_that_makes_no_sense_fences_the_ledger(faulty):
    house, store = faulty
    store.fault = "head_is_corrupt"
    await refused(house.deposit("anna", 5), Reason.LEDGER_FENCED)
    assert house.watcher.fenced == {LEDGER: "a frontier of 7 bytes"}


async def test_a_watcher_that_fails_keeps_nobody_from_his_receipt(faulty, monkeypatch):
    house, _ = faulty

    def broken(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(house.watcher, "turn_committed", broken)
    receipts = await asyncio.gather(house.deposit("anna", 5), house.deposit("bert", 5))
    assert [receipt.last for receipt in receipts] == [3, 4]


@pytest.mark.parametrize("fault, then", [("lock_fails", ""), ("lock_is_held", "waiting_fails")])
async def test_a_lock_that_cannot_be_taken_is_said_and_can_be_asked_again(faulty, fault, then):
    house, store = faulty
    before = house.books()
    store.fault, store.then = fault, then
    await refused(house.deposit("anna", 5, "d"), Reason.STORE_UNAVAILABLE)
    assert house.books() == before
    assert (await house.deposit("anna", 5, "d")).last == 3


async def test_a_lock_held_by_another_process_is_waited_for(faulty):
    house, store = faulty
    store.fault = "lock_is_held"
    assert (await house.deposit("anna", 5)).last == 3


async def test_a_lock_that_cannot_be_given_back_keeps_nobody_from_his_receipt(faulty):
    house, store = faulty
    store.fault = "unlock_fails"
    assert (await house.deposit("anna", 5)).last == 3
    assert (await house.deposit("anna", 5)).last == 4


class Torn:
    """A store whose records cannot be read, beginning with one of the next pages."""

    def __init__(self, store):
        self._store = store
        self.pages = None

    def __getattr__(self, name):
        return getattr(self._store, name)

    def records(self, after, limit):
        if self.pages is not None:
            if not self.pages:
                raise OperationalError("the connection was lost")
            self.pages -= 1
        return self._store.records(after, limit)


@pytest.mark.parametrize("pages", [0, 2])
@pytest.mark.parametrize("ask", ["read", "command"])
async def test_a_state_that_is_half_caught_up_answers_nobody(tmp_path, monkeypatch, pages, ask):
    """Neither as it was, nor as it never was: in the middle of what was all or nothing."""
    monkeypatch.setattr(committed, "PAGE", 10)
    stores = []

    def wrap(store):
        stores.append(Torn(store))
        return stores[-1]

    house, other = House(tmp_path, wrap=wrap), House(tmp_path)
    await house.create()
    await house.deposit("anna", 100)
    assert house.ledger.balance("player:anna", "EUR") == 100
    requests = [other.request(Deposit("player:anna", "EUR", 1), f"d{n}") for n in range(45)]
    await other.ledger.enqueue(requests, atomic=True)
    (store,) = stores
    store.pages = pages
    if ask == "command":
        await refused(house.deposit("anna", 1000, "d"), Reason.STORE_UNAVAILABLE)
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            house.ledger.balance("player:anna", "EUR")
        assert caught.value.reason is Reason.STORE_UNAVAILABLE
        store.pages = 0
        with pytest.raises(Refused):
            house.ledger.head()
    store.pages = None
    assert house.ledger.balance("player:anna", "EUR") == 145
    assert house.ledger.head() == other.ledger.head()
    assert (await house.deposit("anna", 1000, "d")).last == 48
    house.close()
    other.close()
