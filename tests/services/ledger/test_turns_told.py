"""What the writer tells of its turns: every one, by what became of it, and all it recorded."""

from __future__ import annotations

import asyncio

import pytest
from eventsourcing.persistence import OperationalError

from croupier.domain.errors import Reason
from croupier.services.ledger.observer import Outcome
from croupier.services.ledger.requests import Deposit
from tests.support.ledgers import LEDGER, Faulty, House, refused


@pytest.fixture
async def told(tmp_path):
    """Return a house, its store whose faults can be named, and the turns that are told of."""
    stores = []

    def wrap(store):
        stores.append(Faulty(store))
        return stores[-1]

    house = House(tmp_path, wrap=wrap)
    await house.create()
    await house.deposit("anna", 1000, "first")
    house.watcher.turns.clear()
    house.watcher.commits.clear()
    yield house, stores[0], house.watcher.turns
    house.close()


async def test_a_turn_that_records_is_told_with_what_its_commit_took(told):
    house, _, turns = told
    await house.deposit("anna", 5)
    (turn,) = turns
    assert turn.outcome is Outcome.RECORDED
    assert (turn.requests, turn.commands, len(turn.events)) == (1, 1, 1)
    assert 0 < turn.commit_s < turn.seconds


async def test_a_turn_that_only_refuses_records_nothing(told):
    house, _, turns = told
    await refused(house.deposit("anna", -1), Reason.AMOUNT_OUT_OF_RANGE)
    (turn,) = turns
    assert (turn.outcome, turn.requests, turn.commit_s) == (Outcome.NOTHING, 1, 0)


async def test_a_turn_that_only_repeats_records_nothing(told):
    house, _, turns = told
    await house.deposit("anna", 1000, "first")
    assert [turn.outcome for turn in turns] == [Outcome.NOTHING]


@pytest.mark.parametrize(
    "fault, outcomes",
    [
        ("fails", [Outcome.UNAVAILABLE]),
        ("head_fails", [Outcome.UNAVAILABLE]),
        ("fails_but_persisted", [Outcome.RECORDED]),
        ("head_moved", [Outcome.LOST, Outcome.RECORDED]),  # it is decided again
        ("head_is_corrupt", [Outcome.FENCED]),
        ("head_of_an_older_copy", [Outcome.FENCED]),
    ],
)
async def test_a_turn_is_told_by_what_became_of_it(told, fault, outcomes):
    house, store, turns = told
    store.fault = fault
    await asyncio.gather(house.deposit("anna", 5), return_exceptions=True)
    assert [turn.outcome for turn in turns] == outcomes
    assert len(house.watcher.commits) == outcomes.count(Outcome.RECORDED)
    assert len(house.watcher.conflicts) == outcomes.count(Outcome.LOST)


async def test_a_fault_of_the_program_is_told(told, monkeypatch):
    house, _, turns = told

    def broken(*args):
        raise ZeroDivisionError

    monkeypatch.setattr("croupier.services.ledger.decider.Turn", broken)
    await asyncio.gather(house.deposit("anna", 5), return_exceptions=True)
    assert [turn.outcome for turn in turns] == [Outcome.FAILED]


async def test_what_is_recorded_is_told_although_an_answer_of_the_same_turn_fails(
    told, monkeypatch
):
    house, store, turns = told

    def fails(after, limit):
        raise OperationalError("no answer")

    # The receipt of a request that is repeated is read from the log after the commit.
    monkeypatch.setattr(store, "records", fails, raising=False)
    repeated = house.request(Deposit("player:anna", "EUR", 1000), "first")
    new = house.request(Deposit("player:anna", "EUR", 7), "new")
    answers = await house.ledger.enqueue([repeated, new], atomic=False)
    assert [answer.reason for answer in answers] == [Reason.STORE_UNAVAILABLE] * 2
    assert house.watcher.commits == [(LEDGER, [3], 1)]
    assert [turn.outcome for turn in turns] == [Outcome.UNAVAILABLE]
    monkeypatch.undo()
    assert (await house.deposit("anna", 7, "new")).last == 3


async def test_a_turn_that_waited_for_another_process_tells_how_long(told):
    house, store, _ = told
    await house.deposit("anna", 5)
    assert house.watcher.waits == []
    store.fault = "lock_is_held"
    await house.deposit("anna", 5)
    (waited_s,) = house.watcher.waits
    assert waited_s > 0
