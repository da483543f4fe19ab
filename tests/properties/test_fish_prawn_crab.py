"""Fish-Prawn-Crab with any options, bets and dice: the books hold, and every throw can be paid."""

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.commands import PlaceBet, RingBell
from croupier.domain.cup_events import (
    CupCovered,
)
from croupier.domain.errors import Refused
from croupier.domain.events import (
    Collected,
    PaidOut,
)
from croupier.domain.games import game_of
from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES
from croupier.domain.games.fish_prawn_crab.odds import odds
from croupier.domain.games.fish_prawn_crab.places import LINES, PLACES, verdict
from croupier.domain.games.options import resolve
from croupier.domain.names import HOUSE
from croupier.domain.table import automatic, fold
from tests.support.cup import GAME, CupTable, opened, void
from tests.support.play import each

SEATS = "ABC"
CUP = game_of(GAME)
THROWS = list(product(range(1, 7), repeat=3))
ROUNDS = 1_000
CHANCE = 1e-9
"""The most probable that anything may be which a test takes for impossible."""

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "void_bets": st.sampled_from(("carry", "refund")),
        "min": st.integers(1, 5),
        "max": st.integers(5, 2_000),
        **{f"pays_{line}": st.sampled_from((1, 2, 7, 1000)) for line in LINES},
    },
)
BETS = st.lists(
    st.tuples(
        st.sampled_from(SEATS),
        st.sampled_from(list(PLACES)),
        st.one_of(st.integers(1, 40), st.integers(-1, 10**6)),
    ),
    max_size=12,
)
END = st.one_of(st.sampled_from(THROWS), st.none())
GAMES = st.lists(st.tuples(BETS, END), min_size=1, max_size=4)


def paid_by(at, place, dice, stake):
    """Return what the table's own prices make of a stake, from the player's side."""
    line = verdict(place, dice)
    return stake * at.table.paytable.odds(line).profit if line else -stake


def nets_of(at):
    """Return what the house nets by each outcome, bet by bet."""
    return [
        -sum(paid_by(at, bet.place, dice, bet.stake) for bet in at.state.bets) for dice in OUTCOMES
    ]


@settings(deadline=None, max_examples=150)
@given(OPTIONS, st.integers(1, 3_000), GAMES)
def test_money_is_conserved_and_the_bankroll_covers_whatever_is_thrown(options, bankroll, rounds):
    at = CupTable(GAME, seats=SEATS, bankroll=bankroll, purse=10_000, **options)
    for bets, dice in rounds:
        at.to("BETTING")
        for player, place, stake in bets:
            limit = at.state.most(place)
            if at.state.terms.least <= stake <= limit:
                at.do(PlaceBet(player, place, stake))
            else:
                with pytest.raises(Refused) as caught:
                    at.do(PlaceBet(player, place, stake))
                if stake >= at.state.terms.least:
                    assert caught.value.metadata["limit"] == str(limit)
            assert list(at.state.nets) == nets_of(at)
            assert at.table.bankroll + at.table.exposure.worst >= 0
            assert at.table.bankroll == bankroll
        at.do(RingBell(HOUSE))
        standing = at.state.bets
        before = at.worths()
        events = at.do(void() if dice is None else opened(dice))
        if dice is None:
            assert at.worths() == before
        else:
            gained = Counter(dict.fromkeys(SEATS, 0))
            for bet in standing:
                gained[bet.player] += paid_by(at, bet.place, dice, bet.stake)
            assert {who: worth - before[who] for who, worth in at.worths().items()} == gained
            settled = [*each(events, Collected), *each(events, PaidOut)]
            assert sorted(one.bet for one in settled) == [bet.number for bet in standing]
            bankroll -= sum(gained.values())
        assert at.table.bankroll == bankroll >= 0
        assert sum(at.balances.values()) == at.money
        assert min(at.balances.values()) >= 0
    at.close()
    assert at.house == bankroll
    again = None
    for event, seen in zip(at.events, at.history, strict=True):
        again = fold(again, event)
        assert again == seen


@settings(deadline=None, max_examples=60)
@given(OPTIONS, BETS, st.integers(0, 12))
def test_a_round_void_anywhere_returns_what_each_has_and_nothing_more(options, bets, placed):
    at = CupTable(GAME, seats=SEATS, bankroll=500, purse=10_000, **options)
    at.to("BETTING")
    for player, place, stake in bets[:placed]:
        if at.state.terms.least <= stake <= at.state.most(place):
            at.bet(player, place, stake)
    if placed % 2:
        at.do(RingBell(HOUSE))
    at.void("the power failed")
    assert {who: at.purse_of(who) for who in SEATS} == dict.fromkeys(SEATS, 10_000)
    assert (at.table.bankroll, at.table.at_risk, automatic(at.table)) == (500, 0, ())


def play_long(rounds, seed):
    """Play rounds of one unit on each place; return how often each won, and the house's gain."""
    chance = random.Random(seed)
    at = CupTable(GAME, seats=SEATS, bankroll=10**7, purse=10**7)
    won = Counter()
    house = at.house
    for _ in range(rounds):
        while True:
            at.to("BETTING")
            for place in PLACES if not at.state.bets else ():
                at.bet(chance.choice(SEATS), place, 1)
            at.do(RingBell(HOUSE))
            if chance.random() < 0.01:
                at.do(void())
                continue
            events = at.do(opened([chance.randint(1, 6) for _ in range(3)]))
            break
        won.update(one.rule for one in each(events, PaidOut))
        del at.events[:], at.history[:]
        assert at.table.at_risk == 0
    assert sum(at.balances.values()) == at.money
    return won, at.house - house


def divergence(found, p):
    """Return how far a frequency is from a probability, in nats (Kullback and Leibler)."""
    return sum(a * log(a / b) for a, b in ((found, p), (1 - found, 1 - p)) if a > 0)


def check_frequencies(rounds, won, gained):
    """Check realised frequencies against the exact odds; return how unlikely the worst was.

    A frequency as far off as this, or farther, comes with a probability below
    exp(-rounds * divergence) on either side (Chernoff), which holds for rare wins too.
    """
    resolved = resolve(CUP.options, CUP.presets, {})
    exact = odds(resolved)
    unlikely = max(rounds * divergence(won[one.place.id] / rounds, float(one.win)) for one in exact)
    assert unlikely < -log(CHANCE), unlikely
    paytable = CUP.paytable(resolved)
    nets = [
        sum(-paytable.odds(line).profit if line else 1 for line in lines)
        for lines in ([verdict(place, dice) for place in PLACES] for dice in THROWS)
    ]
    mean = Fraction(sum(nets), len(nets))
    assert mean == sum(one.edge for one in exact)
    # Hoeffding: nets are bounded.
    off = abs(gained / rounds - float(mean))
    house = 2 * rounds * (off / (max(nets) - min(nets))) ** 2
    assert house < -log(CHANCE), house
    return unlikely, house, gained / rounds, float(mean)


def test_a_thousand_rounds_go_as_the_odds_say():
    won, gained = play_long(ROUNDS, "1000 rounds")
    check_frequencies(ROUNDS, won, gained)


def test_each_round_names_the_bets_that_a_void_throw_left():
    at = CupTable(GAME, seats=SEATS)
    at.shake({"A": "big 1", "B": "big 2"})
    at.do(void())
    at.to("COVERED")
    assert each(at.events, CupCovered)[-1].carried == (1, 2)
