"""The band of a return: fair dice stay in it as often as is proved, loaded dice leave it."""

from __future__ import annotations

from functools import cache
from math import exp, sqrt
from random import Random

import pytest

from croupier.domain.games import GAMES
from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.ceelo_bank.verdicts import banker_verdict, player_verdict
from croupier.domain.games.ceelo_throws import point_of, read
from croupier.domain.games.fish_prawn_crab.places import PLACES, verdict
from croupier.domain.games.options import resolve
from croupier.domain.games.theory import Bet
from croupier.domain.settlement import LOST, WON
from tests.support.watching import rules

CUP, BANK = GAMES["fish_prawn_crab"], GAMES["ceelo_bank"]
CUP_OPTIONS = resolve(CUP.options, CUP.presets, {})
BANK_OPTIONS = resolve(BANK.options, BANK.presets, {"payout": "multiplied"})
FAIR = (1,) * 6


class Sums:
    """What the counters of one series come to."""

    def __init__(self):
        self.deviation = self.variance = self.furthest = 0.0

    def add(self, net, moments):
        self.deviation += net - float(moments.won - moments.lost)
        self.variance += float(moments.variance)
        self.furthest = max(self.furthest, float(moments.furthest))

    def band(self, z):
        return z * sqrt(self.variance) + z * z / 3 * self.furthest

    def is_outside(self, z):
        return abs(self.deviation) > self.band(z)


@cache
def cup_moments(bets):
    return CUP.moments(CUP_OPTIONS, bets)


@cache
def bank_moments(bets):
    return BANK.moments(BANK_OPTIONS, bets)


def any_layout(chance):
    """Return one of many layouts of bets, from tiny to huge and from short odds to long."""
    layout = Random(chance.randrange(40))
    places = layout.sample(list(PLACES), k=layout.randint(1, 6))
    return tuple(Bet(place, 10 ** layout.randint(0, 4)) for place in places)


def cup_round(chance, dice, sums, bets=()):
    """Throw three dice on some bets."""
    bets = bets or any_layout(chance)
    throw = tuple(chance.choices(range(1, 7), weights=dice, k=3))
    paytable = CUP.paytable(CUP_OPTIONS)
    net = 0
    for place, stake in bets:
        line = verdict(place, throw)
        net += paytable.odds(line).on(stake) if line else -stake
    sums.add(net, cup_moments(bets))


def bank_round(chance, dice, sums):
    """Throw fair dice for a banker, and these for up to five faders, each until it is decisive."""

    def decisive(weights):
        while True:
            reading = read(tuple(chance.choices(range(1, 7), weights=weights, k=3)))
            if reading != "meaningless":
                return reading

    layout = Random(chance.randrange(40))
    bets = tuple(Bet("", layout.choice((5, 100, 900))) for _ in range(layout.randint(1, 5)))
    terms, paytable = Terms.of(BANK_OPTIONS), BANK.paytable(BANK_OPTIONS)
    banker = decisive(FAIR)
    automatic, net = banker_verdict(terms, banker), 0
    for _, stake in bets:
        result, line = automatic or player_verdict(terms, point_of(banker), decisive(dice))
        if result in (WON, LOST):
            net += paytable.odds(line).on(stake) * (1 if result == WON else -1)
    sums.add(net, bank_moments(bets))


ROUNDS = {"cup": cup_round, "bank": bank_round}


def played(game, seed, count, dice=FAIR, *bets):
    """Return the sums of so many rounds."""
    chance, sums = Random(seed), Sums()
    for _ in range(count):
        ROUNDS[game](chance, dice, sums, *bets)
    return sums


TRIES = 300


@cache
def stretches(game, count):
    """Return many stretches of so many rounds with fair dice."""
    return [played(game, seed, count) for seed in range(TRIES)]


@pytest.mark.parametrize("game", ROUNDS)
@pytest.mark.parametrize("count", [1, 5, 60])
def test_fair_dice_leave_the_band_no_more_often_than_is_proved(game, count):
    for z in (1.5, 2, 3):
        outside = sum(sums.is_outside(z) for sums in stretches(game, count)) / TRIES
        assert outside <= 2 * exp(-z * z / 2), (z, outside)
    assert not any(sums.is_outside(6) for sums in stretches(game, count))


KNOWING = ((Bet("three_armies_rooster", 100), Bet("big", 100)),)
"""What somebody bets who knows that a die is loaded."""


@pytest.mark.parametrize(
    "game, loaded, bets",
    [("cup", (1, 1, 1, 1, 1, 2), KNOWING), ("bank", (1, 1, 1, 3, 3, 3), ())],
)
def test_loaded_dice_leave_the_band_of_the_alert_and_fair_ones_do_not(game, loaded, bets):
    assert played(game, 1, 3_000, loaded, *bets).is_outside(6)
    assert not played(game, 1, 3_000, FAIR, *bets).is_outside(6)


@pytest.mark.parametrize("game, bets", [("cup", KNOWING), ("bank", ())], ids=ROUNDS)
def test_the_variance_is_that_of_what_happens(game, bets):
    played_fairly = [played(game, seed, 40, FAIR, *bets) for seed in range(TRIES)]
    squares = [sums.deviation**2 / sums.variance for sums in played_fairly]
    # One on average, give or take a twelfth; bets on one throw taken for several would show.
    assert sum(squares) / TRIES == pytest.approx(1, abs=0.25)


def test_the_alert_has_this_band():
    bands = [rule["expr"] for rule in rules() if "band" in rule.get("record", "")]
    assert bands
    for band in bands:
        assert band.startswith("6 * sqrt(")
        assert "+ 12 * max" in band
