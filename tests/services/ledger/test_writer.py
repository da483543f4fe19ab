"""The writer: one order, one commit for all who waited, and an answer that always holds."""

from __future__ import annotations

import asyncio

import pytest
from eventsourcing.persistence import OperationalError

from croupier.domain.commands import Decline, Fade, PostBank, Roll
from croupier.domain.dice import Source
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.requests import CloseTable, CreateLedger, Deposit, Withdraw
from croupier.services.ledger.writer import Limits
from croupier.services.store.store import Head, HeadMovedError
from tests.support.ledgers import LEDGER, Clock, House

SECOND_US = 1_000_000


class Faulty:
    """A store with named faults, each of which happens once."""

    def __init__(self, store):
        self._store = store
        self.fault = ""
        self.then = ""

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _take(self, *names):
        if self.fault in names:
            fault, self.fault, self.then = self.fault, self.then, ""
            return fault
        return ""

    def commit(self, records, commit):
        match self._take("fails", "fails_but_persisted", "head_moved"):
            case "fails":
                raise OperationalError("disk full")
            case "fails_but_persisted":
                self._store.commit(records, commit)
                raise OperationalError("connection lost")
            case "head_moved":
                raise HeadMovedError("somebody else was first")
        self._store.commit(records, commit)

    def head(self):
        match self._take("head_fails", "head_of_an_older_copy"):
            case "head_fails":
                raise OperationalError("no answer")
            case "head_of_an_older_copy":
                return Head()
        return self._store.head()


@pytest.fixture
async def house(tmp_path):
    house = House(tmp_path)
    await house.create()
    yield house
    house.close()


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


async def refused(awaitable, reason):
    with pytest.raises(Refused) as caught:
        await awaitable
    assert caught.value.reason is reason
    return caught.value


async def test_all_who_wait_are_recorded_with_one_commit(house):
    before = len(house.watcher.commits)
    receipts = await asyncio.gather(*(house.deposit("anna", 1) for _ in range(100)))
    assert len(house.watcher.commits) == before + 1
    assert [receipt.last for receipt in receipts] == list(range(2, 102))
    assert house.ledger.balance("player:anna", "EUR") == 100


async def test_a_batch_never_exceeds_its_limit(tmp_path):
    house = House(tmp_path, limits=Limits(batch=10))
    await house.create()
    await asyncio.gather(*(house.deposit("anna", 1) for _ in range(25)))
    assert [commands for _, _, commands in house.watcher.commits[1:]] == [10, 10, 5]
    house.close()


async def test_a_refusal_drops_its_own_command_and_nothing_else(house):
    await house.deposit("anna", 100)
    results = await asyncio.gather(
        house.ask(Withdraw("player:anna", "EUR", 60)),
        house.ask(Withdraw("player:anna", "EUR", 60)),
        house.ask(Withdraw("player:anna", "EUR", 40)),
        return_exceptions=True,
    )
    assert [isinstance(result, Refused) for result in results] == [False, True, False]
    assert results[1].reason is Reason.INSUFFICIENT_FUNDS
    assert results[1].metadata["available"] == "40"
    assert house.ledger.balance("player:anna", "EUR") == 0


async def test_a_refusal_in_the_middle_of_a_commands_money_leaves_no_trace(house):
    await house.deposit("anna", 500)
    await house.open_table(payout="multiplied")
    before = house.books()
    # The bank is covered, the reserve for multiplied wins is not.
    refusal = await refused(house.play(PostBank("anna", 500)), Reason.INSUFFICIENT_FUNDS)
    assert refusal.metadata["account"] == "player:anna"
    assert house.books() == before


async def test_the_same_request_twice_in_one_turn_is_one_command(house):
    first, second = await asyncio.gather(
        house.deposit("anna", 5, "once"), house.deposit("anna", 5, "once")
    )
    assert first == second
    assert house.ledger.balance("player:anna", "EUR") == 5


async def test_a_request_id_reused_in_one_turn_for_another_body_is_refused(house):
    results = await asyncio.gather(
        house.deposit("anna", 5, "once"), house.deposit("anna", 6, "once"), return_exceptions=True
    )
    assert results[0].last == 2
    assert results[1].reason is Reason.REQUEST_ID_REUSED
    assert house.ledger.balance("player:anna", "EUR") == 5


async def test_a_retry_gets_the_original_receipt_even_after_the_table_closed(house):
    await house.deposit("anna", 100)
    await house.open_table()
    original = await house.play(PostBank("anna", 100), request_id="post")
    for player in ("bert", "cleo", "dora"):
        await house.play(Decline(player))
    await house.ask(CloseTable("t1"))
    assert await house.play(PostBank("anna", 100), request_id="post") == original
    await refused(house.play(PostBank("anna", 100), round_number=2), Reason.TABLE_CLOSED)


async def test_a_retry_ignores_conditions_that_held_when_it_was_accepted(house):
    soon = house.clock.now_us + SECOND_US
    original = await house.deposit("anna", 5, "once", not_after_us=soon, expected_version=0)
    house.clock.now_us += 10 * SECOND_US
    assert await house.deposit("anna", 5, "once", not_after_us=soon, expected_version=0) == original
    await refused(house.deposit("anna", 5, "late", not_after_us=soon), Reason.REQUEST_EXPIRED)


async def test_another_callers_same_request_id_is_another_request(house):
    first = await house.deposit("anna", 5, "once", caller="desk")
    second = await house.deposit("anna", 5, "once", caller="cage")
    assert (first.last, second.last) == (2, 3)


async def test_a_refused_request_id_may_be_used_again(house):
    withdraw = Withdraw("player:anna", "EUR", 5)
    await refused(house.ask(withdraw, "w"), Reason.INSUFFICIENT_FUNDS)
    await house.deposit("anna", 5)
    assert (await house.ask(withdraw, "w")).last == 3


async def test_a_stale_version_is_refused_with_the_current_one(house):
    await house.deposit("anna", 5)
    refusal = await refused(house.deposit("anna", 5, expected_version=0), Reason.VERSION_MISMATCH)
    assert refusal.metadata["version"] == "1"


async def test_a_command_whose_deadline_passed_is_not_decided(house):
    before = house.books()
    await refused(house.deposit("anna", 5, deadline_us=house.clock.now_us), Reason.DEADLINE_PASSED)
    assert house.books() == before


async def test_a_caller_who_has_gone_is_not_decided_for(house):
    before = house.books()
    asked = asyncio.ensure_future(house.deposit("anna", 5))
    staying = asyncio.ensure_future(house.deposit("bert", 7))
    await asyncio.sleep(0)
    asked.cancel()
    assert (await staying).last == before[0].position + 1
    assert "player:anna" not in {account for account, _ in house.ledger.balances()}


async def test_beyond_the_queues_limit_callers_are_told_to_come_back(tmp_path):
    house = House(tmp_path, limits=Limits(queue=3))
    await house.create()
    results = await asyncio.gather(
        *(house.deposit("anna", 1) for _ in range(5)), return_exceptions=True
    )
    assert [getattr(result, "reason", None) for result in results] == [
        None, None, None, Reason.QUEUE_FULL, Reason.QUEUE_FULL,
    ]  # fmt: skip
    assert house.ledger.balance("player:anna", "EUR") == 3
    house.close()


async def test_recorded_time_never_goes_back(house):
    first = await house.deposit("anna", 1)
    house.clock.now_us -= 3 * SECOND_US
    second = await house.deposit("anna", 1)
    assert first.events[0].recorded_time == second.events[0].recorded_time


async def test_a_clock_too_far_behind_the_log_refuses(house):
    await house.deposit("anna", 1)
    before = house.books()
    house.clock.now_us -= 6 * SECOND_US
    await refused(house.deposit("anna", 1), Reason.CLOCK_BEHIND)
    assert house.books() == before


async def test_a_fault_in_one_command_is_that_commands_answer_only(house, monkeypatch):
    def broken(*args):
        raise ZeroDivisionError

    await house.deposit("anna", 100)
    await house.open_table()
    monkeypatch.setattr("croupier.services.ledger.deciding.table_postings", broken)
    before = house.books()
    results = await asyncio.gather(
        house.play(PostBank("anna", 50)), house.deposit("bert", 1), return_exceptions=True
    )
    assert isinstance(results[0], ZeroDivisionError)
    assert results[1].last == before[0].position + 1


async def test_escrow_that_differs_from_the_state_is_never_recorded(house, monkeypatch):
    await house.deposit("anna", 100)
    await house.open_table()
    monkeypatch.setattr("croupier.services.ledger.deciding.table_postings", lambda *_: ())
    before = house.books()
    with pytest.raises(AssertionError, match="escrow of t1 would hold 0, its state 50 at risk"):
        await house.play(PostBank("anna", 50))
    assert house.books() == before


# --- when the engine fails -----------------------------------------------------------


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


async def test_a_lost_race_for_the_head_records_nothing(faulty):
    house, store = faulty
    before = house.books()
    store.fault = "head_moved"
    await refused(house.deposit("anna", 5, "d"), Reason.STORE_UNAVAILABLE)
    assert house.books() == before


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


# --- several processes ---------------------------------------------------------------


async def test_a_withdrawal_through_one_follows_a_deposit_through_the_other(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    await one.deposit("anna", 100)
    assert (await other.ask(Withdraw("player:anna", "EUR", 100))).last == 3
    assert one.ledger.balance("player:anna", "EUR") == 0
    one.close()
    other.close()


async def test_a_table_played_through_two_writers_has_one_order(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    await one.deposit("anna", 100)
    await other.deposit("bert", 100)
    await one.open_table()
    await other.play(PostBank("anna", 100))
    await one.play(Fade("bert", 100))
    roll = Roll("anna", (1, 2, 4), Source("dealer", "kim"))
    receipts = await asyncio.gather(
        *(one.play(roll, request_id=f"a{n}") for n in range(20)),
        *(other.play(roll, request_id=f"b{n}") for n in range(20)),
    )
    assert sorted(receipt.version for receipt in receipts) == list(range(6, 46))
    assert one.books() == other.books()
    one.close()
    other.close()


async def test_a_request_accepted_through_one_is_a_retry_through_the_other(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    assert await one.deposit("anna", 5, "d") == await other.deposit("anna", 5, "d")
    one.close()
    other.close()


async def test_a_ledger_exists_once(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    original = await one.create()
    assert (await other.create()).events == original.events
    again = other.request(CreateLedger(LEDGER), "again")
    await refused(other.ledgers.create(LEDGER, again), Reason.LEDGER_EXISTS)
    one.close()
    other.close()


async def test_a_request_that_came_too_late_makes_no_ledger(tmp_path):
    house = House(tmp_path, clock=Clock(5 * SECOND_US))
    late = house.request(CreateLedger(LEDGER), not_after_us=4 * SECOND_US)
    await refused(house.ledgers.create(LEDGER, late), Reason.REQUEST_EXPIRED)
    assert list(tmp_path.iterdir()) == []


async def test_nothing_enters_a_ledger_that_does_not_exist(tmp_path):
    house = House(tmp_path)
    with pytest.raises(Refused) as caught:
        await house.deposit("anna", 1)
    assert caught.value.reason is Reason.LEDGER_NOT_FOUND
    assert list(tmp_path.iterdir()) == []


async def test_a_ledger_reopened_has_the_state_it_had(tmp_path):
    house = House(tmp_path)
    await house.create()
    await house.deposit("anna", 1000)
    await house.open_table()
    await house.play(PostBank("anna", 600))
    before = house.books()
    house.close()
    again = House(tmp_path)
    assert again.books() == before
    again.close()


async def test_tables_beyond_memory_are_replayed_when_needed(tmp_path):
    house = House(tmp_path, limits=Limits(live_tables=2))
    await house.create()
    await house.deposit("anna", 1000)
    for number in range(5):
        await house.open_table(f"t{number}")
    for number in range(5):
        await house.play(PostBank("anna", 10 + number), table=f"t{number}")
    assert house.ledger.live_tables == 2
    assert [table.at_risk for table in house.ledger.tables("", 10)] == [10, 11, 12, 13, 14]
    house.close()


async def test_the_money_of_a_ledger_is_bounded(house):
    await house.deposit("anna", 10**15)
    await refused(house.deposit("bert", 1), Reason.MONEY_SUPPLY_EXCEEDED)
    await house.ask(Withdraw("player:anna", "EUR", 1))
    await house.deposit("bert", 1)


async def test_only_players_and_the_house_have_money_outside(house):
    for account in ("external", "escrow:t1", "bankroll:t1"):
        await refused(house.ask(Deposit(account, "EUR", 1)), Reason.INVALID_ACCOUNT)
