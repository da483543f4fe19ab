"""A ledger that is fenced stays so until an operator accepts what is lost, on the record."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.seen import Seen
from tests.support.ledgers import LEDGER, House, refused
from tests.support.losses import (
    LATER_US,
    WHY,
    check_fenced,
    house_deposit,
    keep,
    look_again,
    place,
    unfence,
)

__all__ = ["place"]


# --- the end of a fence -----------------------------------------------------------------------


async def test_an_operator_ends_the_fence_and_the_log_says_so(place):
    house = place.first
    known = house.ledger.head()
    place.put_back("copy.db")
    await check_fenced(house)
    receipt = await unfence(house, 2)
    assert (receipt.first, receipt.last) == (3, 3)
    (event,) = receipt.events
    assert (event.stream, event.version, event.caller) == ("ledger", 2, "desk")
    said = event.ledger_unfenced
    assert (said.lost_first, said.lost_last) == (3, 5)
    assert said.lost_root == known.frontier.root
    assert said.lost_recorded_us == known.recorded_us
    assert (said.why, said.reason) == ("the head went back from 5 to 2", WHY)
    assert house.watcher.fenced == {}
    assert house.ledger.balance("player:anna", "EUR") == 100
    # What was lost can be asked again, and is recorded anew.
    assert (await house.deposit("anna", 1, "lost-0")).first == 4
    assert (await house.deposit("anna", 100, "kept")).first == 2


async def test_the_end_of_a_fence_holds_after_a_restart(place):
    place.put_back("copy.db")
    await check_fenced(place.first)
    await unfence(place.first, 2)
    place.first.close()
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {}
    assert (await house_deposit(house)).first == 4


async def test_other_processes_find_the_end_of_the_fence_in_the_log(place):
    other = place.house()
    assert other.ledger.head().position == 5
    place.put_back("copy.db")
    await check_fenced(place.first)
    await check_fenced(other)
    look_again(other)
    await check_fenced(other)
    await unfence(place.first, 2)
    look_again(other)
    assert other.watcher.fenced == {}
    assert (await house_deposit(other)).first == 4
    assert (await house_deposit(place.first)).first == 5


async def test_a_process_that_saw_less_of_what_is_lost_is_served_too(place):
    """It stopped at 4 of 5; all it knew is among the positions that the operator gave up."""
    place.put_back("copy.db")
    elsewhere = Seen(place.folder / "another machine")
    known = place.first.ledger.seen
    await check_fenced(place.first)
    await unfence(place.first, 2)
    elsewhere.note(LEDGER, known)
    house = House(place.folder, clock=place.clock, seen=elsewhere)
    house.ledgers.recover()
    assert house.watcher.fenced == {}
    house.close()


async def test_what_is_recorded_after_a_fence_is_not_excused_by_it(place):
    place.put_back("copy.db")
    await check_fenced(place.first)
    await unfence(place.first, 2)
    place.copy("again.db")
    await place.first.deposit("anna", 1)
    keep(place.first)
    place.put_back("again.db")
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {LEDGER: "the head went back from 4 to 3"}


async def test_a_loss_may_be_accepted_after_another(place):
    for position in (2, 3, 4):
        place.put_back("copy.db")
        await check_fenced(place.first)
        await unfence(place.first, position, f"unfence-{position}")
        place.copy("copy.db")
        await house_deposit(place.first)
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {}


async def test_a_log_that_parted_is_accepted_as_it_is(place):
    place.put_back("copy.db")
    elsewhere = House(place.folder, clock=place.clock)
    for number in range(4):
        await elsewhere.deposit("bert", 5, f"other-{number}")
    elsewhere.close()
    await check_fenced(place.first)
    place.clock.now_us += LATER_US
    receipt = await unfence(place.first, 6)
    assert receipt.first == 7
    said = receipt.events[0].ledger_unfenced
    assert (said.lost_first, said.lost_last) == (3, 5)
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {}
    assert house.ledger.balance("player:bert", "EUR") == 20


# --- what does not end a fence ----------------------------------------------------------------


@pytest.fixture
async def fenced(place):
    place.put_back("copy.db")
    await check_fenced(place.first)
    return place


async def check_unchanged(place):
    await check_fenced(place.first)
    assert len(place.first.log()) == 2
    assert place.first.ledgers.fence(LEDGER).last == 5


@pytest.mark.parametrize("position", [1, 3, 5])
async def test_another_position_than_the_logs_end_is_refused(fenced, position):
    refusal = await refused(unfence(fenced.first, position), Reason.VERSION_MISMATCH)
    assert refusal.field == "accept_position"
    assert refusal.metadata == {"position": "2", "expected": str(position)}
    await check_unchanged(fenced)


@pytest.mark.parametrize("reason", ["", "x" * 201, "two\nlines"])
async def test_a_reason_is_needed_for_the_record(fenced, reason):
    await refused(unfence(fenced.first, 2, reason=reason), Reason.INVALID_TEXT)
    await check_unchanged(fenced)


async def test_a_clock_behind_what_was_lost_ends_no_fence(fenced):
    """What is recorded from now on has to be later than all that was lost."""
    fenced.clock.now_us -= 2 * LATER_US
    await refused(unfence(fenced.first, 2), Reason.CLOCK_BEHIND)
    await check_unchanged(fenced)


async def test_a_log_that_was_changed_stays_fenced(fenced):
    with closing(sqlite3.connect(fenced.file)) as file, file:
        file.execute("DROP TRIGGER events_not_updated")
        file.execute("UPDATE stored_events SET state = x'00' WHERE position = 2")
    await refused(unfence(fenced.first, 2), Reason.LEDGER_FENCED)
    await check_fenced(fenced.first)
    assert "does not hold an event" in fenced.first.watcher.fenced[LEDGER]


async def test_a_ledger_that_is_served_has_no_fence_to_end(place):
    await refused(unfence(place.first, 5), Reason.LEDGER_NOT_FENCED)
    with pytest.raises(Refused) as caught:
        place.first.ledgers.fence(LEDGER)
    assert caught.value.reason is Reason.LEDGER_NOT_FENCED
    assert len(place.first.log()) == 5


async def test_a_ledger_that_never_was_has_none_either(place):
    with pytest.raises(Refused) as caught:
        place.first.ledgers.fence("never")
    assert caught.value.reason is Reason.LEDGER_NOT_FOUND


# --- once and only once -----------------------------------------------------------------------


async def test_a_fence_ended_twice_with_the_same_id_is_ended_once(fenced):
    receipts = await asyncio.gather(unfence(fenced.first, 2), unfence(fenced.first, 2))
    assert receipts[0] == receipts[1] == await unfence(fenced.first, 2)
    assert len(fenced.first.log()) == 3
    await refused(unfence(fenced.first, 2, reason="another"), Reason.REQUEST_ID_REUSED)


async def test_of_two_operators_one_ends_the_fence(fenced):
    answers = await asyncio.gather(
        unfence(fenced.first, 2, "one"), unfence(fenced.first, 2, "two"), return_exceptions=True
    )
    (refusal,) = [one for one in answers if isinstance(one, Refused)]
    assert refusal.reason in (Reason.VERSION_MISMATCH, Reason.LEDGER_NOT_FENCED)
    assert len(fenced.first.log()) == 3
    await house_deposit(fenced.first)


async def test_an_operator_who_goes_away_has_ended_the_fence_all_the_same(fenced):
    task = asyncio.ensure_future(unfence(fenced.first, 2))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    receipt = await unfence(fenced.first, 2)
    assert receipt.first == 3
    await house_deposit(fenced.first)


async def test_a_fence_for_another_reason_is_ended_with_nothing_lost(place):
    """A file that was taken away and put back is the same log; what it says is looked at anew."""
    aside = place.file.with_name("aside.db")
    place.file.rename(aside)
    await check_fenced(place.first)
    aside.rename(place.file)
    await check_fenced(place.first)
    fence = place.first.ledgers.fence(LEDGER)
    assert "removed" in fence.why
    assert (fence.first, fence.last, fence.requests) == (0, 0, ())
    said = (await unfence(place.first, 5)).events[0].ledger_unfenced
    assert (said.lost_last, said.lost_root, said.why) == (0, b"", fence.why)
    assert (await house_deposit(place.first)).first == 7
