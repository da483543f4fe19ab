"""Trips start a Death Roll: all others match or beat them, or are out."""

import pytest

from croupier.domain.errors import Reason
from croupier.domain.race_events import (
    DeathRollAwarded,
    DeathRollStarted,
    DeathRollSurvived,
    Eliminated,
    GameRoundStarted,
    RaceWon,
)
from tests.support.play import only
from tests.support.twelve_high import race, roll


def test_trips_score_nothing_and_call_all_others_in_rolling_order_from_the_starter():
    at = race("PQRS", "112")
    events = at.roll("Q", "444")
    assert events[1:] == (DeathRollStarted(player="Q", bar=4, award=4),)
    assert (at.view.phase, at.view.details["bar"], at.view.details["starter"]) == (
        "DEATH_ROLL",
        4,
        "Q",
    )
    assert at.points == "P 2, Q 0, R 0, S 0"
    seen = []
    while at.view.phase == "DEATH_ROLL":
        seen += at.view.to_act
        at.throws("666")
    # P threw in this round already and throws again; R and S lose their turns.
    assert "".join(seen) == "RSP"
    assert at.view.to_act == ("P",)


def test_a_survivor_by_trips_gets_his_own_digit_as_the_next_round_starts():
    at = race("PQR", "444 444")
    assert at.points == "P 0, Q 0, R 0"
    events = at.roll("R", "555")
    assert events[1:] == (
        DeathRollSurvived(player="R", award=5, bar=4),
        DeathRollAwarded(player="P", points=4, total=4),
        DeathRollAwarded(player="Q", points=4, total=4),
        DeathRollAwarded(player="R", points=5, total=5),
        GameRoundStarted(number=2),
    )


@pytest.mark.parametrize(
    "bar, thrown, award",
    [
        ("333", "345", 4),
        ("333", "561", 4),
        ("333", "234", 0),
        ("222", "234", 3),
        ("444", "345", 0),
        ("444", "456", 5),
        ("555", "456", 0),
        ("666", "456", 0),
        ("111", "123", 2),
        ("222", "123", 0),
        ("333", "222", 0),
        ("333", "333", 3),
        ("111", "666", 6),
        ("111", "661", 0),
        ("111", "116", 0),
        ("111", "135", 0),
    ],
)
def test_a_throw_survives_a_death_roll_by_the_table_of_the_rules(bar, thrown, award):
    at = race("PQR", f"{bar} {bar}")
    events = at.roll("R", thrown)
    if award:
        assert only(events, DeathRollSurvived).award == award
        assert at.points.endswith(f"R {award}")
        assert at.out == ""
    else:
        assert events[1] == Eliminated(player="R", rule="death_roll")
        assert at.out == "R"
    assert at.won == ""


def test_nothing_is_not_thrown_again_in_a_death_roll():
    at = race("PQR", "222 135", reroll_nothing=True)
    assert (at.out, at.view.to_act) == ("Q", ("R",))


def test_a_storm_s_award_does_not_depend_on_what_storms_score_in_turns():
    assert race("PQ", "333 345", storm_scores=False).points == "P 3, Q 4"


def test_the_starter_wins_if_nobody_else_survives_even_without_a_point():
    at = race("PQR", "666 665")
    events = at.roll("R", "124")
    assert events[1:3] == (
        Eliminated(player="R", rule="death_roll"),
        RaceWon(player="P", rule="last_player_left"),
    )
    assert (at.points, at.out) == ("P 0, Q 0, R 0", "QR")


def test_points_do_not_protect_from_a_death_roll():
    at = race("PQR", "116 225 124 115 666 666 333")
    assert (at.points, at.out, at.won) == ("P 11, Q 11, R 6", "P", "")


def test_an_award_can_win_as_the_next_round_starts_before_anybody_throws():
    at = race("PQ", "116 124 114 222")
    events = at.roll("P", "222")
    assert only(events, RaceWon) == RaceWon(player="P", rule="highest_total")
    assert at.points == "P 12, Q 2"


def test_the_highest_of_several_who_reach_the_target_by_awards_wins():
    at = race("PQR", "116 115 224 113 113 113 444 555 444")
    assert (at.points, at.won) == ("P 13, Q 13, R 11", "")
    at = race("PQR", "116 115 224 113 113 113 444 666 444")
    assert (at.points, at.won) == ("P 13, Q 14, R 11", "Q highest_total")


def test_equal_at_the_top_all_play_on_until_one_leads():
    at = race("PQR", "116 115 224 113 113 113 444 555 444")
    assert at.view.to_act == ("P",)
    at.throws("124 124")
    # Twelve is the target, but thirteen are two others'.
    at.throws("221")
    assert (at.points, at.won) == ("P 13, Q 13, R 12", "")
    at.throws("124 331")
    assert at.won == "Q target"


def test_equal_at_the_top_of_whom_one_goes_out_the_other_leads_as_the_next_round_starts():
    at = race("PQR", "116 115 224 113 113 113 444 555 444")
    at.throws("123 124")
    assert at.won == ""
    events = at.roll("R", "124")
    assert only(events, RaceWon) == RaceWon(player="Q", rule="highest_total")


def test_an_eliminated_player_is_not_called_to_a_death_roll():
    at = race("PQR", "123 444")
    assert at.view.to_act == ("R",)
    refusal = at.refuses(roll("P", "666"))
    assert (refusal.reason, refusal.metadata["to_act"]) == (Reason.NOT_YOUR_TURN, "R")
    at.throws("555")
    assert (at.points, at.out, at.view.to_act) == ("P 0, Q 4, R 5", "P", ("Q",))


def test_points_of_the_interrupted_round_stay():
    assert race("PQR", "116 222 222 222").points == "P 8, Q 2, R 2"


@pytest.mark.parametrize("bar, out", [("fixed", ""), ("rising", "R")])
def test_who_beats_the_trips_raises_the_bar_where_the_table_plays_so(bar, out):
    at = race("PQR", "222 555 333", bar=bar)
    assert at.out == out
    assert at.points == ("P 2, Q 5, R 3" if bar == "fixed" else "P 2, Q 5, R 0")


def test_a_storm_that_beats_a_rising_bar_raises_it_to_its_score():
    at = race("PQR", "222 345", bar="rising")
    assert at.view.details["bar"] == 4
    at.throws("345")
    assert at.out == "R"


def test_a_rising_bar_never_falls():
    at = race("PQRS", "222 555 666 555", bar="rising")
    assert (at.out, at.points) == ("S", "P 2, Q 5, R 6, S 0")


def test_trips_in_a_death_roll_start_no_other():
    at = race("PQR", "222 333")
    assert (at.view.phase, at.view.details["starter"], at.view.to_act) == (
        "DEATH_ROLL",
        "P",
        ("R",),
    )
