"""The edge cases of the rules, each by its own name."""

import pytest

from croupier.domain.errors import Reason
from croupier.domain.events import (
    Anted,
    Collected,
    PaidOut,
    Rolled,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot.ranking import RANKS, best
from croupier.domain.games.ceelo_throws import DECISIVE, read
from tests.support.play import each, only
from tests.support.pot import nets, roll, table, throwing

TRIPLES = ("666", "555", "444", "333", "222", "111")
POINTS = ("116", "225", "334", "443", "552", "661")
BEST_TO_WORST = ("456", *TRIPLES, *POINTS, "123")


@pytest.mark.parametrize("place", range(13))
def test_each_of_the_14_ranks_beats_the_next_and_so_all_below(place):
    better, worse = BEST_TO_WORST[place : place + 2]
    assert table(seats="AB").play_round(f"{better} {worse}").winner == "A"
    assert table(seats="AB").play_round(f"{worse} {better}").winner == "B"


def test_there_are_14_ranks_and_every_decisive_throw_has_one():
    assert len(RANKS) == 14
    assert {read(thrown) for thrown in DECISIVE} == set(RANKS)
    assert best(reversed(RANKS)) == "four_five_six"
    assert best(()) == ""


@pytest.mark.parametrize(
    "one, other", [("456", "645"), ("123", "312"), ("666", "666"), ("225", "665"), ("114", "554")]
)
def test_equal_ranks_tie_whatever_the_pair_and_the_order_of_the_dice(one, other):
    at = throwing(one, seats="AB")
    assert only(at.throw(other), ShootOutCalled).players == ("A", "B")


def test_1_three_aces_beat_point_6():
    assert table(seats="AB").play_round("116 111").winner == "B"


def test_2_point_6_and_point_1_are_ordinary_points_and_nothing_is_automatic():
    assert table().play_round("116 661 222").winner == "C"
    at = throwing("661")
    assert at.view.to_act == ("B",)
    assert at.throw("116 552")[-2].player == "B"


def test_3_123_is_below_point_1_and_is_not_thrown_again():
    at = throwing("123", seats="AB")
    assert at.view.to_act == ("B",)
    assert only(at.throw("661"), PaidOut).player == "B"


def test_4_123_of_all_is_a_tie_for_best_and_not_a_loss_of_all():
    played = table().play_round("123 213 321 661 123 123")
    assert played.shoot_outs == ["ABC"]
    assert nets(played) == "A +200, B -100, C -100"


def test_5_two_456_shoot_it_out_and_a_third_is_out_even_with_three_sixes():
    played = table().play_round("456 465 666 112 555")
    assert played.shoot_outs == ["AB"]
    assert nets(played) == "A -100, B +200, C -100"


def test_6_the_losers_of_a_pass_stay_out_however_high_the_shoot_out_goes():
    at = throwing("225 335 114", seats="ABC")
    refusal = at.refuses(roll("C", "456"))
    assert (refusal.reason, refusal.metadata["rule"]) == (
        Reason.NOT_YOUR_TURN,
        "out_of_the_shoot_out",
    )
    at.throw("123 213")
    assert at.refuses(roll("C", "456")).metadata["rule"] == "out_of_the_shoot_out"
    assert only(at.throw("123 661"), PaidOut).player == "B"


def test_7_a_shoot_out_uses_only_the_new_throws():
    assert table(seats="AB").play_round("456 456 123 661").winner == "B"


def test_8_shoot_outs_repeat_and_shrink_the_field_step_by_step():
    played = table(seats="ABCD").play_round("225 225 225 225 115 115 115 114 666 666 123 224 225")
    assert played.shoot_outs == ["ABCD", "ABC", "AB"]
    assert [called.number for called in each(played.events, ShootOutCalled)] == [1, 2, 3]
    assert played.winner == "B"


def test_8_there_is_no_last_shoot_out():
    played = table(seats="AB").play_round("223 113 " * 300 + "224 223")
    assert len(played.shoot_outs) == 300
    assert nets(played) == "A +100, B -100"


def test_9_no_money_moves_in_a_shoot_out():
    at = throwing("225 335 123")
    balances = dict(at.balances)
    assert at.table.at_risk == 300
    events = at.throw("226 116 134 555")
    assert at.balances == balances
    assert {type(event) for event in events} == {Rolled, ShootOutCalled}


@pytest.mark.parametrize("thrown", ["234", "345", "246", "135", "356", "124", "146"])
def test_10_three_different_dice_but_123_and_456_mean_nothing_and_are_thrown_again(thrown):
    at = throwing()
    rolled = only(at.throw(thrown), Rolled)
    assert rolled.reading == "meaningless"
    assert at.view.to_act == ("A",)


def test_11_who_has_his_throw_of_the_pass_does_not_throw_again():
    at = throwing("123")
    refusal = at.refuses(roll("A", "456"))
    assert (refusal.reason, refusal.metadata["rule"]) == (
        Reason.NOT_YOUR_TURN,
        "one_decisive_throw_each",
    )
    assert refusal.metadata["to_act"] == "B"


def test_12_the_winner_takes_all_of_an_odd_pot():
    played = table(ante=333).play_round("661 111 446")
    assert nets(played) == "A -333, B +666, C -333"
    paid = only(played.events, PaidOut)
    assert (paid.returned, paid.winnings, paid.owed, paid.odds) == (333, 666, 666, None)


def test_13_a_456_does_not_cancel_the_throws_of_those_still_to_come():
    at = throwing("456")
    assert at.view.to_act == ("B",)
    assert at.table.in_round
    assert only(at.throw("456 666"), ShootOutCalled).players == ("A", "B")


def test_14_a_123_neither_refunds_nor_eliminates_anybody_early():
    at = throwing("123")
    assert at.table.at_risk == 300
    assert [seat.standing for seat in at.view.seats] == ["thrown", "to_throw", "to_throw"]


def test_the_losers_antes_are_collected_in_order_of_the_seats_and_the_winner_is_paid_once():
    events = throwing("225 335 123", seats="ABC").throw("661 116")
    assert [(e.player, e.amount, e.rule) for e in each(events, Collected)] == [
        ("A", 100, "ante_lost"),
        ("C", 100, "ante_lost"),
    ]
    assert only(events, PaidOut).rule == "best_throw"
    assert [type(event).__name__ for event in events[-2:]] == ["PaidOut", "RoundSettled"]


def test_no_money_but_the_antes_is_asked_for():
    at = table(seats="AB", purse=100)
    played = at.play_round("225 335 225 335 661 116")
    assert nets(played) == "A -100, B +100"
    assert len(each(played.events, Anted)) == 2
