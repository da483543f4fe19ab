"""Rounds: every ledger with work has a turn in each, and a crowd that is known is waited for."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from croupier.services.ledger import rounds as module
from croupier.services.ledger.rounds import CROWD, TRIAL, TRIAL_MOST, Rounds


class Ledger:
    """Answers in its turn all that has come; remembers how many that was each time."""

    def __init__(self, rounds, heard):
        self._rounds = rounds
        self._heard = heard
        self._jobs = 0
        self.turns = []

    def ask(self, jobs=1):
        for _ in range(jobs):
            self._jobs += 1
            self._rounds.wants(self, 1)

    def turn(self):
        answered, self._jobs = self._jobs, 0
        self.turns.append(answered)
        self._heard.append(self)
        return answered


@pytest.fixture
def rounds(monkeypatch):
    # A round that waits, waits for ever: so what does not wait shows.
    monkeypatch.setattr(module, "LEAST_S", 3600.0)
    monkeypatch.setattr(module, "MOST_S", 3600.0)
    return Rounds()


@pytest.fixture
def heard():
    return []


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def finish(rounds):
    rounds._running.cancel()
    await asyncio.gather(rounds._running, return_exceptions=True)


async def test_a_lone_call_waits_for_nothing(rounds, heard):
    ledger = Ledger(rounds, heard)
    for _ in range(TRIAL - 1):
        ledger.ask()
        await settle()
    assert ledger.turns == [1] * (TRIAL - 1)


async def test_every_ledger_with_work_has_one_turn_in_a_round(rounds, heard):
    ledgers = [Ledger(rounds, heard) for _ in range(5)]
    for ledger in ledgers:
        ledger.ask(2)
    await settle()
    assert heard == ledgers
    assert [ledger.turns for ledger in ledgers] == [[2]] * 5


async def test_a_crowd_is_waited_for_across_all_ledgers(rounds, heard):
    first, second = Ledger(rounds, heard), Ledger(rounds, heard)
    first.ask(3)
    second.ask(5)
    await settle()
    first.ask(4)
    second.ask(3)
    await settle()
    assert (first.turns, second.turns) == ([3], [5])
    second.ask()  # the eighth of eight
    await settle()
    assert (first.turns, second.turns) == ([3, 4], [5, 4])


async def test_two_do_not_wait_for_each_other(rounds, heard):
    ledger = Ledger(rounds, heard)
    ledger.ask(CROWD - 1)
    await settle()
    ledger.ask()
    await settle()
    assert ledger.turns == [CROWD - 1, 1]


async def test_a_crowd_that_does_not_come_again_is_not_waited_for_long(monkeypatch, heard):
    monkeypatch.setattr(module, "LEAST_S", 0.0)
    monkeypatch.setattr(module, "MOST_S", 0.0)
    rounds = Rounds()
    ledger = Ledger(rounds, heard)
    ledger.ask(50)
    await settle()
    ledger.ask(4)
    async with asyncio.timeout(5):
        while len(ledger.turns) < 2:  # noqa: ASYNC110  # a round has no event that tells its end
            await asyncio.sleep(0)
    assert ledger.turns == [50, 4]
    ledger.ask(4)  # now four are a crowd
    await settle()
    assert ledger.turns == [50, 4, 4]


def learnt(answers, rounds):
    """Return for how many each round waits, if so many come in them."""
    expected = []
    for answered in answers:
        expected.append(rounds._expected)
        rounds._learn(answered)
    return expected


def test_now_and_then_a_larger_crowd_is_looked_for(rounds):
    expected = learnt([10] * (3 * TRIAL), rounds)
    assert expected[1:].count(20) == 2
    assert set(expected[1:]) == {10, 20}


def test_a_crowd_that_was_found_larger_is_looked_for_again_at_once(rounds):
    expected = [1]
    while len(expected) < 40:
        # However many are waited for, up to sixty come.
        rounds._learn(min(rounds._expected, 60))
        expected.append(rounds._expected)
    growing = expected[TRIAL:]
    assert growing[:6] == [2, 4, 8, 16, 32, 64]
    assert growing[6] == 60


def test_where_nobody_else_is_a_call_waits_in_vain_ever_more_rarely(rounds):
    expected = learnt([1] * 10_000, rounds)
    waits = [at for at, one in enumerate(expected) if one > 1]
    between = [later - earlier for earlier, later in itertools.pairwise(waits)]
    assert between[:4] == [2 * TRIAL, 4 * TRIAL, 8 * TRIAL, 16 * TRIAL]
    assert max(between) == between[-1] == TRIAL_MOST
    assert len(waits) < 16
