"""The rolling order: one die each, lowest first; ties throw again for the places they share."""

import itertools

import pytest

from croupier.domain.dice import Source
from croupier.domain.errors import Reason
from croupier.domain.events import (
    Rolled,
)
from croupier.domain.race_events import (
    GameRoundStarted,
    PlacesTied,
    RollingOrderSettled,
)
from tests.support.play import each, only
from tests.support.twelve_high import roll, table

KIM = Source("dealer", "kim")


def ordering(seats="ABCD"):
    at = table(seats)
    at.ante()
    return at


def thrown(at, text):
    """Throw single dice, "A3 B3", and return all events."""
    return [event for one in text.split() for event in at.roll(one[0], one[1:])]


def test_the_lowest_die_goes_first_and_the_first_round_begins():
    at = ordering("ABC")
    events = thrown(at, "A4 B1 C2")
    assert events[:3:2] == [
        Rolled(player="A", dice=(4,), source=KIM, reading="order_4"),
        Rolled(player="C", dice=(2,), source=KIM, reading="order_2"),
    ]
    assert events[3:] == [
        RollingOrderSettled(players=("B", "C", "A")),
        GameRoundStarted(number=1),
    ]
    assert (at.view.phase, at.view.to_act) == ("TURN", ("B",))


@pytest.mark.parametrize("seats", list(itertools.permutations("ABC")))
def test_players_throw_for_the_order_as_they_like_each_once(seats):
    at = ordering("ABC")
    for die, player in enumerate(seats, 1):
        assert player in at.view.to_act
        at.roll(player, str(die))
    assert at.state.order == seats


def test_only_the_tied_throw_again_and_only_for_their_places():
    at = ordering()
    events = thrown(at, "A3 B3 C5 D1")
    assert only(events, PlacesTied) == PlacesTied(players=("A", "B"))
    assert at.view.to_act == ("A", "B")
    refusal = at.refuses(roll("C", "1"))
    assert refusal.reason is Reason.NOT_YOUR_TURN
    assert refusal.metadata["to_act"] == "A,B"
    thrown(at, "A6 B2")
    # A's 6 is more than C's 5, and yet he keeps a place before him.
    assert at.state.order == tuple("DBAC")


def test_two_pairs_of_ties_settle_their_places_apart():
    at = ordering()
    events = thrown(at, "A2 B5 C2 D5")
    assert each(events, PlacesTied) == [
        PlacesTied(players=("A", "C")),
        PlacesTied(players=("B", "D")),
    ]
    assert at.view.to_act == ("A", "C", "B", "D")
    thrown(at, "D1 C4 A4 B2")
    # A and C are equal again, whatever B and D threw.
    assert at.view.to_act == ("A", "C")
    thrown(at, "A6 C5")
    assert at.state.order == tuple("CADB")


def test_ties_are_settled_again_and_again():
    at = ordering("ABC")
    events = thrown(at, "A2 B2 C2 A4 B4 C1 A5 B5 A6 B6 B1 A2")
    assert [event.players for event in each(events, PlacesTied)] == [
        ("A", "B", "C"),
        ("A", "B"),
        ("A", "B"),
        ("A", "B"),
    ]
    assert at.state.order == tuple("CBA")


def test_a_tie_waits_until_everybody_has_thrown_who_may_join_it():
    at = ordering("ABC")
    assert each(thrown(at, "A2 B2"), PlacesTied) == []
    assert at.view.to_act == ("C",)
    assert only(thrown(at, "C2"), PlacesTied).players == ("A", "B", "C")


def test_one_die_is_thrown_for_the_order_and_three_in_turns():
    at = ordering("AB")
    assert [(one.player, one.least, one.most) for one in at.view.allowed] == [
        ("A", 1, 1),
        ("B", 1, 1),
    ]
    refusal = at.refuses(roll("A", "123"))
    assert (refusal.reason, refusal.field) == (Reason.INVALID_DICE, "roll.dice")
    assert refusal.metadata["count"] == "1"
    thrown(at, "A1 B2")
    assert [(one.player, one.least, one.most) for one in at.view.allowed] == [("A", 3, 3)]
    refusal = at.refuses(roll("A", "1"))
    assert (refusal.reason, refusal.metadata["count"]) == (Reason.INVALID_DICE, "3")


def test_the_order_of_a_game_says_nothing_of_the_next():
    at = ordering("AB")
    thrown(at, "A2 B1")
    at.throws("456")
    at.ante()
    assert at.view.phase == "ORDER"
    thrown(at, "A1 B2")
    assert at.state.order == ("A", "B")
