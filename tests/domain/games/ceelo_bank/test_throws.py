"""What a throw is, and what it means for the banker and for a player."""

from collections import Counter
from itertools import permutations, product

import pytest

from croupier.domain.events import (
    BetDecided,
    Rolled,
)
from croupier.domain.games.ceelo_throws import DECISIVE, MEANINGLESS, point_of, read
from tests.support.ceelo import dice, table, throwing
from tests.support.play import each, only

ALL = list(product(range(1, 7), repeat=3))


@pytest.mark.parametrize(
    "thrown, reading",
    [
        ("456", "four_five_six"),
        ("123", "one_two_three"),
        ("111", "triple_1"),
        ("444", "triple_4"),
        ("666", "triple_6"),
        ("661", "point_1"),  # the point is the odd die, never the pair
        ("116", "point_6"),
        ("112", "point_2"),
        ("443", "point_3"),
        ("334", "point_4"),
        ("665", "point_5"),
        ("124", "meaningless"),
        ("235", "meaningless"),
        ("345", "meaningless"),
        ("356", "meaningless"),
        ("136", "meaningless"),
    ],
)
def test_a_throw_reads_the_same_in_every_order_of_its_dice(thrown, reading):
    assert {read(order) for order in permutations(dice(thrown))} == {reading}


def test_the_216_throws_fall_into_their_classes():
    counts = Counter(map(read, ALL))
    assert counts == {
        "four_five_six": 6,
        "one_two_three": 6,
        **{f"triple_{face}": 1 for face in range(1, 7)},
        **{f"point_{face}": 15 for face in range(1, 7)},
        "meaningless": 108,
    }
    assert len(DECISIVE) == 108


def test_only_a_pair_has_a_point():
    assert {point_of(read(thrown)) for thrown in ALL} == set(range(7))
    assert all(len(set(thrown)) == 2 for thrown in ALL if point_of(read(thrown)))


def after_banker(thrown, **options):
    """Return where a banker's throw leads, as a word."""
    at = throwing("B 100", **options)
    events = at.roll("A", "".join(map(str, thrown)))
    if not (decided := each(events, BetDecided)):
        return f"point {at.state.point}" if at.state.point else at.state.phase
    return {"won": "loss", "lost": "win"}[decided[0].result]


CLASSES = {
    "win": 27,
    "loss": 21,
    "point 2": 15,
    "point 3": 15,
    "point 4": 15,
    "point 5": 15,
    "BANKER_THROWS": 108,
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "german"},
        {"roll_rules": "reversed", "triples_lose": True},
    ],
    ids=["finnish", "german", "reversed and losing triples"],
)
def test_the_banker_wins_loses_sets_a_point_or_throws_again(options):
    """Players' rolls may be reversed and their triples lose; the banker's keep their meaning."""
    assert Counter(after_banker(thrown, **options) for thrown in ALL) == CLASSES


@pytest.mark.parametrize(
    "thrown, meaning",
    [
        ("456", "win"),
        ("111", "win"),  # triple ones too
        ("666", "win"),
        ("116", "win"),
        ("556", "win"),
        ("123", "loss"),
        ("661", "loss"),
        ("221", "loss"),
        ("552", "point 2"),
        ("223", "point 3"),
        ("114", "point 4"),
        ("335", "point 5"),
        ("135", "BANKER_THROWS"),
    ],
)
def test_a_pair_with_an_odd_one_loses_for_the_banker_and_with_an_odd_six_wins(thrown, meaning):
    assert after_banker(thrown) == meaning
    assert after_banker(thrown, preset="german") == meaning


def against(point, thrown, **options):
    """Return what a player's throw makes of his bet against the banker's point."""
    at = throwing("B 100", **options)
    at.roll("A", {2: "332", 3: "553", 4: "224", 5: "445"}[point])
    events = at.roll("B", thrown)
    return next((bet.result for bet in each(events, BetDecided)), "again")


@pytest.mark.parametrize("point", [2, 3, 4, 5])
@pytest.mark.parametrize("options", [{}, {"preset": "german"}], ids=["finnish", "german"])
def test_a_player_beats_ties_or_falls_short_of_every_point(point, options):
    counts = Counter(against(point, "".join(map(str, thrown)), **options) for thrown in ALL)
    assert counts == {
        "won": 12 + 15 * (6 - point),
        "pushed": 15,
        "lost": 6 + 15 * (point - 1),
        "again": 108,
    }


@pytest.mark.parametrize(
    "thrown, standard, switched, inherits_nothing, losing_triples",
    [
        ("456", "won", "lost", "lost", "won"),
        ("123", "lost", "won", "won", "lost"),
        ("111", "won", "won", "won", "lost"),
        ("666", "won", "won", "won", "lost"),
        ("116", "won", "won", "won", "won"),
        ("661", "lost", "lost", "lost", "lost"),
        ("224", "pushed", "pushed", "pushed", "pushed"),
        ("225", "won", "won", "won", "won"),
        ("223", "lost", "lost", "lost", "lost"),
        ("246", "again", "again", "again", "again"),
    ],
)
def test_options_change_only_what_they_name(
    thrown, standard, switched, inherits_nothing, losing_triples
):
    reversed_rolls = {"roll_rules": "reversed"}
    assert against(4, thrown) == standard
    assert against(4, thrown, **reversed_rolls) == switched
    assert against(4, thrown, **reversed_rolls, reversed_inherits=False) == inherits_nothing
    assert against(4, thrown, triples_lose=True) == losing_triples


def test_reversed_rolls_and_losing_triples_are_independent():
    both = {"roll_rules": "reversed", "triples_lose": True}
    results = [against(3, thrown, **both) for thrown in ("123", "456", "555", "116")]
    assert results == ["won", "lost", "lost", "won"]


def test_triples_and_four_five_six_are_not_ranked_among_themselves():
    """When players throw, the banker holds a point: there is nothing to compare."""
    played = table().play_round(300, "B 100, C 100, D 100", "445", "B 111, C 456, D 666")
    assert [bet.result for bet in each(played.events, BetDecided)] == ["won"] * 3


def test_a_throw_is_recorded_in_the_order_observed_with_its_source_and_reading():
    at = throwing()
    rolled = only(at.roll("A", "641"), Rolled)
    assert (rolled.player, rolled.dice, rolled.reading) == ("A", (6, 4, 1), MEANINGLESS)
    assert (rolled.source.kind, rolled.source.id) == ("dealer", "kim")
    assert at.state.phase == "BANKER_THROWS"


def test_meaningless_throws_repeat_without_limit():
    at = throwing("B 100")
    at.roll("A", *["246"] * 40, "334")
    at.roll("B", *["135"] * 40, "225")
    assert len(each(at.events, Rolled)) == 82
