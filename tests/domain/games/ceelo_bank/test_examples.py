"""Worked examples, row by row: nets, what returns uncovered, bank left, next banker and why."""

import json
from pathlib import Path

import pytest

from croupier.domain.errors import Reason
from croupier.domain.events import (
    PaidOut,
)
from tests.support.ceelo import nets, roll, table
from tests.support.play import each

ROWS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "ceelo_bank.json").read_text(encoding="utf-8")
)
RULES = {"retain": "retained"}


def options_of(variant):
    factors = (variant["mult_456"], variant["mult_trips"], variant["mult_111"])
    both = variant["mult_applies"] == "both"
    choice = variant["auto_loss"] == "choice"
    return {
        "payout": "even" if set(factors) == {1} else "multiplied",
        "factor_456": factors[0],
        "factor_triples": factors[1],
        "factor_111": factors[2],
        "payout_applies_to": "both_sides" if both else "winning_players",
        "roll_rules": "reversed" if variant["reversed_rolls"] else "standard",
        "reversed_inherits": variant["reversed_inherits"],
        "triples_lose": variant["triples_lose"],
        "bank_precedence": variant["precedence"],
        "auto_loss_bank": "banker_choice" if choice else "pass_left",
        "bank_carry": variant["carry"],
    }


def play_row(row, options):
    at = table(seats=row["seats_clockwise"], banker=row["banker"], **options)
    fades = ", ".join(f"{player} {stake}" for player, stake in row["fades"].items())
    in_order = sorted(row["player_throws"], key=list(row["fades"]).index)
    played = at.play_round(
        row["bank"],
        fades,
        " ".join("".join(map(str, thrown)) for thrown in row["banker_throws"]),
        ", ".join(
            f"{player} {' '.join(''.join(map(str, t)) for t in row['player_throws'][player])}"
            for player in in_order
        ),
    )
    return at, played


def check_row(row, at, played):
    expect, banker = row["expect"], row["banker"]
    assert played.nets == {
        **dict.fromkeys(at.seats, 0),
        **expect["net"],
        banker: expect["banker_net"],
    }
    assert played.uncovered == expect["unfaded"]
    assert played.bank.bank_left == expect["bank_left"]
    rule = expect["next_rule"]
    assert played.passed == (expect.get("next_banker", ""), RULES.get(rule, rule))
    top_up = sum(paid.top_up for paid in each(played.events, PaidOut))
    assert top_up == expect.get("shortfall", 0)
    if "choice" in expect:
        assert [at.state.banker, at.state.left_neighbour] == expect["choice"]


@pytest.mark.parametrize("row", ROWS, ids=[f"x{row['id']}" for row in ROWS])
def test_a_worked_example_comes_out_as_written(row):
    check_row(row, *play_row(row, options_of(row["variant"])))


NAMED = [row for row in ROWS if row["variant"]["name"] in ("finnish", "german")]


@pytest.mark.parametrize("row", NAMED, ids=[f"x{row['id']}" for row in NAMED])
def test_a_worked_example_of_a_preset_needs_only_the_presets_name(row):
    check_row(row, *play_row(row, {"preset": row["variant"]["name"]}))


def test_xx1_a_standing_bank_grows_over_three_rounds_and_is_broken():
    at = table()
    first = at.play_round(6000, "B 2000, C 2000, D 2000", "224", "B 225, C 554, D 123")
    assert first.bank.bank_left == 6000
    second = at.play_round(1000, "B 7000", "456")
    assert second.bank.bank_left == 14000
    third = at.play_round(0, "B 4000, C 1000", "123")
    assert (third.uncovered, third.bank.bank_left) == (9000, 0)
    assert [played.nets["A"] for played in (first, second, third)] == [0, 7000, -5000]
    assert third.passed == ("B", "broken")
    assert nets(third) == "A -5000, B +4000, C +1000"
    assert at.table.at_risk == 0


def test_xx3_a_fader_does_not_throw_after_the_bankers_automatic_win():
    at = table()
    at.play_round(100, "B 100", "456")
    refusal = at.refuses(roll("B", "456"))
    assert refusal.reason is Reason.WRONG_PHASE
    assert refusal.metadata["rule"] == "players_do_not_throw"
    late = at.refuses(roll("B", "456"), round_number=1)
    assert late.reason is Reason.ROUND_MISMATCH
