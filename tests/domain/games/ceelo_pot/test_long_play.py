"""Thousands of rounds by chance, each compared with the rules as numbers."""

import random
from fractions import Fraction
from itertools import product

import pytest

from croupier.domain.commands import Roll
from croupier.domain.events import (
    Anted,
    Rolled,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot.odds import tie
from croupier.domain.table import fold
from tests.support import pot_model
from tests.support.play import each
from tests.support.pot import DEALER, PotTable

THROWS = list(product(range(1, 7), repeat=3))
ROUNDS_OF_A_TABLE = 25


def table_of(chance):
    return PotTable(
        seats="ABCDEFGH"[: chance.randint(2, 8)],
        ante=chance.choice((1, 7, 333, 1000)),
        purse=10**9,
        instant_456=chance.random() < 0.3,
        shootout_ante=chance.choice(("none", "re_ante")),
        first_thrower=chance.choice(("seat_order", "previous_winner")),
    )


def round_by_chance(at, chance):
    """Play a round and return its events; whoever may act does."""
    events = ()
    number = at.table.round
    while at.table.round == number:
        one = chance.choice(at.view.allowed)
        if one.command == "ante":
            events += at.ante(one.player)
        else:
            events += at.do(Roll(one.player, chance.choice(THROWS), DEALER))
    return events


def check(at, before, events, winner):
    """Compare a round with the model and return it; `winner` won the round before."""
    options = at.table.opened.options
    seats = at.seats
    if options["first_thrower"] == "previous_winner" and winner:
        seats = seats[seats.index(winner) :] + seats[: seats.index(winner)]
    thrown = [event.dice for event in each(events, Rolled)]
    model = pot_model.play(
        seats,
        options["ante"],
        thrown,
        instant=options["instant_456"],
        re_ante=options["shootout_ante"] == "re_ante",
    )
    assert model.throws == len(thrown)
    assert [event.players for event in each(events, ShootOutCalled)] == model.shoot_outs
    assert {seat: worth - before[seat] for seat, worth in at.worths().items()} == model.nets
    assert sum(event.amount for event in each(events, Anted)) == sum(model.stakes.values())
    assert at.table.at_risk == 0
    return model


def play_rounds(rounds, seed):
    """Play so many rounds at tables of any options, each compared with the model and replayed."""
    chance = random.Random(seed)
    tables = []
    for _ in range(rounds // ROUNDS_OF_A_TABLE):
        at, winner = table_of(chance), ""
        for _ in range(ROUNDS_OF_A_TABLE):
            before = at.worths()
            model = check(at, before, round_by_chance(at, chance), winner)
            winner = model.winner
        again = None
        for event, seen in zip(at.events, at.history, strict=True):
            again = fold(again, event)
            assert again == seen
        assert sum(at.balances.values()) == at.purse * len(at.seats)
        tables.append(at)
    return tables


@pytest.mark.parametrize("seed", range(4))
def test_five_hundred_rounds_come_to_what_the_rules_say(seed):
    tables = play_rounds(500, seed)
    assert sum(at.table.round - 1 for at in tables) == 500


def test_two_players_tie_about_as_often_as_the_odds_say():
    chance = random.Random("duels")
    at = PotTable(seats="AB", purse=10**9)
    events = [event for _ in range(500) for event in round_by_chance(at, chance)]
    ties = len(each(events, ShootOutCalled))
    # Four standard deviations.
    assert abs(Fraction(ties, ties + 500) - tie(2)) < Fraction(1, 17)
