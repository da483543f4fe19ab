"""A log that lost what was seen is fenced, also after a restart, and what is lost is told."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.services.store.store import Head
from tests.support.ledgers import LEDGER, House, refused
from tests.support.losses import check_fenced, house_deposit, keep, place

__all__ = ["place"]


async def test_what_is_lost_is_told_by_the_process_that_recorded_it(place):
    house = place.first
    known = house.ledger.head()
    place.put_back("copy.db")
    await check_fenced(house)
    fence = house.ledgers.fence(LEDGER)
    assert fence.why == "the head went back from 5 to 2"
    assert (fence.head.position, fence.known) == (2, known)
    assert (fence.first, fence.last) == (3, 5)
    assert [one.request_id for one in fence.requests] == ["lost-0", "lost-1", "lost-2"]
    assert [(one.first, one.last) for one in fence.requests] == [(3, 3), (4, 4), (5, 5)]


async def test_a_process_that_starts_after_the_loss_knows_how_far_it_was_seen(place):
    keep(place.first)
    known = place.first.ledger.head()
    place.put_back("copy.db")
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {LEDGER: "the head went back from 5 to 2"}
    fence = house.ledgers.fence(LEDGER)
    assert (fence.known, fence.first, fence.last, fence.requests) == (known, 3, 5, ())


async def test_a_process_that_ends_leaves_behind_what_it_saw(place):
    place.first.close()
    place.put_back("copy.db")
    house = place.house()
    with pytest.raises(Refused, match="went back from 5 to 2"):
        house.ledger.head()


async def test_another_log_of_the_same_length_or_longer_is_no_extension_either(place):
    keep(place.first)
    place.put_back("copy.db")
    elsewhere = House(place.folder, clock=place.clock)  # of another machine, which saw nothing
    for number in range(4):
        await elsewhere.deposit("bert", 5, f"other-{number}")
    elsewhere.close()
    await check_fenced(place.first)
    fence = place.first.ledgers.fence(LEDGER)
    assert fence.why == "the log to 6 does not go on from what was seen to 5"
    assert (fence.head.position, fence.known.position) == (6, 5)
    assert (fence.first, fence.last) == (3, 5)
    assert [one.request_id for one in fence.requests] == ["lost-0", "lost-1", "lost-2"]
    # Who did not record them does not know where the two logs parted.
    house = place.house()
    house.ledgers.recover()
    fence = house.ledgers.fence(LEDGER)
    assert fence.why == "the log to 5 is not the one that was seen before"
    assert (fence.first, fence.last) == (0, 5)


async def test_a_loss_begins_where_the_log_ended_when_that_was_noticed(
    place,
):
    reader = place.house()  # recorded nothing itself
    assert reader.ledger.head().position == 5
    place.put_back("copy.db")
    await check_fenced(reader)
    elsewhere = House(place.folder, clock=place.clock)
    for number in range(4):
        await elsewhere.deposit("bert", 5, f"other-{number}")
    elsewhere.close()
    fence = reader.ledgers.fence(LEDGER)
    assert (fence.head.position, fence.first, fence.last) == (6, 3, 5)


async def test_a_ledger_that_is_gone_is_not_unknown(place):
    keep(place.first)
    place.first.close()
    for path in place.folder.glob(f"{LEDGER}.db*"):
        path.unlink()
    house = place.house()
    house.ledgers.recover()
    await refused(house_deposit(house), Reason.LEDGER_FENCED)
    await refused(house.create(), Reason.LEDGER_FENCED)
    assert house.ledgers.fence(LEDGER).head == Head()


async def test_whoever_asks_what_is_behind_a_fence_makes_nothing_where_nothing_is(place):
    for path in place.folder.glob(f"{LEDGER}.db*"):
        path.unlink()
    await check_fenced(place.first)
    fence = place.first.ledgers.fence(LEDGER)
    assert (fence.head, fence.known.position, fence.first, fence.last) == (Head(), 5, 1, 5)
    assert [one.request_id for one in fence.requests][-3:] == ["lost-0", "lost-1", "lost-2"]
    assert not place.file.exists()


async def test_a_process_that_starts_after_the_fence_knows_of_it_though_the_other_was_killed(place):
    """Nothing was kept before the fence, nor did the process stop in order."""
    place.put_back("copy.db")
    await check_fenced(place.first)
    house = place.house()
    house.ledgers.recover()
    assert house.watcher.fenced == {LEDGER: "the head went back from 5 to 2"}
