"""Rounds are found in a stream by search, and balances are read from the nearer end of the log."""

from __future__ import annotations

from collections import Counter

import pytest

from croupier.domain import commands
from croupier.domain.dice import Source
from croupier.services.ledger import history
from croupier.services.ledger.history import Span
from croupier.v1 import events_pb2
from tests.support.ledgers import LEDGER, House

DEALER = Source("dealer", "kim")
ROUNDS = 40


@pytest.fixture
async def house(tmp_path):
    """A table of many rounds; between some of them the bank is resigned, again and again."""
    house = House(tmp_path)
    await house.create()
    for player in ("anna", "bert", "cleo", "dora"):
        await house.deposit(player, 1_000_000)
    await house.open_table()
    for number in range(1, ROUNDS + 1):
        for _ in range(number % 7 * 3):
            banker = house.ledger.table("t1").view.to_act[0]
            await house.play(commands.ResignBank(banker), round_number=number)
        banker = house.ledger.table("t1").view.to_act[0]
        await house.play(commands.PostBank(banker, 100 + number), round_number=number)
        while to_act := house.ledger.table("t1").view.to_act:
            if house.ledger.table("t1").view.expects[0] != "fade":
                break
            await house.play(commands.Fade(to_act[0], 10), round_number=number)
        roll = commands.Roll(banker, (4, 5, 6), DEALER)
        await house.play(roll, round_number=number)
        await house.deposit("bert", number)
    yield house
    house.close()


def spans(house):
    """Return where each round is, read from the log itself."""
    found = {}
    for state in house.log():
        event = events_pb2.Event.FromString(state)
        if event.stream == "tables/t1" and event.round:
            first = found.get(event.round, Span(event.version, 0)).first
            found[event.round] = Span(first, event.version)
    return found


async def test_every_round_is_found_where_it_is(house):
    past, expected = house.ledger.history("t1"), spans(house)
    assert past.newest == ROUNDS
    assert {number: past.span(number) for number in expected} == expected
    for number in (2, 3, ROUNDS):  # beginning where the one before ended, or anywhere before
        for earlier in (1, number // 2, number - 1):
            assert past.span(number, expected[earlier].last) == expected[number]


async def test_a_round_is_found_with_few_reads(house, monkeypatch):
    past, reads = house.ledger.history("t1"), 0
    stream = past._store.stream

    def counted(*asked):
        nonlocal reads
        reads += 1
        return stream(*asked)

    monkeypatch.setattr(past._store, "stream", counted)
    events = house.ledger.table("t1").version
    for number in (1, ROUNDS // 2, ROUNDS):
        reads = 0
        past.span(number)
        assert reads < 40 < events / 10


async def test_balances_of_any_moment_are_those_that_the_postings_make(house, monkeypatch):
    monkeypatch.setattr(history, "STEP", 7)
    accounts = ["player:anna", "player:bert", "player:cleo", "player:none"]
    at = [Counter()]
    for state in house.log():
        after = at[-1].copy()
        for posting in events_pb2.Event.FromString(state).postings:
            after[posting.source] -= posting.amount
            after[posting.destination] += posting.amount
        at.append(after)
    past = house.ledger.history("t1")
    last = len(at) - 1
    for before, after in ((0, 0), (0, 5), (3, 20), (last // 2, last // 2 + 30), (last - 9, last)):
        begun, ended = await past.balances(accounts, before, after)
        assert begun == {one: at[before][one] for one in accounts}
        assert ended == {one: at[after][one] for one in accounts}


async def test_what_is_recorded_meanwhile_does_not_change_the_past(house, monkeypatch):
    past = house.ledger.history("t1")
    version, head = past.table.version, house.ledger.head().position
    (before,), _ = [list(one.values()) for one in await past.balances(["player:bert"], head, head)]
    await house.deposit("bert", 5)
    (again,), _ = [list(one.values()) for one in await past.balances(["player:bert"], head, head)]
    assert before == again
    assert past.table.version == version
    held, later = await past.held(0, version)
    assert held == Counter()
    assert sum(later.values()) == house.ledger.table("t1").at_risk
    assert house.ledger.id == LEDGER
