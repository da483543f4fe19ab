"""What is refused, why, and what the refusal says besides; a refusal leaves no trace."""

import pytest

from croupier.domain.commands import Ante, Decline, PostBank
from croupier.domain.errors import Reason, Refused
from croupier.domain.money import AMOUNT_MAX
from tests.support.twelve_high import race, roll, table


def why(refusal):
    return refusal.reason, refusal.metadata["rule"]


@pytest.mark.parametrize(
    "amount, reason",
    [
        (99, Reason.STAKE_BELOW_LIMIT),
        (1, Reason.STAKE_BELOW_LIMIT),
        (101, Reason.STAKE_ABOVE_LIMIT),
        (AMOUNT_MAX, Reason.STAKE_ABOVE_LIMIT),
        (0, Reason.AMOUNT_OUT_OF_RANGE),
        (-100, Reason.AMOUNT_OUT_OF_RANGE),
        (AMOUNT_MAX + 1, Reason.AMOUNT_OUT_OF_RANGE),
    ],
)
def test_an_ante_is_what_all_agreed_on_and_nothing_else(amount, reason):
    refusal = table("AB").refuses(Ante("A", amount))
    assert (refusal.reason, refusal.field) == (reason, "ante.amount")
    if reason is not Reason.AMOUNT_OUT_OF_RANGE:
        assert refusal.metadata["limit"] == "100"


def test_everybody_antes_once_in_any_order():
    at = table("ABC")
    at.ante("C")
    refusal = at.refuses(Ante("C", 100))
    assert why(refusal) == (Reason.NOT_YOUR_TURN, "one_ante_each")
    assert refusal.metadata["to_act"] == "A,B"
    at.ante("A")
    assert at.view.phase == "ANTE"
    at.ante("B")
    assert at.view.phase == "ORDER"


def test_nobody_antes_in_the_middle_of_a_game():
    for at in (race("PQ"), race("PQ", "333"), race("PQRS", "456", house_rule=True)):
        assert why(at.refuses(Ante("P", 100))) == (
            Reason.WRONG_PHASE,
            "antes_are_paid_at_the_start",
        )


def test_who_cannot_pay_the_ante_is_refused():
    at = table("AB", purse=99)
    assert at.refuses(Ante("A", 100)).reason is Reason.INSUFFICIENT_FUNDS


def test_nobody_throws_before_all_have_anted():
    at = table("AB")
    at.ante("A")
    for thrown in ("1", "123"):
        assert why(at.refuses(roll("A", thrown))) == (Reason.WRONG_PHASE, "antes_first")


def test_turns_are_taken_in_rolling_order():
    at = race("PQR", "112")
    for player in "PR":
        refusal = at.refuses(roll(player, "456"))
        assert why(refusal) == (Reason.NOT_YOUR_TURN, "turns_in_rolling_order")
        assert refusal.metadata["to_act"] == "Q"


def test_who_is_out_does_not_throw():
    at = race("PQR", "123")
    refusal = at.refuses(roll("P", "456"))
    assert why(refusal) == (Reason.NOT_YOUR_TURN, "eliminated_players_do_not_throw")
    assert refusal.metadata["to_act"] == "Q"


def test_the_starter_does_not_throw_in_his_death_roll_and_the_others_throw_once_in_order():
    at = race("PQR", "333")
    assert why(at.refuses(roll("P", "666")))[1] == "the_starter_does_not_throw"
    assert why(at.refuses(roll("R", "666")))[1] == "one_throw_each_in_order"
    at.throws("333")
    refusal = at.refuses(roll("Q", "666"))
    assert why(refusal) == (Reason.NOT_YOUR_TURN, "one_throw_each_in_order")
    assert refusal.metadata["to_act"] == "R"


@pytest.mark.parametrize("thrown", ["", "1", "12", "1234", "127", "012"])
def test_a_throw_is_three_dice_from_one_to_six(thrown):
    refusal = race("PQ").refuses(roll("P", thrown))
    assert (refusal.reason, refusal.field) == (Reason.INVALID_DICE, "roll.dice")


@pytest.mark.parametrize("command", [PostBank("P", 100), Decline("P")])
def test_the_game_knows_no_bank(command):
    assert race("PQ").refuses(command).reason is Reason.COMMAND_NOT_IN_GAME


def test_a_game_that_is_won_goes_on_with_antes_only():
    at = race("PQ", "456")
    assert at.refuses(roll("Q", "666")).reason is Reason.WRONG_PHASE
    late = at.refuses(roll("Q", "666"), round_number=1)
    assert late.reason is Reason.ROUND_MISMATCH


def test_one_player_alone_does_not_race():
    with pytest.raises(Refused) as caught:
        table("A", banker="A")
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEATS, "seats")


@pytest.mark.parametrize(
    "options",
    [
        {"ante": 0},
        {"ante": -1},
        {"ante": 10**13 + 1},
        {"target": 0},
        {"house_bar": 7},
        {"house_bar": 0},
        {"bar": "falling"},
        {"stakes": "none"},
        {"reroll_nothing": 1},
    ],
)
def test_an_option_has_only_the_values_of_the_rules(options):
    with pytest.raises(Refused) as caught:
        table("AB", **options)
    assert caught.value.reason is Reason.INVALID_OPTION
    assert caught.value.field == f"options.{next(iter(options))}"


def test_the_highest_ante_of_the_most_players_is_a_pot_that_can_be():
    seats = [f"p{number}" for number in range(64)]
    at = table(seats, banker="p0", ante=10**13, purse=10**13)
    at.ante()
    assert at.table.at_risk == 64 * 10**13 <= AMOUNT_MAX


def test_the_defaults_are_those_of_the_rules():
    options = {**table("AB").table.opened.options}
    assert options == {
        "preset": "standard",
        "ante": 100,
        "target": 12,
        "reroll_nothing": False,
        "storm_scores": True,
        "bar": "fixed",
        "house_rule": False,
        "house_bar": 5,
        "stakes": "pot",
    }
