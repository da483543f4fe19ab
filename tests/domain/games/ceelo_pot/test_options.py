"""What a table can agree on, and what each option changes."""

import pytest

from croupier.domain.commands import Ante
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Anted,
    Collected,
    PaidOut,
    Rolled,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot import GAME
from croupier.domain.money import AMOUNT_MAX
from tests.support.play import each, only
from tests.support.pot import nets, roll, table, throwing


def test_the_defaults_are_those_of_the_rules():
    assert {option.name: option.default for option in GAME.options} == {
        "ante": 1,
        "instant_456": False,
        "shootout_ante": "none",
        "first_thrower": "seat_order",
    }


@pytest.mark.parametrize(
    "options",
    [
        {"ante": 0},
        {"ante": -1},
        {"ante": AMOUNT_MAX + 1},
        {"ante": True},
        {"ante": "100"},
        {"instant_456": "true"},
        {"shootout_ante": "double"},
        {"first_thrower": "dealer"},
    ],
)
def test_an_option_that_cannot_be_is_refused(options):
    with pytest.raises(Refused) as caught:
        table(**{"ante": 1, **options})
    (name,) = options
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, f"options.{name}")


@pytest.mark.parametrize("seats", ["A", ""])
def test_one_player_has_nobody_to_play_against(seats):
    with pytest.raises(Refused) as caught:
        table(seats=seats)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEATS, "seats")


def test_nobody_banks_so_nobody_need_be_named_and_no_stranger_can_be():
    assert table(banker="").play_round("225 226 123").winner == "B"
    assert "banker" not in table(banker="B").view.details
    with pytest.raises(Refused) as caught:
        table(banker="Z")
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEATS, "banker")


# --- instant_456 ----------------------------------------------------------------------------------


def test_instant_the_first_456_ends_the_round_and_nobody_throws_after_it():
    played = table(instant_456=True).play_round("666 456")
    assert nets(played) == "A -100, B +200, C -100"
    assert len(each(played.events, Rolled)) == 2
    assert only(played.events, PaidOut).rule == "instant_456"


def test_instant_a_456_of_the_last_thrower_is_simply_the_best():
    played = table(instant_456=True).play_round("666 111 456")
    assert (played.winner, only(played.events, PaidOut).rule) == ("C", "best_throw")


def test_instant_a_shoot_out_ends_with_the_first_456_too():
    played = table(instant_456=True).play_round("225 335 445 456")
    assert (played.winner, played.shoot_outs) == ("A", ["ABC"])


def test_instant_two_triples_still_tie():
    assert table(instant_456=True, seats="AB").play_round("666 666 661 123").shoot_outs == ["AB"]


# --- shootout_ante --------------------------------------------------------------------------------


def re_ante():
    """A and C have tied and have to ante again; B is out."""
    return throwing("225 114 335", shootout_ante="re_ante")


def test_re_ante_the_tied_ante_again_before_they_throw_and_the_pot_grows():
    at = re_ante()
    assert (at.view.phase, at.view.to_act, at.view.expects) == ("RE_ANTE", ("A", "C"), ("ante",))
    assert at.refuses(roll("A", "456")).metadata["rule"] == "antes_are_not_all_paid"
    at.ante("C")
    assert at.view.to_act == ("A",)
    at.ante("A")
    assert (at.view.phase, at.view.to_act) == ("THROWING", ("A",))
    assert at.view.details["pot"] == at.table.at_risk == 500
    events = at.throw("661 116")
    assert [(e.player, e.amount) for e in each(events, Collected)] == [("A", 200), ("B", 100)]
    paid = only(events, PaidOut)
    assert (paid.player, paid.returned, paid.winnings) == ("C", 200, 300)
    assert at.purse_of("C") == at.purse + 300


def test_re_ante_who_is_out_does_not_ante_again():
    refusal = re_ante().refuses(Ante("B", 100))
    assert (refusal.reason, refusal.metadata["rule"]) == (
        Reason.NOT_YOUR_TURN,
        "out_of_the_shoot_out",
    )
    assert refusal.metadata["to_act"] == "A"


def test_re_ante_is_the_same_ante_once():
    at = re_ante()
    assert at.refuses(Ante("A", 200)).reason is Reason.STAKE_ABOVE_LIMIT
    at.ante("A")
    assert at.refuses(Ante("A", 100)).metadata["rule"] == "one_ante_each"


def test_re_ante_every_shoot_out_asks_for_it_again():
    at = table(shootout_ante="re_ante")
    played = at.play_round("225 335 123 336 446 551 221 111 222")
    assert [len(each(played.events, kind)) for kind in (ShootOutCalled, Anted)] == [3, 9]
    assert nets(played) == "A -400, B +500, C -100"


def test_re_ante_a_void_round_gives_both_antes_back():
    at = re_ante()
    at.ante("C")
    paid = each(at.void("the cup broke"), PaidOut)
    assert [(one.player, one.returned) for one in paid] == [("A", 100), ("B", 100), ("C", 200)]
    assert at.table.at_risk == 0


# --- first_thrower --------------------------------------------------------------------------------


def throwers(played):
    return "".join(event.player for event in each(played.events, Rolled))


def test_seat_order_the_first_seat_throws_first_whoever_won():
    at = table()
    assert throwers(at.play_round("225 226 123")) == "ABC"
    assert throwers(at.play_round("225 226 123")) == "ABC"


def test_previous_winner_throws_first_and_the_others_clockwise_after_him():
    at = table(first_thrower="previous_winner")
    assert throwers(at.play_round("225 226 123")) == "ABC"
    assert throwers(at.play_round("225 223 226")) == "BCA"
    assert throwers(at.play_round("225 223 226")) == "ABC"
    assert throwers(at.play_round("661 335 225 116 446 226 225")) == "CABABAB"


def test_previous_winner_a_void_round_has_no_winner():
    at = table(first_thrower="previous_winner")
    at.play_round("225 226 123")
    at.all_ante()
    at.throw("456")
    at.void("the dice were wet")
    assert throwers(at.play_round("225 223 221")) == "BCA"
