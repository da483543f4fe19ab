"""What is not allowed: refused with the reason and the rule broken, and without a trace."""

from dataclasses import dataclass

import pytest

from croupier.domain.commands import (
    Decline,
    Fade,
    KeepBank,
    PassBank,
    PostBank,
    ResignBank,
    Roll,
)
from croupier.domain.errors import Kind, Reason
from croupier.domain.money import AMOUNT_MAX
from tests.support.ceelo import DEALER, roll, table, throwing


def opened():
    return table()


def fading():
    at = table()
    at.post(100)
    at.fade("B", 60)
    return at


def banker_throws():
    return throwing("B 60, D 40")


def players_throw():
    """B has lost, D is to throw, C declined."""
    at = throwing("B 60, D 40")
    at.roll("A", "224")
    at.roll("B", "223")
    return at


def first_player_throws():
    at = throwing("B 60, D 40")
    at.roll("A", "224")
    return at


def carrying():
    at = table()
    at.play_round(100, "B 100", "456")
    return at


def choosing():
    at = table(preset="german")
    at.play_round(100, "B 100", "123")
    return at


def settled():
    """The banker has won at once; the next round has not begun."""
    return carrying()


@pytest.mark.parametrize(
    "where, command, reason, rule",
    [
        # posting
        (opened, PostBank("B", 1), "NOT_YOUR_TURN", "only_the_banker_posts"),
        (opened, PostBank("A", 0), "AMOUNT_OUT_OF_RANGE", "bank_is_at_least_one"),
        (opened, PostBank("A", -1), "AMOUNT_OUT_OF_RANGE", "bank_is_at_least_one"),
        (opened, PostBank("A", AMOUNT_MAX + 1), "AMOUNT_OUT_OF_RANGE", "amount_too_large"),
        (carrying, PostBank("A", -1), "AMOUNT_OUT_OF_RANGE", "bank_may_not_be_drawn_down"),
        (carrying, PostBank("A", AMOUNT_MAX - 199), "AMOUNT_OUT_OF_RANGE", "amount_too_large"),
        (fading, PostBank("A", 1), "WRONG_PHASE", "bank_is_posted_once"),
        (fading, PostBank("C", 1), "WRONG_PHASE", "bank_is_posted_once"),
        (banker_throws, PostBank("A", 1), "WRONG_PHASE", "bank_is_posted_once"),
        (choosing, PostBank("A", 1), "WRONG_PHASE", "bank_is_posted_once"),
        # fading
        (opened, Fade("B", 1), "WRONG_PHASE", "fading_is_not_open"),
        (opened, Decline("B"), "WRONG_PHASE", "fading_is_not_open"),
        (fading, Fade("A", 1), "NOT_YOUR_TURN", "banker_cannot_fade"),
        (fading, Decline("A"), "NOT_YOUR_TURN", "banker_cannot_fade"),
        (fading, Fade("D", 1), "NOT_YOUR_TURN", "one_offer_each_clockwise"),
        (fading, Decline("D"), "NOT_YOUR_TURN", "one_offer_each_clockwise"),
        (fading, Fade("B", 1), "NOT_YOUR_TURN", "one_offer_each_clockwise"),
        (fading, Fade("C", 0), "AMOUNT_OUT_OF_RANGE", "fade_is_at_least_one"),
        (fading, Fade("C", -5), "AMOUNT_OUT_OF_RANGE", "fade_is_at_least_one"),
        (fading, Fade("C", 41), "STAKE_ABOVE_LIMIT", "over_fade"),
        (banker_throws, Fade("C", 1), "WRONG_PHASE", "fading_is_not_open"),
        (banker_throws, Decline("C"), "WRONG_PHASE", "fading_is_not_open"),
        (players_throw, Fade("D", 1), "WRONG_PHASE", "fading_is_not_open"),
        # throwing
        (opened, roll("A", "456"), "WRONG_PHASE", "bank_not_posted"),
        (opened, roll("B", "456"), "WRONG_PHASE", "players_do_not_throw"),
        (fading, roll("A", "456"), "WRONG_PHASE", "fading_is_not_closed"),
        (fading, roll("B", "456"), "WRONG_PHASE", "players_do_not_throw"),
        (banker_throws, roll("B", "456"), "NOT_YOUR_TURN", "the_banker_throws_first"),
        (banker_throws, roll("C", "456"), "NOT_YOUR_TURN", "the_banker_throws_first"),
        (first_player_throws, roll("D", "456"), "NOT_YOUR_TURN", "faders_throw_in_order"),
        (first_player_throws, roll("A", "456"), "NOT_YOUR_TURN", "the_banker_has_his_point"),
        (players_throw, roll("C", "456"), "NOT_YOUR_TURN", "players_do_not_throw"),
        (players_throw, roll("B", "456"), "NOT_YOUR_TURN", "players_do_not_throw"),
        (players_throw, roll("A", "456"), "NOT_YOUR_TURN", "the_banker_has_his_point"),
        (settled, roll("B", "456"), "WRONG_PHASE", "players_do_not_throw"),
        (settled, roll("A", "456"), "WRONG_PHASE", "bank_not_posted"),
        (choosing, roll("A", "456"), "WRONG_PHASE", "the_banker_has_to_choose"),
        # keeping, passing and resigning the bank
        (opened, KeepBank("A"), "NOT_OFFERED", "no_choice_is_offered"),
        (opened, PassBank("A"), "NOT_OFFERED", "no_choice_is_offered"),
        (fading, PassBank("A"), "NOT_OFFERED", "no_choice_is_offered"),
        (choosing, KeepBank("B"), "NOT_YOUR_TURN", "only_the_banker_chooses"),
        (choosing, PassBank("C"), "NOT_YOUR_TURN", "only_the_banker_chooses"),
        (
            choosing,
            ResignBank("A"),
            "WRONG_PHASE",
            "the_bank_is_resigned_before_posting",
        ),
        (opened, ResignBank("B"), "NOT_YOUR_TURN", "only_the_banker_resigns"),
        (carrying, ResignBank("B"), "NOT_YOUR_TURN", "only_the_banker_resigns"),
        (fading, ResignBank("A"), "WRONG_PHASE", "the_bank_is_resigned_before_posting"),
        (
            players_throw,
            ResignBank("A"),
            "WRONG_PHASE",
            "the_bank_is_resigned_before_posting",
        ),
    ],
)
def test_what_is_not_allowed_is_refused_by_a_named_rule(where, command, reason, rule):
    refusal = where().refuses(command)
    assert (refusal.reason, refusal.metadata["rule"]) == (Reason[reason], rule)
    assert refusal.message


@pytest.mark.parametrize(
    "thrown", [(), (4,), (4, 5), (4, 5, 6, 1), (0, 5, 6), (4, 5, 7), (-1, 5, 6), (1,) * 100]
)
@pytest.mark.parametrize("player", ["A", "B"])
def test_a_throw_is_three_dice_from_1_to_6(thrown, player):
    """Dice are looked at first: impossible ones are refused whoever throws them, and when."""
    for where in (opened, fading, banker_throws, first_player_throws, choosing):
        refusal = where().refuses(Roll(player, thrown, DEALER))
        assert (refusal.reason, refusal.field) == (Reason.INVALID_DICE, "roll.dice")
        assert refusal.metadata["count"] == "3"


def test_over_fading_is_refused_not_trimmed_and_says_what_is_left():
    refusal = fading().refuses(Fade("C", 41))
    assert refusal.field == "fade.stake"
    assert refusal.metadata == {"rule": "over_fade", "limit": "40", "stake": "41"}
    assert refusal.reason.kind is Kind.ILLEGAL


@pytest.mark.parametrize(
    "where, command, field",
    [
        (opened, PostBank("A", 0), "post_bank.amount"),
        (carrying, PostBank("A", -1), "post_bank.amount"),
        (carrying, PostBank("A", AMOUNT_MAX), "post_bank.amount"),
        (fading, Fade("C", 0), "fade.stake"),
        (fading, Fade("C", 1000), "fade.stake"),
    ],
)
def test_a_refused_amount_names_the_field_at_fault(where, command, field):
    assert where().refuses(command).field == field


@pytest.mark.parametrize(
    "where, command, to_act",
    [
        (opened, PostBank("B", 1), "A"),
        (fading, Fade("D", 1), "C"),
        (fading, Fade("A", 1), "C"),
        (banker_throws, roll("B", "456"), "A"),
        (first_player_throws, roll("D", "456"), "B"),
        (choosing, KeepBank("B"), "A"),
    ],
)
def test_who_is_not_to_act_is_told_who_is(where, command, to_act):
    assert where().refuses(command).metadata["to_act"] == to_act


def test_a_phase_that_does_not_fit_is_named():
    refusal = fading().refuses(PostBank("A", 1))
    assert refusal.metadata["phase"] == "FADING"
    assert refusal.metadata["needed"] == "BANK_OPEN"


def test_a_bank_whose_reserve_is_no_amount_is_refused():
    at = table(payout="multiplied", factor_111=1000, purse=AMOUNT_MAX)
    refusal = at.refuses(PostBank("A", AMOUNT_MAX // 1000 + 1))
    assert (refusal.reason, refusal.field) == (Reason.AMOUNT_OUT_OF_RANGE, "post_bank.amount")
    assert refusal.metadata["rule"] == "amount_too_large"
    at.post(AMOUNT_MAX // 1000)
    assert at.table.at_risk == AMOUNT_MAX


def test_a_fade_whose_reserve_is_no_amount_is_refused():
    both = {"payout": "multiplied", "payout_applies_to": "both_sides", "factor_456": 1000}
    at = table(**both, over_bank_liability="capped", purse=AMOUNT_MAX)
    at.post(AMOUNT_MAX)
    refusal = at.refuses(Fade("B", AMOUNT_MAX // 1000 + 1))
    assert (refusal.reason, refusal.field) == (Reason.AMOUNT_OUT_OF_RANGE, "fade.stake")
    assert refusal.metadata["rule"] == "amount_too_large"
    at.fade("B", AMOUNT_MAX // 1000)
    assert at.table.at_risk == 2 * AMOUNT_MAX


def test_money_that_is_not_there_is_refused_before_any_throw():
    at = table(payout="multiplied", purse=499)
    assert at.refuses(PostBank("A", 100)).reason is Reason.INSUFFICIENT_FUNDS
    at.post(99)
    assert at.refuses(Fade("B", 100)).reason is Reason.STAKE_ABOVE_LIMIT


def test_a_fader_needs_the_stake_and_what_he_may_lose_beyond_it():
    at = table(payout="multiplied", payout_applies_to="both_sides", purse=500)
    at.post(100)
    at.fade("B", 60)
    at.decline("C")
    assert at.purse_of("B") == 500 - 5 * 60
    poor = table(payout="multiplied", payout_applies_to="both_sides", purse=4000, seats="AB")
    poor.balances["player:B", "EUR"] = 499
    poor.post(800)
    assert poor.refuses(Fade("B", 100)).reason is Reason.INSUFFICIENT_FUNDS
    poor.fade("B", 99)


@dataclass(frozen=True)
class PlaceBet:
    """A command that another game might have."""

    player: str


def test_a_command_of_another_game_is_refused():
    for where in (opened, fading, banker_throws, players_throw, choosing):
        refusal = where().refuses(PlaceBet("B"))
        assert (refusal.reason, refusal.field) == (Reason.COMMAND_NOT_IN_GAME, "command")


def test_the_same_command_is_accepted_once_the_refusals_cause_is_gone():
    at = fading()
    at.refuses(Fade("C", 41))
    at.fade("C", 40)
    assert at.view.phase == "BANKER_THROWS"
