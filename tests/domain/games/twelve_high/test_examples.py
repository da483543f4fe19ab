"""Worked examples, row by row: points after any award, who is out, who won."""

import json
from pathlib import Path

import pytest

from tests.support.twelve_high import race, table

ROWS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "twelve_high.json").read_text(encoding="utf-8")
)


def check(at, row):
    expect = row["expect"]
    assert {one.player: one.points for one in at.state.racers} == expect["points"]
    assert [*at.out] == expect["out"]
    assert (at.state.winner or None) == expect["winner"]
    assert at.table.in_round == (expect["status"] == "running")


@pytest.mark.parametrize("row", ROWS, ids=[f"x{row['id']}" for row in ROWS])
def test_a_worked_example_comes_out_as_written(row):
    at = race("".join(row["rolling_order"]), **row["options"])
    assert at.state.order == tuple(row["rolling_order"])
    choices = iter(row["choices"])
    for thrown in row["throws_in_order"]:
        at.throws("".join(map(str, thrown)))
        if at.view.phase == "HOUSE_OPTION":
            choose = at.choose_death_roll if next(choices) else at.choose_win
            choose(at.view.to_act[0])
    check(at, row)


@pytest.mark.parametrize("row", ROWS, ids=[f"x{row['id']}" for row in ROWS])
def test_the_order_of_the_dice_is_irrelevant(row):
    turned = [thrown[::-1] for thrown in row["throws_in_order"]]
    test_a_worked_example_comes_out_as_written({**row, "throws_in_order": turned})


def test_xx5_ties_of_the_order_throw_again_for_their_places():
    at = table("ABCD")
    at.ante()
    for player, die in ("A3", "B3", "C5", "D1", "A6", "B2"):
        at.roll(player, die)
    assert at.state.order == tuple("DBAC")
    assert at.view.to_act == ("D",)
