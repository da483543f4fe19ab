"""The house rule: an early High Storm may be a Death Roll; only its thrower says which."""

import pytest

from croupier.domain.commands import ChooseDeathRoll, ChooseWin
from croupier.domain.errors import Reason
from croupier.domain.race_events import (
    DeathRollStarted,
    HouseOptionChosen,
    HouseOptionOffered,
    RaceWon,
)
from tests.support.play import only
from tests.support.twelve_high import race, roll

HOUSE = {"house_rule": True}


def offered():
    """Return a table at which Q has thrown a High Storm and has to choose."""
    return race("PQRS", "112 456", **HOUSE)


def test_the_thrower_of_an_early_high_storm_is_offered_the_choice():
    at = race("PQRS", "112", **HOUSE)
    assert at.roll("Q", "465")[1:] == (HouseOptionOffered(player="Q"),)
    assert (at.view.phase, at.view.to_act) == ("HOUSE_OPTION", ("Q",))
    assert at.view.expects == ("choose_win", "choose_death_roll")
    assert at.won == ""


def test_he_may_take_the_win():
    at = offered()
    events = at.choose_win("Q")
    assert events[:2] == (
        HouseOptionChosen(player="Q", choice="win"),
        RaceWon(player="Q", rule="high_storm"),
    )
    assert at.purse_of("Q") == at.purse + 300


def test_he_may_start_a_death_roll_with_bar_five_instead():
    at = offered()
    events = at.choose_death_roll("Q")
    assert events == (
        HouseOptionChosen(player="Q", choice="death_roll"),
        DeathRollStarted(player="Q", bar=5, award=5),
    )
    assert at.view.to_act == ("R",)
    at.throws("555 456")
    assert at.out == "S"
    at.throws("666")
    assert (at.points, at.view.to_act) == ("P 8, Q 5, R 5, S 0", ("P",))


@pytest.mark.parametrize("house_bar, survives", [(4, "456"), (6, "666"), (1, "123")])
def test_the_bar_of_the_house_may_be_another_and_the_award_is_the_storm_score(house_bar, survives):
    at = race("PQRS", "456", house_bar=house_bar, **HOUSE)
    assert only(at.choose_death_roll("P"), DeathRollStarted).award == 5
    at.throws(f"{survives} 114 114")
    assert at.out == "RS"
    assert at.points.startswith("P 5")


def test_silence_is_no_choice_and_nobody_throws_before_it():
    at = offered()
    for player in "PQRS":
        refusal = at.refuses(roll(player, "666"))
        assert refusal.reason is Reason.WRONG_PHASE
        assert refusal.metadata["phase"] == "HOUSE_OPTION"


@pytest.mark.parametrize("choose", [ChooseWin, ChooseDeathRoll])
def test_only_the_thrower_chooses(choose):
    at = offered()
    for player in "PRS":
        refusal = at.refuses(choose(player))
        assert (refusal.reason, refusal.metadata["to_act"]) == (Reason.NOT_YOUR_TURN, "Q")


@pytest.mark.parametrize("choose", [ChooseWin, ChooseDeathRoll])
@pytest.mark.parametrize(
    "seats, throws, options",
    [
        ("PQRS", "", HOUSE),
        ("PQRS", "112", HOUSE),
        ("PQRS", "444", HOUSE),
        ("PQRS", "456", {}),
        ("PQR", "456", HOUSE),
    ],
)
def test_a_choice_that_nobody_was_offered_is_refused(choose, seats, throws, options):
    at = race(seats, throws, **options)
    for player in seats:
        assert at.refuses(choose(player)).reason is Reason.NOT_OFFERED


def test_a_choice_is_made_once():
    at = offered()
    at.choose_death_roll("Q")
    for choose in (ChooseWin, ChooseDeathRoll):
        assert at.refuses(choose("Q")).reason is Reason.NOT_OFFERED


@pytest.mark.parametrize(
    "seats, throws, options",
    [
        ("PQRS", "456", {}),
        ("PQR", "456", HOUSE),
        # Everybody has had his turn; a second round.
        ("PQRS", "112 112 112 456", HOUSE),
        ("PQRS", "112 112 112 112 456", HOUSE),
        # A Death Roll ended the first round, though S has had no turn in it.
        ("PQRS", "111 111 111 111 456", HOUSE),
    ],
)
def test_a_high_storm_wins_where_the_house_rule_does_not_apply(seats, throws, options):
    at = race(seats, throws, **options)
    assert at.won.endswith(" high_storm")


def test_players_are_counted_at_the_start_of_the_game():
    at = race("PQRS", "123 456", **HOUSE)
    assert (at.view.phase, at.out) == ("HOUSE_OPTION", "P")


def test_the_third_of_four_still_has_somebody_after_him():
    assert race("PQRS", "112 112 456", **HOUSE).view.phase == "HOUSE_OPTION"


def test_a_high_storm_in_the_death_roll_of_the_house_offers_nothing():
    at = offered()
    at.choose_death_roll("Q")
    at.throws("456")
    assert (at.view.phase, at.out) == ("DEATH_ROLL", "R")


def test_the_starter_by_a_high_storm_wins_if_nobody_else_survives():
    at = offered()
    at.choose_death_roll("Q")
    at.throws("444 333 112")
    assert at.won == "Q last_player_left"
