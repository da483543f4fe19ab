"""The edge cases of the rules, and every reading that the ambiguity register fixes."""

import pytest

from croupier.domain.commands import PlaceBet
from croupier.domain.errors import Reason
from croupier.domain.events import (
    Collected,
    PaidOut,
    RoundSettled,
)
from croupier.domain.money import Odds
from tests.support.cup import opened, table
from tests.support.play import each, only


def net(place, dice, stake=100, **options):
    return table(seats="A", **options).net({"A": f"{place} {stake}"}, dice)["A"]


@pytest.mark.parametrize("dice", ["111", "222", "333", "444", "555", "666"])
def test_small_and_big_lose_on_any_triple_and_the_house_takes_them(dice):
    at = table(seats="A")
    house = at.house
    assert at.net({"A": "small 10, big 10"}, dice) == {"A": -20}
    assert at.house - house == 20


@pytest.mark.parametrize(
    "dice, place, pays",
    [
        ("222", "total_6", 14),
        ("333", "total_9", 6),
        ("444", "total_12", 6),
        ("555", "total_15", 14),
    ],
)
def test_the_total_of_a_triple_wins(dice, place, pays):
    assert net(place, dice) == 100 * pays


@pytest.mark.parametrize("dice", ["111", "666"])
def test_the_lowest_and_the_highest_triple_win_on_neither_small_nor_big_nor_any_total(dice):
    places = ("small", "big", *(f"total_{total}" for total in range(4, 18)))
    at = table(seats="A")
    assert at.net({"A": ", ".join(f"{place} 1" for place in places)}, dice) == {"A": -16}


@pytest.mark.parametrize("place, dice, won", [
    ("single_colour_red", "123", 100),  # one red
    ("single_colour_red", "163", -100),
    ("single_colour_red", "161", -100),
    ("single_colour_red", "234", -100),
    ("double_colour_red", "123", -100),
    ("double_colour_red", "163", 300),
    ("double_colour_red", "161", -100),
    ("triple_colour_red", "163", -100),
    ("triple_colour_red", "161", 2000),  # fish, rooster, fish: one colour, not one picture
    ("any_triple_colour", "161", 700),
    ("any_triple_colour", "163", -100),
])  # fmt: skip
def test_colours_are_counted_exactly(place, dice, won):
    assert net(place, dice) == won


@pytest.mark.parametrize("dice, colour", [("116", "red"), ("225", "green"), ("334", "blue")])
def test_a_colour_is_on_opposite_faces_which_add_up_to_seven(dice, colour):
    assert net(f"triple_colour_{colour}", dice) == 2000


def test_a_triple_wins_on_its_colour_on_any_and_on_three_armies_and_on_no_exact_colour():
    assert net("triple_colour_blue", "333") == 2000
    assert net("any_triple_colour", "333") == 700
    assert net("triple_gourd", "333") == 15_000
    assert net("any_triple", "333") == 2400
    assert net("three_armies_gourd", "333") == 300
    for colour in ("red", "green", "blue"):
        assert net(f"single_colour_{colour}", "333") == -100
        assert net(f"double_colour_{colour}", "333") == -100


def test_three_armies_pays_once_by_the_number_of_dice():
    at = table(seats="A")
    paid = only(at.play_round({"A": "three_armies_fish 100"}, "115"), PaidOut)
    assert (paid.odds, paid.winnings, paid.returned) == (Odds(2), 200, 100)


def test_150_to_1_on_100_hands_over_15_100():
    paid = only(table(seats="A").play_round({"A": "triple_coin 100"}, "444"), PaidOut)
    assert (paid.winnings + paid.returned, paid.owed) == (15_100, 15_000)


def test_the_same_place_twice_is_two_bets_and_both_are_settled():
    at = table(seats="A")
    events = at.play_round({"A": "big 10, big 10"}, "456")
    assert [(one.bet, one.winnings) for one in each(events, PaidOut)] == [(1, 10), (2, 10)]
    events = at.play_round({"A": "big 10, big 10"}, "123")
    assert [(one.bet, one.amount) for one in each(events, Collected)] == [(3, 10), (4, 10)]


def test_the_totals_4_and_17_are_not_one_bet():
    assert net("total_4", "566") == -100
    assert net("total_17", "566") == 5000


@pytest.mark.parametrize(
    "place", ["total_3", "total_18", "total", "Big", "", "triple_red", "x" * 99]
)
def test_what_is_no_place_is_refused(place):
    at = table().to("BETTING")
    refusal = at.refused(PlaceBet("A", place, 10), Reason.UNKNOWN_PLACE)
    assert (refusal.field, refusal.metadata["place"]) == ("place_bet.place", place[:64])


def test_losers_are_collected_before_winners_are_paid():
    """So what the bank takes helps to cover what it pays."""
    at = table(seats="AB", bankroll=1)
    at.shake({"A": "small 1", "B": "big 2, small 2, big 2"})
    assert at.table.exposure.worst == -1
    events = at.do(opened("456"))
    assert [type(one) for one in events[2:]] == [
        Collected,
        Collected,
        PaidOut,
        PaidOut,
        RoundSettled,
    ]
    assert sum(one.winnings for one in each(events, PaidOut)) == 4
    assert at.table.bankroll == 0
