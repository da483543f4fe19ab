"""The exact odds: the 14 ranks, ties, and who gains by throwing first."""

from fractions import Fraction
from itertools import product

import pytest

from croupier.domain.games.ceelo_pot.odds import distribution, tie, wins
from tests.support.pot_model import HIGHEST, worth

DECISIVE = [
    value for thrown in product(range(1, 7), repeat=3) if (value := worth(thrown)) is not None
]


def test_the_14_ranks_have_the_chances_of_the_rules():
    chances = distribution()
    assert len(chances) == 14
    assert sum(chances.values()) == 1
    assert chances["four_five_six"] == chances["one_two_three"] == Fraction(1, 18)
    assert {chances[f"triple_{face}"] for face in range(1, 7)} == {Fraction(1, 108)}
    assert {chances[f"point_{face}"] for face in range(1, 7)} == {Fraction(5, 36)}


def test_two_players_tie_with_probability_119_in_972():
    assert tie(2) == Fraction(119, 972)
    tied = sum(one == other for one, other in product(DECISIVE, repeat=2))
    assert Fraction(tied, 108**2) == tie(2)


def test_three_players_shoot_it_out_as_often_as_all_108_cubed_throws_say():
    values = sorted(set(DECISIVE))
    ways = {value: DECISIVE.count(value) for value in values}
    tied = sum(
        ways[a] * ways[b] * ways[c]
        for a, b, c in product(values, repeat=3)
        if (a, b, c).count(max(a, b, c)) > 1
    )
    assert tie(3) == Fraction(tied, 108**3)
    assert tie(1) == 0


@pytest.mark.parametrize("players", [2, 3, 4, 7])
def test_everybody_has_the_same_chance_whenever_he_throws(players):
    assert {wins(players, place, instant=False) for place in range(1, players + 1)} == {
        Fraction(1, players)
    }


@pytest.mark.parametrize("players", [2, 3, 4])
def test_where_a_456_ends_the_round_it_is_better_to_throw_earlier(players):
    chances = [wins(players, place, instant=True) for place in range(1, players + 1)]
    assert sum(chances) == 1
    assert chances == sorted(chances, reverse=True)
    assert len(set(chances)) == players


def test_the_advantage_of_the_first_of_two_is_that_of_all_pairs_of_throws():
    first = tied = 0
    for one, other in product(DECISIVE, repeat=2):
        first += one == HIGHEST or one > other
        tied += one == other != HIGHEST
    assert wins(2, 1, instant=True) == Fraction(first, 108**2 - tied) == Fraction(859, 1712)
