"""What the house can lose is known exactly, and covered before anything is thrown."""

import random
from fractions import Fraction

import pytest

from croupier.domain.commands import PlaceBet, RingBell
from croupier.domain.errors import Reason, Refused
from croupier.domain.games.fish_prawn_crab.exposure import NO_BETS
from croupier.domain.games.fish_prawn_crab.places import PLACES
from croupier.domain.games.fish_prawn_crab.state import BETS_MAX, Bet
from croupier.domain.names import HOUSE
from tests.domain.games.fish_prawn_crab.test_places import profit
from tests.support.ceelo import table as ceelo
from tests.support.cup import THROWS, opened, table, void

PLACE_IDS = list(PLACES)


def brute_force(state):
    """Return what the house nets by each of the 216 throws, from all bets and the rules."""
    return {
        dice: -sum(bet.stake * profit(bet.place, dice) for bet in state.bets) for dice in THROWS
    }


def test_without_bets_nothing_is_exposed():
    exposure = table().table.exposure
    assert (exposure.worst, exposure.best, exposure.expected) == (0, 0, 0)
    assert sum(one.ways for one in exposure.outcomes) == 216


@pytest.mark.parametrize("seed", range(6))
def test_the_exposure_is_what_brute_force_finds(seed):
    chance = random.Random(seed)
    at = table(bankroll=50_000).to("BETTING")
    for _ in range(30):
        place = chance.choice(PLACE_IDS)
        if most := at.state.most(place):
            at.bet(chance.choice("ABCD"), place, min(most, chance.randint(1, 200)))
    nets = brute_force(at.state)
    exposure = at.table.exposure
    assert {one.dice: one.net for one in exposure.outcomes} == {
        dice: net for dice, net in nets.items() if list(dice) == sorted(dice)
    }
    assert exposure.worst == min(nets.values()) >= -50_000
    assert exposure.best == max(nets.values())
    assert exposure.expected == Fraction(sum(nets.values()), 216)
    assert exposure.staked == at.table.at_risk


@pytest.mark.parametrize("place", PLACE_IDS)
def test_the_largest_stake_is_taken_and_one_more_is_not(place):
    at = table(seats="AB", bankroll=1_000, purse=10**9).to("BETTING")
    at.bets({"B": "big 100, total_9 20, triple_fish 2, any_triple 5, double_colour_red 30"})
    nets = brute_force(at.state)
    wins = {dice: profit(place, dice) for dice in THROWS if profit(place, dice) > 0}
    most = min((1_000 + nets[dice]) // pays for dice, pays in wins.items())
    refusal = at.refused(PlaceBet("A", place, most + 1), Reason.STAKE_ABOVE_LIMIT)
    assert (refusal.field, refusal.metadata["limit"]) == ("place_bet.stake", str(most))
    assert refusal.metadata["rule"] == "the_bankroll_covers_every_outcome"
    at.bet("A", place, most)
    assert at.table.exposure.worst >= -1_000
    assert at.state.most(place) == 0 or place != at.state.bets[-1].place


def test_even_the_worst_outcome_is_paid_in_full():
    for place in PLACE_IDS:
        at = table(seats="A", bankroll=997, purse=10**9).to("BETTING")
        at.bet("A", place, at.state.most(place))
        worst = min(at.table.exposure.outcomes, key=lambda one: one.net)
        at.do(RingBell(HOUSE))
        at.do(opened(worst.dice))
        assert at.table.bankroll == 997 + worst.net >= 0


def test_where_the_bankroll_covers_less_than_the_minimum_nothing_is_taken():
    at = table(bankroll=100, min=10).to("BETTING")
    refusal = at.refused(PlaceBet("A", "triple_coin", 10), Reason.STAKE_ABOVE_LIMIT)
    assert refusal.metadata["limit"] == "0"
    places = {place for one in at.view.allowed for place in one.choices}
    assert "big" in places
    assert "triple_coin" not in places


def test_a_bet_on_the_other_side_makes_room():
    at = table(bankroll=100).to("BETTING")
    at.bet("A", "big", 100)
    at.refused(PlaceBet("A", "big", 1), Reason.STAKE_ABOVE_LIMIT)
    at.bet("B", "small", 50)
    assert at.state.most("big") == 50


def test_carried_bets_stay_covered():
    at = table(bankroll=100).to("BETTING")
    at.bet("A", "big", 100)
    at.do(RingBell(HOUSE))
    before = at.table.exposure
    at.do(void())
    assert at.table.exposure == before
    at.to("BETTING")
    at.refused(PlaceBet("A", "big", 1), Reason.STAKE_ABOVE_LIMIT)


def test_after_a_round_nothing_is_exposed():
    at = table()
    at.play_round({"A": "big 10, total_4 3", "B": "triple_coin 1"}, "444")
    assert at.state.nets == NO_BETS


def test_a_layout_is_full_at_some_time():
    at = table(bankroll=10**9).to("BETTING")
    bets = tuple(Bet(number, "A", "big", 1) for number in range(1, BETS_MAX))
    full = type(at.state)(
        at.state.terms, at.state.seats, 10**9, "BETTING", 3, bets, BETS_MAX, at.state.nets
    )
    game = at.table.game
    (last,) = game.decide(full, PlaceBet("A", "big", 1))
    full = game.fold(full, last)
    with pytest.raises(Refused) as caught:
        game.decide(full, PlaceBet("A", "big", 1))
    assert caught.value.reason is Reason.NOT_OFFERED
    assert {one.command for one in game.view(full).allowed} == {"ring_bell"}


def test_the_house_s_exposure_is_nothing_where_a_player_banks():
    assert ceelo().table.exposure is None
    assert ceelo().table.bankroll == 0
