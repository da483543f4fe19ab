"""The edge cases of the German rules, each by its own name."""

import pytest

from croupier.domain.commands import KeepBank
from croupier.domain.events import (
    BankPosted,
    BetDecided,
    PaidOut,
)
from tests.support.ceelo import CeeloTable, nets, roll
from tests.support.play import each, only


def table(seats="ABC", **options):
    return CeeloTable(seats=seats, preset="german", **options)


def test_1_a_pair_with_an_odd_1_loses_and_a_pair_with_an_odd_6_wins():
    assert nets(table().play_round(10, "B 10", "661")) == "A -10, B +10"
    assert nets(table().play_round(10, "B 10", "116")) == "A +10, B -10"


def test_2_after_an_automatic_loss_the_bank_waits_for_the_bankers_choice():
    at = table()
    played = at.play_round(10, "B 10", "123")
    assert played.passed == ("", "choice")
    assert (at.view.phase, at.view.to_act) == ("BANK_CHOICE", ("A",))


def test_3_after_a_round_on_points_in_which_all_won_the_bank_passes_without_a_choice():
    at = table()
    assert at.play_round(20, "B 10, C 10", "224", "B 225, C 116").passed == ("B", "broken")
    assert at.view.phase == "BANK_OPEN"
    assert at.refuses(KeepBank("A")).metadata["rule"] == "no_choice_is_offered"


def test_4_all_won_and_one_was_hot_so_he_banks_and_not_the_left_neighbour():
    assert table().play_round(20, "B 10, C 10", "224", "B 225, C 456").passed == ("C", "hot")


def test_5_of_several_hot_winners_the_first_in_throwing_order_banks():
    at = table("ABCD")
    played = at.play_round(30, "B 10, C 10, D 10", "224", "B 225, C 222, D 456")
    assert played.passed == ("C", "hot")


def test_6_a_players_pair_with_6_wins_but_gives_no_right_to_the_bank():
    played = table().play_round(20, "B 10, C 10", "224", "B 223, C 226")
    assert nets(played) == "B -10, C +10"
    assert played.passed == ("A", "retained")


def test_7_triple_ones_pay_even_money():
    assert nets(table().play_round(10, "B 10", "224", "B 111")) == "A -10, B +10"


@pytest.mark.parametrize("thrown", ["332", "223", "224", "225"])
def test_8_the_banker_himself_loses_only_with_a_pair_and_1_and_with_123(thrown):
    """D6: "all values under the banker's" is a losing throw of players; the banker throws first."""
    at = table()
    at.cover(10, "B 10")
    assert each(at.roll("A", thrown), BetDecided) == []
    assert at.view.phase == "PLAYER_THROWS"


def test_9_what_is_left_is_paid_out_every_round_and_the_next_bank_may_be_smaller():
    at = table()
    played = at.play_round(100, "B 100", "456")
    assert only(played.events, PaidOut).returned == 200
    assert (at.table.at_risk, at.state.banker) == (0, "A")
    (posted,) = each(at.post(1), BankPosted)
    assert (posted.bank, posted.carried, posted.added) == (1, 0, 1)


def test_10_the_uncovered_difference_is_removed_before_the_throw():
    at = table()
    at.cover(500, "B 200")
    assert (at.state.bank, at.purse_of("A")) == (200, 1_000_000 - 200)


def test_11_an_equal_point_returns_the_stake_and_is_no_clean_sweep():
    played = table().play_round(20, "B 10, C 10", "224", "B 116, C 554")
    assert nets(played, "BC") == "B +10, C +0"
    assert played.passed == ("A", "retained")


def test_12_players_who_covered_nothing_neither_throw_nor_block_all_players():
    at = table("ABCD")
    at.cover(10, "C 10")
    at.roll("A", "224")
    assert at.refuses(roll("B", "456")).metadata["rule"] == "players_do_not_throw"
    at.roll("C", "225")
    assert (at.state.banker, at.state.last_rule) == ("B", "broken")


def test_13_a_bank_kept_after_an_automatic_loss_is_entirely_fresh_money():
    at = table()
    at.play_round(10, "B 10", "123")
    assert at.table.at_risk == 0
    at.keep("A")
    (posted,) = each(at.post(30), BankPosted)
    assert (posted.player, posted.carried, posted.added) == ("A", 0, 30)


def test_14_a_resigning_bankers_left_neighbour_banks_though_another_was_hot_before():
    at = table()
    assert at.play_round(20, "B 10, C 10", "224", "B 223, C 456").passed == ("C", "hot")
    assert at.play_round(20, "A 10, B 10", "224", "A 333, B 223").passed == ("A", "hot")
    at.resign("A")
    assert at.state.banker == "B"
