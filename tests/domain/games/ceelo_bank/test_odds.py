"""The exact odds, and the paytable they rest on."""

from fractions import Fraction

import pytest

from croupier.domain.games.ceelo_bank import GAME
from croupier.domain.games.ceelo_bank.odds import edge
from croupier.domain.games.options import resolve
from croupier.domain.money import EVEN, Odds

MULTIPLIED = {"payout": "multiplied"}
REVERSED = {"roll_rules": "reversed"}
TRIPLES_LOSE = {"triples_lose": True}
STANDARD_CHANCES = ("97/216", "307/648", "25/324")
LOSING_TRIPLES_CHANCES = ("271/648", "109/216", "25/324")


def resolved(options):
    return resolve(GAME.options, GAME.presets, options)


@pytest.mark.parametrize(
    "options, chances, advantage, percent, percent_not_pushed",
    [
        ({}, STANDARD_CHANCES, "2/81", "2.4691", "2.6756"),
        ({"preset": "german"}, STANDARD_CHANCES, "2/81", "2.4691", "2.6756"),
        (REVERSED, STANDARD_CHANCES, "2/81", "2.4691", "2.6756"),
        (TRIPLES_LOSE, LOSING_TRIPLES_CHANCES, "7/81", "8.6420", "9.3645"),
        ({**TRIPLES_LOSE, **REVERSED}, LOSING_TRIPLES_CHANCES, "7/81", "8.6420", "9.3645"),
        (MULTIPLIED, STANDARD_CHANCES, "-19/243", "-7.8189", "-8.4727"),
        (
            {**MULTIPLIED, "payout_applies_to": "both_sides"},
            STANDARD_CHANCES,
            "26/243",
            "10.6996",
            "11.5942",
        ),
        ({**MULTIPLIED, **REVERSED}, STANDARD_CHANCES, "-19/243", "-7.8189", "-8.4727"),
        (
            {**MULTIPLIED, **REVERSED, **TRIPLES_LOSE},
            LOSING_TRIPLES_CHANCES,
            "1/18",
            "5.5556",
            "6.0201",
        ),
    ],
)
def test_c13_the_bankers_advantage_per_unit_faded(
    options, chances, advantage, percent, percent_not_pushed
):
    """The Finnish source says 2½ percent: 2/81, rounded; true of even money only."""
    found = edge(resolved(options))
    assert (found.win, found.lose, found.push) == tuple(map(Fraction, chances))
    assert found.win + found.lose + found.push == 1
    assert found.advantage == Fraction(advantage)
    assert in_percent(found.advantage) == percent
    assert in_percent(found.advantage_not_pushed) == percent_not_pushed


def in_percent(fraction):
    """Return a fraction as percent with four decimal places, rounded to the nearest."""
    units = round(fraction * 1_000_000)
    sign, units = "-" if units < 0 else "", abs(units)
    return f"{sign}{units // 10_000}.{units % 10_000:04}"


def test_without_inheritance_a_reversed_123_is_paid_even_money():
    """60 of 108 rounds have a point, and 6 of 108 players win by it: one unit less each time."""
    multiplied = edge(resolved({**MULTIPLIED, **REVERSED}))
    poorer = edge(resolved({**MULTIPLIED, **REVERSED, "reversed_inherits": False}))
    assert poorer.advantage - multiplied.advantage == Fraction(60, 108) * Fraction(6, 108)


def test_odds_are_of_bets_paid_in_full_also_where_the_table_caps_them():
    capped = {**MULTIPLIED, "over_bank_liability": "capped"}
    assert edge(resolved(capped)) == edge(resolved(MULTIPLIED))


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
