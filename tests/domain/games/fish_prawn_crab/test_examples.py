"""Worked examples, row by row, and rounds of several players."""

import json
from pathlib import Path

import pytest

from croupier.domain.commands import RingBell
from croupier.domain.names import HOUSE
from tests.support.cup import opened, table, void

ROWS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "fish_prawn_crab.json").read_text(encoding="utf-8")
)
PICTURES = dict(enumerate(("fish", "prawn", "gourd", "coin", "crab", "rooster"), 1))


def place_of(row):
    on = row["on"]
    if row["bet"] in ("three_armies", "triple"):
        on = PICTURES[on]
    return row["bet"] if on is None else f"{row['bet']}_{on}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['shows']}")
def test_an_example_nets_what_it_says(row):
    at = table(seats="AB")
    house = at.house
    net = row["expect"]["player_net"]
    assert at.net({"A": f"{place_of(row)} {row['stake']}"}, row["dice"]) == {"A": net, "B": 0}
    assert at.house - house == -net


def test_bets_carried_over_a_void_throw_count_once_in_the_next():
    """X 100 on Big, Y 10 on any triple; void; X adds 5 on Small; then 6-6-2."""
    at = table(seats="XY")
    before, house = at.worths(), at.house
    at.shake({"X": "big 100", "Y": "any_triple 10"})
    at.do(void())
    at.to("BETTING")
    at.bet("X", "small", 5)
    at.do(RingBell(HOUSE))
    at.do(opened("662"))
    assert {who: worth - before[who] for who, worth in at.worths().items()} == {"X": 95, "Y": -10}
    assert at.house - house == -85


def test_one_player_may_hold_many_places_also_contradictory_ones():
    at = table(seats="A")
    bets = {"A": "small 100, big 100, total_7 10, triple_fish 1, three_armies_coin 20"}
    assert at.net(bets, "124") == {"A": 100 - 100 + 120 - 1 + 20}
