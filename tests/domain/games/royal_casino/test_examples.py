"""Worked examples, row by row: whether a move is legal, what a hand scores, how a match ends."""

import json
from pathlib import Path

import pytest

from croupier.domain.card_events import TableSwept
from croupier.domain.errors import Reason, Refused
from croupier.domain.games import game_of
from croupier.domain.games.options import resolve
from croupier.domain.games.royal_casino.counting import Points, points_of, uncancelled
from croupier.domain.games.royal_casino.ending import NOBODY, scored, verdict
from croupier.domain.games.royal_casino.terms import Terms
from tests.support.play import each
from tests.support.royal import GAME, move, turn

VECTORS = Path(__file__).parents[3] / "vectors"


def rows(name):
    found = json.loads((VECTORS / f"royal_casino_{name}.json").read_text(encoding="utf-8"))
    return pytest.mark.parametrize("row", found, ids=[f"x{row['id']}" for row in found])


def terms(**options):
    game = game_of(GAME)
    return Terms.of(resolve(game.options, game.presets, options))


def arranged(row):
    seats = "ABCD"[: row["players"]]
    builds = [
        f"{one['value']} {seats[one['owner_seat']]} {' '.join(one['cards'])}"
        + (" multiple" if one["multiple"] else "")
        for one in row["builds"]
    ]
    mover = seats[row["mover_seat"]]
    return turn(" ".join(row["hand"]), " ".join(row["loose"]), builds, seats=seats, mover=mover)


def asked(at, row):
    one = row["move"]
    numbers = [*one["builds"], *([one["target"]] if one["target"] else ())]
    words = [one["kind"], one["card"], *one["loose"], *(f"#{number}" for number in numbers)]
    if one["kind"] == "create":
        words += ["=", str(one["value"])]
    return move(at.state.mover, " ".join(words))


@rows("moves")
def test_a_move_is_legal_or_not_as_written(row):
    at = arranged(row)
    command = asked(at, row)
    if row["expect"]["legal"]:
        assert at.do(command)
        return
    before = at.snapshot()
    with pytest.raises(Refused) as caught:
        at.do(command)
    assert caught.value.reason is Reason.ILLEGAL_MOVE
    assert caught.value.metadata["rule"] == row["expect"]["reason"]
    assert at.snapshot() == before


@rows("moves")
def test_a_move_is_listed_exactly_if_it_is_legal(row):
    """The lists name cards in an order of their own, and what a raise or an extension makes."""

    def same(one):
        named = {name: getattr(one, name) for name in one.__dataclass_fields__}
        return type(one), {
            name: sorted(value) if isinstance(value, tuple) else value
            for name, value in named.items()
        }

    at = arranged(row)
    wanted = same(asked(at, row))
    assert [same(one) for one in at.moves()].count(wanted) == row["expect"]["legal"]


@rows("moves")
def test_what_the_text_says_of_a_sweep_is_so(row):
    at = arranged(row)
    if row["expect"]["legal"] and row["move"]["kind"] == "capture":
        swept = each(at.do(asked(at, row)), TableSwept)
        assert bool(swept) == (not at.board.loose and not at.board.builds)
        if "sweep" in row["shows"]:
            assert swept


@rows("hand_score")
def test_a_hand_scores_as_written(row):
    points = points_of(row["piles_per_side"], row["sweeps_made"])
    without = [one.total - one.sweeps for one in points]
    assert without == row["expect"]["points_without_sweeps"]
    assert [one.sweeps for one in points] == row["expect"]["net_sweeps"]


@rows("hand_end")
def test_a_hand_ends_as_written(row):
    points = [
        Points(
            cards=one["cards"],
            spades=one["spades"],
            big_casino=one["big"],
            little_casino=one["little"],
            aces=one["aces"],
            sweeps=one["sweeps"],
        )
        for one in row["hand"]
    ]
    overtime, agreed = row["overtime_before"], terms()
    fact = scored(1, row["scores_before"], points, overtime=overtime, terms=agreed)
    assert [one.before for one in fact.scores] == row["scores_before"]
    assert [one.after for one in fact.scores] == row["expect"]["scores_after"]
    assert fact.overtime == row["expect"]["overtime_after"]
    won = verdict(fact.scores, overtime=overtime, terms=agreed).side
    assert (None if won == NOBODY else won) == row["expect"]["winner_side"]


@pytest.mark.parametrize(
    "made, net",
    [
        ((3, 1), (2, 0)),
        ((2, 2), (0, 0)),
        ((0, 4), (0, 4)),
        ((3, 1, 0), (2, 0, 0)),
        ((0, 0, 1), (0, 0, 1)),
    ],
)
def test_xx11_sweeps_cancel_one_against_one(made, net):
    assert uncancelled(made) == net
