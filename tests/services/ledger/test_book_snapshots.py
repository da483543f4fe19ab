"""Books: a process begins where another ended, and no book is ever another than the log's."""

from __future__ import annotations

import asyncio
import zlib

import pytest

from croupier.domain.errors import Refused
from croupier.services.audit.tree import Frontier
from croupier.services.ledger.committed import Committed
from croupier.services.ledger.snapshots import Policy
from croupier.services.store.store import Head
from tests.support.ledgers import House
from tests.support.snapshots import (
    Counting,
    begun,
    execute,
    forge,
    limits,
    names,
    saved,
    state_of,
    throw,
)

# --- the book -------------------------------------------------------------------------------------


async def test_a_process_that_ends_leaves_a_book_from_which_the_next_begins(tmp_path):
    house = await begun(tmp_path, throws=40)
    books = house.books()
    await house.leave()
    stores = []
    again = House(tmp_path, wrap=lambda store: stores.append(Counting(store)) or stores[0])
    head = again.ledger.head()
    # Nothing is folded; of the 48 records, the end is compared with the head.
    assert stores[0].asked == list(range(head.position - 48 + 1, head.position + 1))
    assert again.watcher.unchecked == [head.position]
    assert again.books() == books
    assert again.ledger.format_version == 1
    again.close()


async def test_a_process_that_is_killed_leaves_what_it_saved_before(tmp_path, monkeypatch):
    monkeypatch.setattr("croupier.services.ledger.ledger.COMMIT_COMES_S", 0)
    house = await begun(tmp_path, throws=10)
    await house.ledger.keep_book()
    await throw(house, 10)
    books = house.books()
    house.close()
    stores = []
    again = House(tmp_path, wrap=lambda store: stores.append(Counting(store)) or stores[0])
    again.ledger.head()
    assert stores[0].asked == list(range(saved(tmp_path, "book").position + 1, 29))
    assert again.books() == books
    again.close()


async def test_a_few_events_are_not_worth_a_book(tmp_path):
    house = await begun(tmp_path, throws=40, policy=Policy())
    await house.ledger.keep_book()
    await house.leave()
    assert names(tmp_path) == []
    again = House(tmp_path)
    again.ledger.head()
    assert again.watcher.unchecked == [0]
    again.close()


async def test_a_book_goes_along_with_the_next_commit(tmp_path):
    house = await begun(tmp_path)
    writer = house.ledger._writer
    assert await writer.snapshots.take_if_due(writer.committed.book)
    before = house.ledger.head().position
    commits = len(house.watcher.commits)
    await house.deposit("anna", 1)
    assert saved(tmp_path, "book").position == before
    assert len(house.watcher.commits) == commits + 1
    house.close()


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"stamp": "book 0"}, "stamp"),
        ({"position": 10**6}, "ahead"),
        ({"position": 9}, "undecodable"),
        ({"state": b"{}"}, "undecodable"),
        ({"state": zlib.compress(b"{}")}, "undecodable"),
        ({"state": b""}, "undecodable"),
    ],
)
async def test_a_book_of_which_there_is_any_doubt_is_folded_again(tmp_path, fields, reason):
    await (await begun(tmp_path, throws=40)).leave()
    forge(tmp_path, "book", **fields)
    house = House(tmp_path)
    books = house.books()
    assert house.watcher.dropped == [("book", reason)]
    assert house.watcher.unchecked == [0]
    house.close()
    assert books == state_of(tmp_path)


@pytest.mark.parametrize(
    "statement, why",
    [
        ("DELETE FROM requests WHERE last = 25", "26 requests are in the log, 25 in the index"),
        ("UPDATE stored_events SET state = x'ff' WHERE position = 25", "does not hold an event"),
        ("UPDATE stored_events SET position = 99 WHERE position = 25", "the log ends at 99"),
        ("UPDATE head SET frontier = zeroblob(length(frontier))", "is not the head's"),
    ],
)
async def test_what_came_after_the_book_is_checked_at_the_start(tmp_path, statement, why):
    house = await begun(tmp_path, throws=10)
    await house.ledger.leave_book()
    await throw(house, 10)
    house.close()
    for (name,) in execute(tmp_path, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        execute(tmp_path, f"DROP TRIGGER {name}")
    execute(tmp_path, statement)
    again = House(tmp_path)
    with pytest.raises(Refused, match=why):
        again.ledger.head()
    again.close()


async def test_a_book_of_another_that_is_beyond_what_this_process_has_seen_is_not_used(tmp_path):
    """From there it could not be seen whether the log leads through what it has seen."""
    house, other = await begun(tmp_path, throws=10), House(tmp_path, limits=limits())
    await throw(other, 10)
    await other.ledger.leave_book()
    house.ledger._writer._forget()
    books = house.books()
    assert house.watcher.dropped == [("book", "ahead")]
    assert books == other.books()
    house.close()
    other.close()


@pytest.mark.parametrize("throws", [0, 5])
async def test_a_process_that_begins_again_in_a_book_goes_through_what_it_has_seen(
    tmp_path, throws
):
    house = await begun(tmp_path, throws=10)
    await house.ledger.leave_book()
    await throw(house, throws)
    writer = house.ledger._writer
    books = house.books()
    writer._forget()
    assert house.books() == books
    assert house.watcher.dropped == []
    # Had it seen another log, neither the book nor the whole would do.
    seen = writer._known.frontier
    writer._known = Head(Frontier(seen.size, tuple(bytes(32) for _ in seen.hashes)))
    writer.committed = Committed(house.ledger._store, 1, writer.snapshots, writer._known)
    writer._fresh = False
    with pytest.raises(Refused, match="is not the one that was seen before"):
        house.ledger.head()
    assert house.watcher.dropped == [("book", "other_log")]
    house.close()


async def test_what_waits_is_forgotten_with_the_state_that_it_came_from(tmp_path):
    house = await begun(tmp_path)
    writer = house.ledger._writer
    assert writer.snapshots.waits
    # One that is being taken too.
    taking = asyncio.create_task(writer.snapshots.take_if_due(writer.committed.book))
    await asyncio.sleep(0)
    assert not taking.done()
    writer._forget()
    assert await taking
    assert not writer.snapshots.waits
    house.close()


async def test_a_process_counts_from_the_book_in_which_it_began(tmp_path):
    await (await begun(tmp_path, throws=20)).leave()
    house = House(tmp_path, limits=limits(Policy(book_events=20, book_entries=0)))
    house.ledger.head()
    writer = house.ledger._writer
    assert not await writer.snapshots.take_if_due(writer.committed.book)
    await throw(house, 20)
    assert await writer.snapshots.take_if_due(writer.committed.book)
    assert not await writer.snapshots.take_if_due(writer.committed.book)
    house.close()
