"""Worked examples, row by row: the winner, the nets, how many shoot-outs."""

import json
from pathlib import Path

import pytest

from tests.support.pot import table

ROWS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "ceelo_pot.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", ROWS, ids=[f"x{row['id']}" for row in ROWS])
def test_a_worked_example_comes_out_as_written(row):
    at = table(seats=row["players"], ante=row["ante"])
    played = at.play_round(" ".join("".join(map(str, dice)) for dice in row["throws_in_order"]))
    expect = row["expect"]
    assert played.winner == expect["winner"]
    assert played.nets == expect["net"]
    assert len(played.shoot_outs) == expect["shoot_outs"]


def test_every_row_is_there():
    assert [row["id"] for row in ROWS] == ["W01", "W03", "W05", "W07", "W09", "W11", "W13", "W15"]
