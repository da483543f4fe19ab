"""What each line of the paytable pays, and how often it weighs in the odds."""

from fractions import Fraction

import pytest

from croupier.domain.games.ceelo_bank import GAME
from croupier.domain.games.ceelo_bank.odds import edge
from croupier.domain.games.options import resolve
from croupier.domain.money import EVEN, Odds

MULTIPLIED = {"payout": "multiplied"}
REVERSED = {"roll_rules": "reversed"}
TRIPLES_LOSE = {"triples_lose": True}


def resolved(options):
    return resolve(GAME.options, GAME.presets, options)


def test_each_factor_weighs_as_often_as_its_throw_comes():
    base = edge(resolved(MULTIPLIED)).advantage
    points = Fraction(60, 108)
    dearer = {
        "factor_456": Fraction(6, 108),
        "factor_triples": Fraction(5, 108),
        "factor_111": Fraction(1, 108),
    }
    for factor, chance in dearer.items():
        one_more = resolved(MULTIPLIED)[factor] + 1
        changed = edge(resolved({**MULTIPLIED, factor: one_more})).advantage
        assert base - changed == points * chance


@pytest.mark.parametrize(
    "options, lines",
    [
        ({}, {"even": EVEN}),
        ({"factor_111": 9}, {"even": EVEN}),
        (
            MULTIPLIED,
            {
                "even": EVEN,
                "four_five_six": Odds(2),
                "triples": Odds(3),
                "one_one_one": Odds(5),
            },
        ),
        (
            {**MULTIPLIED, "factor_456": 4, "factor_triples": 6, "factor_111": 8},
            {
                "even": EVEN,
                "four_five_six": Odds(4),
                "triples": Odds(6),
                "one_one_one": Odds(8),
            },
        ),
        (
            {**MULTIPLIED, **REVERSED},
            {
                "even": EVEN,
                "one_two_three": Odds(2),
                "triples": Odds(3),
                "one_one_one": Odds(5),
            },
        ),
        (
            {**MULTIPLIED, **REVERSED, "reversed_inherits": False},
            {"even": EVEN, "triples": Odds(3), "one_one_one": Odds(5)},
        ),
        ({**MULTIPLIED, **TRIPLES_LOSE}, {"even": EVEN, "four_five_six": Odds(2)}),
        ({**MULTIPLIED, **TRIPLES_LOSE, **REVERSED}, {"even": EVEN, "one_two_three": Odds(2)}),
        (
            {**MULTIPLIED, **TRIPLES_LOSE, **REVERSED, "payout_applies_to": "both_sides"},
            {
                "even": EVEN,
                "four_five_six": Odds(2),
                "one_two_three": Odds(2),
                "triples": Odds(3),
                "one_one_one": Odds(5),
            },
        ),
    ],
)
def test_the_paytable_prices_every_line_that_can_win_and_no_other(options, lines):
    assert GAME.paytable(resolved(options)).lines == lines


def test_another_price_is_another_paytable_with_another_digest():
    digests = {
        GAME.paytable(resolved({**MULTIPLIED, "factor_111": factor})).digest()
        for factor in range(1, 101)
    }
    assert len(digests) == 100
