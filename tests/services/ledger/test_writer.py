"""The writer: one order, one commit for all who waited, and an answer that always holds."""

from __future__ import annotations

import asyncio

import pytest

from croupier.domain.commands import Decline, PostBank
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import CloseTable, CreateLedger, Deposit, Withdraw
from tests.support.ledgers import LEDGER, Clock, House, refused

SECOND_US = 1_000_000


@pytest.fixture
async def house(tmp_path):
    house = House(tmp_path)
    await house.create()
    yield house
    house.close()


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
    def broken(*args, **how):
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
    monkeypatch.setattr("croupier.services.ledger.deciding.table_postings", lambda *_, **__: ())
    before = house.books()
    with pytest.raises(AssertionError, match="escrow of t1 would hold 0, its state 50 at risk"):
        await house.play(PostBank("anna", 50))
    assert house.books() == before


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
