"""What is not allowed: refused with the reason and the rule broken, and without a trace."""

import pytest

from croupier.domain import commands
from croupier.domain.commands import Ante, Roll
from croupier.domain.errors import Reason
from tests.support.pot import DEALER, roll, table, throwing


def opened():
    return table()


def anteing():
    at = table()
    at.ante("B")
    return at


def throws():
    """A has thrown, B is to throw, C is to throw after him."""
    return throwing("225")


def shoot_out():
    """A and C throw again, B is out."""
    return throwing("225 114 335")


def re_ante():
    return throwing("225 114 335", shootout_ante="re_ante")


def settled():
    at = table()
    at.play_round("225 226 123")
    return at


@pytest.mark.parametrize(
    "where, command, reason, rule",
    [
        (opened, roll("A", "456"), "WRONG_PHASE", "antes_are_not_all_paid"),
        (anteing, roll("B", "456"), "WRONG_PHASE", "antes_are_not_all_paid"),
        (anteing, Ante("B", 100), "NOT_YOUR_TURN", "one_ante_each"),
        (anteing, Ante("B", 5), "NOT_YOUR_TURN", "one_ante_each"),
        (throws, Ante("B", 100), "WRONG_PHASE", "antes_are_paid_before_throwing"),
        (throws, roll("A", "456"), "NOT_YOUR_TURN", "one_decisive_throw_each"),
        (throws, roll("C", "456"), "NOT_YOUR_TURN", "players_throw_in_order"),
        (shoot_out, roll("B", "456"), "NOT_YOUR_TURN", "out_of_the_shoot_out"),
        (shoot_out, roll("C", "456"), "NOT_YOUR_TURN", "players_throw_in_order"),
        (shoot_out, Ante("A", 100), "WRONG_PHASE", "antes_are_paid_before_throwing"),
        (re_ante, roll("A", "456"), "WRONG_PHASE", "antes_are_not_all_paid"),
        (re_ante, Ante("B", 100), "NOT_YOUR_TURN", "out_of_the_shoot_out"),
        (settled, roll("B", "456"), "WRONG_PHASE", "antes_are_not_all_paid"),
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
def test_a_throw_is_three_dice_from_1_to_6_whoever_throws_them_and_when(thrown, player):
    for where in (opened, anteing, throws, shoot_out, re_ante, settled):
        refusal = where().refuses(Roll(player, thrown, DEALER))
        assert (refusal.reason, refusal.field) == (Reason.INVALID_DICE, "roll.dice")


@pytest.mark.parametrize(
    "command",
    [
        commands.PostBank("A", 100),
        commands.Fade("A", 100),
        commands.Decline("A"),
        commands.KeepBank("A"),
        commands.PassBank("A"),
        commands.ResignBank("A"),
    ],
)
def test_there_is_no_bank_so_no_command_of_one(command):
    for where in (opened, anteing, throws, shoot_out, re_ante, settled):
        refusal = where().refuses(command)
        assert (refusal.reason, refusal.field) == (Reason.COMMAND_NOT_IN_GAME, "command")
        assert refusal.metadata["command"] == type(command).__name__


def test_who_is_not_seated_and_what_is_of_another_round_is_refused():
    assert throws().refuses(roll("Z", "456")).reason is Reason.NOT_SEATED
    assert settled().refuses(Ante("A", 100), round_number=1).reason is Reason.ROUND_MISMATCH


def test_the_same_command_is_accepted_once_the_refusals_cause_is_gone():
    at = throws()
    at.refuses(roll("C", "456"))
    at.throw("123")
    at.do(roll("C", "456"))
    assert at.view.details["last_winner"] == "C"


def test_a_refusal_names_few_players_however_many_play():
    at = table(seats=[f"{number:x<64}" for number in range(64)])
    at.ante(at.seats[0])
    refusal = at.refuses(Ante(at.seats[0], 100))
    assert sum(len(value) for value in refusal.metadata.values()) < 300
