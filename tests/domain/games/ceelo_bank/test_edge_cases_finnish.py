"""The edge cases of the Finnish rules, each by its own name."""

import pytest

from croupier.domain.commands import Fade, Roll
from croupier.domain.errors import Reason
from croupier.domain.events import (
    BetDecided,
    PaidOut,
    Rolled,
)
from tests.support.ceelo import DEALER, nets, roll, table, throwing
from tests.support.play import each, only

MULTIPLIED = {"payout": "multiplied"}


def test_1_the_odd_die_is_the_point_so_661_loses_for_the_banker_and_116_wins():
    assert nets(table().play_round(10, "B 10", "661")) == "A -10, B +10"
    assert nets(table().play_round(10, "B 10", "116")) == "A +10, B -10"


@pytest.mark.parametrize("order", ["252", "522", "225"])
def test_2_the_order_of_the_dice_never_matters(order):
    assert nets(table().play_round(10, "B 10", "224", f"B {order}")) == "A -10, B +10"


def test_3_every_repeat_of_a_meaningless_throw_is_a_recorded_throw():
    played = table().play_round(10, "B 10", "124 236 224", "B 135 346 225")
    rolled = [(e.player, e.reading) for e in each(played.events, Rolled)]
    assert rolled == [
        ("A", "meaningless"),
        ("A", "meaningless"),
        ("A", "point_4"),
        ("B", "meaningless"),
        ("B", "meaningless"),
        ("B", "point_5"),
    ]


@pytest.mark.parametrize("thrown", ["116", "661"])
def test_4_point_6_and_point_1_are_automatic_for_the_banker_so_nobody_can_tie_them(thrown):
    played = table().play_round(10, "B 10", thrown)
    assert len(each(played.events, Rolled)) == 1
    assert only(played.events, BetDecided).result != "pushed"


def test_5_a_players_point_6_always_wins_but_is_neither_hot_nor_multiplied():
    played = table(**MULTIPLIED).play_round(20, "B 10, C 10", "445", "B 446, C 443")
    assert nets(played) == "B +10, C -10"
    assert played.passed == ("A", "retained")


@pytest.mark.parametrize("thrown", ["456", "123"])
def test_6_the_uncovered_bank_is_neither_lost_nor_doubled(thrown):
    at = table()
    at.cover(100, "B 30")
    assert at.purse_of("A") == 1_000_000 - 30
    at.roll("A", thrown)
    assert abs(at.worth("A") - 1_000_000) == 30


def test_7_a_fade_is_limited_by_what_is_still_uncovered_and_never_trimmed():
    at = table()
    at.post(100)
    at.fade("B", 80)
    refusal = at.refuses(Fade("C", 21))
    assert (refusal.reason, refusal.metadata["limit"]) == (Reason.STAKE_ABOVE_LIMIT, "20")
    at.fade("C", 20)
    assert at.view.phase == "BANKER_THROWS"


def test_8_seats_after_the_bank_is_covered_get_no_turn_and_do_not_count():
    at = table()
    at.cover(100, "B 100")
    assert [seat.standing for seat in at.view.seats][2:] == ["not_offered", "not_offered"]
    at.roll("A", "224")
    at.roll("B", "225")
    assert at.state.last_rule == "broken"


def test_9_a_seat_that_faded_nothing_never_throws_and_the_banker_cannot_fade():
    at = table()
    at.post(100)
    assert at.refuses(Fade("A", 1)).metadata["rule"] == "banker_cannot_fade"
    at.decline("B")
    at.fade("C", 100)
    at.roll("A", "224")
    assert at.refuses(roll("B", "456")).metadata["rule"] == "players_do_not_throw"


@pytest.mark.parametrize("thrown", ["456", "333", "116", "123", "661"])
def test_10_no_player_throws_after_an_automatic_result(thrown):
    at = throwing("B 10")
    at.roll("A", thrown)
    assert at.refuses(roll("B", "456")).metadata["rule"] == "players_do_not_throw"


def test_11_a_push_returns_the_stake_and_blocks_broken():
    played = table().play_round(20, "B 10, C 10", "224", "B 225, C 334")
    assert nets(played, "BC") == "B +10, C +0"
    assert played.passed == ("A", "retained")


def test_12_broken_beats_hot():
    played = table().play_round(30, "B 10, C 10, D 10", "224", "B 225, C 226, D 333")
    assert played.passed == ("B", "broken")


def test_13_hot_goes_to_the_first_in_throwing_order_not_to_the_highest():
    played = table().play_round(30, "B 10, C 10, D 10", "224", "B 123, C 111, D 456")
    assert played.passed == ("C", "hot")


def test_14_a_broken_bank_goes_to_the_left_neighbour_though_he_sat_the_round_out():
    played = table().play_round(20, "C 10, D 10", "224", "C 225, D 225")
    assert played.passed == ("B", "broken")


def test_15_the_carried_bank_contains_the_lost_fades_but_not_the_pocketed_rest():
    at = table()
    played = at.play_round(100, "B 30, C 10", "456")
    assert (played.uncovered, played.bank.bank_left, at.state.bank) == (60, 80, 80)


def test_16_multiplied_the_net_is_factor_times_fade_and_the_stake_comes_back():
    played = table(**MULTIPLIED).play_round(10, "B 10", "224", "B 111")
    won = next(paid for paid in each(played.events, PaidOut) if paid.player == "B")
    assert (won.returned, won.winnings + won.top_up) == (10, 50)


def test_17_multiplied_wins_beyond_the_bank_never_overdraw_escrow():
    """The table's books are checked after every event; here everybody wins as much as can be."""
    at = table(**MULTIPLIED, factor_111=1000)
    played = at.play_round(90, "B 30, C 30, D 30", "224", "B 111, C 111, D 111")
    assert nets(played) == "A -90000, B +30000, C +30000, D +30000"
    assert at.table.at_risk == 0


def test_18_reversed_applies_to_players_only():
    at = table(roll_rules="reversed")
    assert nets(at.play_round(10, "B 10", "123")) == "A -10, B +10"
    at = table(roll_rules="reversed")
    assert nets(at.play_round(10, "B 10", "456")) == "A +10, B -10"


def test_19_nobody_fades_so_there_is_no_throw_no_winner_and_the_full_bank_returns():
    at = table()
    played = at.play_round(100, "")
    assert each(played.events, Rolled) == []
    assert each(played.events, BetDecided) == []
    assert (at.purse_of("A"), played.bank.rule) == (1_000_000, "no_action")


def test_20_of_two_players_the_only_opponent_banks_after_a_broken_bank():
    at = table(seats="AB")
    assert at.play_round(10, "B 10", "123").passed == ("B", "broken")
    assert at.play_round(10, "A 10", "123").passed == ("A", "broken")


def test_21_the_bankers_111_is_an_automatic_win():
    assert nets(table().play_round(10, "B 10", "111")) == "A +10, B -10"


def test_22_no_player_throws_before_the_bankers_decisive_throw():
    at = throwing("B 10")
    assert at.refuses(roll("B", "456")).metadata["rule"] == "the_banker_throws_first"
    at.roll("A", "246")
    assert at.refuses(roll("B", "456")).metadata["rule"] == "the_banker_throws_first"
    at.roll("A", "224")
    assert at.do(Roll("B", (4, 5, 6), DEALER))
