"""Which rounds are open, and since when: the same from the log, from a book, in every process."""

from __future__ import annotations

import pytest

from croupier.domain.commands import PostBank, Roll
from croupier.domain.dice import Source
from croupier.services.ledger.book import Book, decode, encode, read
from croupier.services.ledger.requests import Play, VoidRound
from tests.support.ledgers import LEDGER, Clock, House
from tests.support.snapshots import begun, limits, throw

KIM = Source("dealer", "kim")
WINS = Roll("anna", (4, 5, 6), KIM)


def from_the_log(house):
    """Return the open rounds as a process that reads every record finds them."""
    book, store = Book(), house.ledger._store
    for record in store.records(0, 1000):
        book.fold(record, read(record))
    return book.rounds


def in_memory(house):
    """Return the open rounds as the process has them that decided the commands."""
    return house.ledger._writer.committed.book.rounds


@pytest.fixture
async def house(tmp_path):
    house = await begun(tmp_path, tables=("t1", "t2"))
    yield house
    house.close()


async def test_a_ledger_without_rounds_has_none_open(tmp_path):
    house = House(tmp_path)
    await house.create()
    assert house.ledger.open_rounds() == (0, 0)
    house.close()


async def test_a_round_is_open_from_its_first_stake_until_it_is_paid(house):
    began_us = house.clock.now_us
    assert house.ledger.open_rounds() == (2, began_us)
    house.clock.now_us += 7_000_000
    await house.play(WINS)
    assert in_memory(house) == from_the_log(house) == {"t2": (1, began_us)}
    await house.play(PostBank("anna", 10), round_number=2)
    opened = {"t2": (1, began_us), "t1": (2, began_us + 7_000_000)}
    assert in_memory(house) == from_the_log(house) == opened
    assert house.ledger.open_rounds() == (2, began_us)


async def test_a_void_round_is_open_no_more(house):
    await house.ask(VoidRound("t2", 1, "a die is lost"))
    assert set(in_memory(house)) == set(from_the_log(house)) == {"t1"}


async def test_a_refused_command_opens_no_round(house):
    before = dict(in_memory(house))
    with pytest.raises(Exception, match="round 1"):
        await house.play(PostBank("anna", 10), round_number=5)
    assert in_memory(house) == before


async def test_rounds_that_end_and_begin_in_one_turn_are_told_apart(house):
    house.clock.now_us += 1_000_000
    requests = [
        house.request(command)
        for command in (
            Play("t1", 1, WINS),
            Play("t1", 2, PostBank("anna", 5)),
            VoidRound("t1", 2, "again"),
            Play("t1", 3, PostBank("anna", 5)),
        )
    ]
    await house.ledger.enqueue(requests, atomic=True)
    assert len(house.watcher.commits[-1][1]) > len(requests)
    assert in_memory(house)["t1"] == (3, house.clock.now_us)
    assert in_memory(house) == from_the_log(house)


async def test_another_process_sees_the_same_rounds(tmp_path, house):
    other = House(tmp_path, clock=Clock(house.clock.now_us))
    assert other.ledger.open_rounds() == house.ledger.open_rounds()
    await house.play(WINS)
    assert other.ledger.open_rounds() == house.ledger.open_rounds() == (1, house.clock.now_us)
    assert in_memory(other) == in_memory(house)
    other.close()


async def test_a_book_keeps_the_open_rounds(house):
    book = house.ledger._writer.committed.book
    again = decode(await encode(book))
    assert again.rounds == book.rounds == from_the_log(house)
    assert len(book.rounds) == 2
    copy = book.copy()
    await house.play(WINS)
    assert len(copy.rounds) == 2


async def test_a_process_that_begins_from_a_book_knows_them_and_the_check_agrees(tmp_path):
    house = await begun(tmp_path, throws=20)
    rounds = dict(in_memory(house))
    await house.leave()
    again = House(tmp_path, limits=limits())
    assert again.ledger.open_rounds() == (1, house.clock.now_us)
    assert again.watcher.unchecked[0] > 0  # it began from the book
    await throw(again, 1)
    assert in_memory(again) == rounds
    await again.ledger.recheck(_at_once)
    assert again.watcher.fenced == {}
    assert ("book", True) in again.watcher.rechecked
    again.close()


async def _at_once(worked_s):
    del worked_s


async def test_a_book_with_another_open_round_is_found_by_the_check(tmp_path, monkeypatch):
    await (await begun(tmp_path, throws=20)).leave()
    house = House(tmp_path, limits=limits())
    house.ledger.head()
    house.ledger._writer.snapshots.unchecked.rounds["t9"] = (1, 5)
    await house.ledger.recheck(_at_once)
    assert "open round" in house.watcher.fenced[LEDGER]
    assert house.watcher.rechecked == [("book", False)]
    house.close()
