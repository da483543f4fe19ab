"""Turns: points and Storms add, High Storm wins, Low Storm loses, nothing passes the dice on."""

import pytest

from croupier.domain.dice import Source
from croupier.domain.events import (
    Collected,
    PaidOut,
    Rolled,
    RoundSettled,
)
from croupier.domain.money import EVEN
from croupier.domain.race_events import (
    DicePassed,
    Eliminated,
    GameRoundStarted,
    PointsAdded,
    RaceWon,
)
from tests.support.play import only
from tests.support.twelve_high import race, roll, told

KIM = Source("dealer", "kim")


def test_a_point_adds_the_odd_die_and_the_next_player_throws():
    at = race("PQ")
    assert at.roll("P", "662") == (
        Rolled(player="P", dice=(6, 6, 2), source=KIM, reading="point_2"),
        PointsAdded(player="P", points=2, total=2),
    )
    assert at.view.to_act == ("Q",)


def test_after_the_last_turn_a_round_begins_with_the_first_player():
    at = race("PQ", "662")
    events = at.roll("Q", "113")
    assert events[1:] == (
        PointsAdded(player="Q", points=3, total=3),
        GameRoundStarted(number=2),
    )
    assert at.view.to_act == ("P",)
    at.throws("224")
    assert at.points == "P 6, Q 3"


def test_a_plain_storm_scores_its_storm_score():
    assert race("PQ", "234 612 345 561").points == "P 7, Q 7"


def test_a_plain_storm_scores_nothing_where_the_table_plays_so():
    at = race("PQ", storm_scores=False)
    assert at.roll("P", "234")[1:] == (DicePassed(player="P"),)
    at.throws("114")
    assert at.points == "P 0, Q 4"


def test_nothing_passes_the_dice_on():
    at = race("PQ")
    assert at.roll("P", "124")[1:] == (DicePassed(player="P"),)
    assert at.view.to_act == ("Q",)


def test_nothing_is_thrown_again_where_the_table_plays_so():
    at = race("PQ", reroll_nothing=True)
    assert told(at.roll("P", "124", "135")) == "Rolled Rolled"
    assert at.view.to_act == ("P",)
    at.roll("P", "223")
    assert (at.points, at.view.to_act) == ("P 3, Q 0", ("Q",))


def test_a_storm_that_scores_nothing_is_no_throw_that_is_nothing():
    at = race("PQ", "234", reroll_nothing=True, storm_scores=False)
    assert at.view.to_act == ("Q",)


def test_the_target_is_reached_or_passed_and_the_round_is_not_completed():
    at = race("PQR", "116 124 124 115 124 124")
    assert at.points == "P 11, Q 0, R 0"
    events = at.roll("P", "114")
    assert only(events, RaceWon) == RaceWon(player="P", rule="target")
    assert at.points == "P 15, Q 0, R 0"
    assert (at.won, at.table.in_round) == ("P target", False)


@pytest.mark.parametrize("target, throws", [(1, "221"), (6, "116"), (13, "116 124 116 124 112")])
def test_exactly_the_target_wins_whatever_it_is(target, throws):
    assert race("PQ", throws, target=target).won == "P target"


def test_one_point_less_than_the_target_does_not_win():
    assert race("PQ", "116 124 115 124").won == ""


@pytest.mark.parametrize("throws", ["456", "662 546", "662 113 645"])
def test_a_high_storm_in_a_turn_wins_at_once(throws):
    at = race("PQ", throws)
    assert at.won == f"{'PQ'[(len(throws.split()) - 1) % 2]} high_storm"


def test_a_low_storm_puts_one_player_out_and_he_is_not_asked_again():
    at = race("PQR")
    assert at.roll("P", "123")[1:] == (Eliminated(player="P", rule="low_storm"),)
    at.throws("554 124")
    assert at.view.to_act == ("Q",)
    at.throws("116 124")
    assert (at.points, at.out, at.view.to_act) == ("P 0, Q 10, R 0", "P", ("Q",))


def test_with_two_players_a_low_storm_ends_the_game():
    at = race("PQ", "662 312")
    assert (at.won, at.points, at.out) == ("P last_player_left", "P 2, Q 0", "Q")


def test_the_last_of_three_wins_when_both_others_are_out_by_low_storms():
    at = race("PQR", "123 321")
    assert (at.won, at.out) == ("R last_player_left", "PQ")


def test_eleven_points_do_not_protect_from_a_low_storm():
    at = race("PQR", "116 124 124 115 124 124 123")
    assert (at.points, at.out, at.won) == ("P 11, Q 0, R 0", "P", "")


def test_the_winner_takes_all_antes_and_nobody_is_refunded_for_being_out():
    at = race("PQR", "123")
    assert at.table.at_risk == 300
    events = at.roll("Q", "456")
    assert events[1:] == (
        RaceWon(player="Q", rule="high_storm"),
        Collected(player="P", stake=100, odds=EVEN, amount=100, rule="ante_lost"),
        Collected(player="R", stake=100, odds=EVEN, amount=100, rule="ante_lost"),
        PaidOut(player="Q", rule="high_storm", stake=100, returned=100, winnings=200, owed=200),
        RoundSettled(round=1, carried=0),
    )
    assert {p: w - at.purse for p, w in at.worths().items()} == {"P": -100, "Q": 200, "R": -100}


def test_what_a_game_came_to_is_shown_until_the_next_antes():
    at = race("PQ", "662 456")
    assert (at.view.phase, at.view.details["winner"]) == ("ANTE", "Q")
    assert at.view.details["points"] == (2, 0)
    at.ante("P")
    assert (at.view.details["winner"], at.view.details["points"]) == ("", (0, 0))


def test_turns_follow_the_rolling_order_round_after_round():
    at = race("PQRS")
    seen = []
    for _ in range(8):
        seen += at.view.to_act
        at.do(roll(at.view.to_act[0], "124"))
    assert "".join(seen) == "PQRSPQRS"
