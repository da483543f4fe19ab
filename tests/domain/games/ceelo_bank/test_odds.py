"""The banker's advantage, exactly: C13, the source's 2 1/2 % is 2/81."""

from collections import Counter
from fractions import Fraction

import pytest

from croupier.domain.games.ceelo_bank.game import CeeloBank
from croupier.domain.games.ceelo_bank.odds import edge
from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.ceelo_bank.verdicts import banker_verdict, player_verdict
from croupier.domain.games.ceelo_throws import DECISIVE, POINTS, point_of, read
from croupier.domain.games.options import resolve
from tests.support.ceelo import table

STANDARD = "97/216 307/648 25/324"
LOSING_TRIPLES = "271/648 109/216 25/324"

# name: options, "wins loses pushes", advantage per unit faded, advantage per unit not pushed
VARIANTS = {
    "finnish": ({}, STANDARD, "2/81", "8/299"),
    "german": ({"preset": "german"}, STANDARD, "2/81", "8/299"),
    "reversed": ({"roll_rules": "reversed"}, STANDARD, "2/81", "8/299"),
    "triples_lose": ({"triples_lose": True}, LOSING_TRIPLES, "7/81", "28/299"),
    "reversed, triples_lose": (
        {"roll_rules": "reversed", "triples_lose": True},
        LOSING_TRIPLES,
        "7/81",
        "28/299",
    ),
    "multiplied": ({"payout": "multiplied"}, STANDARD, "-19/243", "-76/897"),
    "multiplied, both_sides": (
        {"payout": "multiplied", "payout_applies_to": "both_sides"},
        STANDARD,
        "26/243",
        "8/69",
    ),
    "reversed, multiplied": (
        {"payout": "multiplied", "roll_rules": "reversed"},
        STANDARD,
        "-19/243",
        "-76/897",
    ),
    "reversed, triples_lose, multiplied": (
        {"payout": "multiplied", "roll_rules": "reversed", "triples_lose": True},
        LOSING_TRIPLES,
        "1/18",
        "18/299",
    ),
}


def resolved(options):
    return resolve(CeeloBank.options, CeeloBank.presets, options)


@pytest.mark.parametrize(
    "options, chances, advantage, not_pushed", VARIANTS.values(), ids=list(VARIANTS)
)
def test_the_bankers_advantage_is_exact(options, chances, advantage, not_pushed):
    exact = edge(resolved(options))
    assert (exact.win, exact.lose, exact.push) == tuple(map(Fraction, chances.split()))
    assert exact.win + exact.lose + exact.push == 1
    assert exact.advantage == Fraction(advantage)
    assert exact.advantage_not_pushed == Fraction(not_pushed)


@pytest.mark.parametrize("options", [v[0] for v in VARIANTS.values()], ids=list(VARIANTS))
@pytest.mark.parametrize("liability", ["prefunded", "capped"])
def test_the_odds_are_of_wins_paid_in_full_whoever_guarantees_them(options, liability):
    assert edge(resolved({**options, "over_bank_liability": liability})) == edge(resolved(options))


def test_reversed_rolls_that_inherit_nothing_pay_even_money_for_one_two_three():
    """1-2-3 then pays 1 to 1 instead of 2 to 1, whenever the banker holds a point."""
    options = {"payout": "multiplied", "roll_rules": "reversed"}
    inherits, bare = (
        edge(resolved({**options, "reversed_inherits": value})) for value in (True, False)
    )
    a_point_then_one_two_three = Fraction(60, 108) * Fraction(6, 108)
    assert bare.advantage - inherits.advantage == a_point_then_one_two_three


def test_every_factor_at_one_is_even_money():
    factors = {"factor_456": 1, "factor_triples": 1, "factor_111": 1}
    assert edge(resolved({"payout": "multiplied", **factors})) == edge(resolved({}))


def test_the_banker_wins_27_loses_21_and_holds_each_point_in_15_of_108():
    terms = Terms.of(resolved({}))
    throws = Counter()
    for thrown in DECISIVE:
        reading = read(thrown)
        verdict = banker_verdict(terms, reading)
        throws[verdict[0] if verdict else point_of(reading)] += 1
    # "won" and "lost" are the faders': the banker's automatic loss is won by all of them
    assert throws == {"lost": 27, "won": 21, 2: 15, 3: 15, 4: 15, 5: 15}


@pytest.mark.parametrize("point", [2, 3, 4, 5])
def test_a_player_has_12_and_15_for_each_higher_point_to_win_and_6_and_15_for_each_lower_to_lose(
    point,
):
    terms = Terms.of(resolved({}))
    results = Counter(player_verdict(terms, point, read(thrown))[0] for thrown in DECISIVE)
    assert results == {"won": 12 + 15 * (6 - point), "pushed": 15, "lost": 6 + 15 * (point - 1)}


CLASSES = Counter(map(read, DECISIVE))
ONE_OF = {read(thrown): "".join(map(str, thrown)) for thrown in DECISIVE}


def banker_net(options, banker, player=""):
    at = table(seats="AB", purse=10_000, **options)
    return at.play_round(1, "B 1", banker, f"B {player}" if player else "").nets["A"]


@pytest.mark.parametrize("name", ["finnish", "multiplied, both_sides", "reversed, multiplied"])
def test_the_odds_are_those_of_rounds_played_out(name):
    """Every class of throw against every other at a real table, weighed by its throws of 108."""
    options, _, advantage, _ = VARIANTS[name]
    gained = 0
    for banker, ways in CLASSES.items():
        if banker in POINTS[1:5]:
            gained += ways * sum(
                others * banker_net(options, ONE_OF[banker], ONE_OF[player])
                for player, others in CLASSES.items()
            )
        else:
            gained += ways * 108 * banker_net(options, ONE_OF[banker])
    assert Fraction(gained, 108 * 108) == Fraction(advantage)
