"""Antes: the same of everybody, once, before anybody throws."""

import pytest

from croupier.domain.commands import Ante
from croupier.domain.errors import Kind, Reason
from croupier.domain.events import (
    Anted,
    RoundStarted,
)
from croupier.domain.money import AMOUNT_MAX
from tests.support.play import each
from tests.support.pot import nets, roll, table, throwing


def test_the_first_ante_opens_the_round_and_the_last_begins_the_throwing():
    at = table()
    first = at.ante("B")
    assert [type(event) for event in first] == [RoundStarted, Anted]
    assert (at.view.phase, at.view.to_act) == ("ANTE", ("A", "C"))
    at.ante("C")
    assert at.ante("A") == (Anted(player="A", amount=100),)
    assert (at.view.phase, at.view.to_act) == ("THROWING", ("A",))
    assert at.view.details["pot"] == at.table.at_risk == 300


@pytest.mark.parametrize("order", ["ABC", "CBA", "BCA"])
def test_antes_come_in_any_order_and_throws_in_that_of_the_seats(order):
    at = table()
    for player in order:
        at.ante(player)
    at.throw("225 114 666")
    assert at.view.details["last_winner"] == "C"


@pytest.mark.parametrize(
    "amount, reason",
    [(101, "STAKE_ABOVE_LIMIT"), (99, "STAKE_BELOW_LIMIT"), (AMOUNT_MAX, "STAKE_ABOVE_LIMIT")],
)
def test_another_amount_than_agreed_is_refused_and_says_what_was_agreed(amount, reason):
    refusal = table().refuses(Ante("A", amount))
    assert refusal.reason is Reason[reason]
    assert refusal.reason.kind is Kind.ILLEGAL
    assert refusal.field == "ante.amount"
    assert refusal.metadata == {
        "rule": "the_same_ante_for_all",
        "limit": "100",
        "stake": str(amount),
    }


@pytest.mark.parametrize(
    "amount, rule",
    [
        (0, "ante_is_at_least_one"),
        (-100, "ante_is_at_least_one"),
        (AMOUNT_MAX + 1, "amount_too_large"),
    ],
)
def test_what_is_no_amount_is_refused_as_such(amount, rule):
    refusal = table().refuses(Ante("A", amount))
    assert (refusal.reason, refusal.field) == (Reason.AMOUNT_OUT_OF_RANGE, "ante.amount")
    assert refusal.metadata["rule"] == rule


def test_an_ante_is_paid_once():
    at = table()
    at.ante("A")
    refusal = at.refuses(Ante("A", 100))
    assert (refusal.reason, refusal.metadata["rule"]) == (Reason.NOT_YOUR_TURN, "one_ante_each")
    assert refusal.metadata["to_act"] == "B"


def test_nobody_antes_once_the_throwing_has_begun():
    refusal = throwing().refuses(Ante("A", 100))
    assert refusal.reason is Reason.WRONG_PHASE
    assert refusal.metadata == {
        "rule": "antes_are_paid_before_throwing",
        "phase": "THROWING",
        "needed": "ANTE",
    }


@pytest.mark.parametrize("paid", ["", "A", "BC"])
def test_nobody_throws_before_all_antes_are_in_the_pot(paid):
    at = table()
    for player in paid:
        at.ante(player)
    refusal = at.refuses(roll("A", "456"))
    assert refusal.reason is Reason.WRONG_PHASE
    assert refusal.metadata["rule"] == "antes_are_not_all_paid"


def test_who_cannot_pay_the_ante_does_not_and_the_round_waits_for_him():
    at = table(purse=100)
    at.balances["player:B", "EUR"] = 99
    at.ante("A")
    assert at.refuses(Ante("B", 100)).reason is Reason.INSUFFICIENT_FUNDS
    assert at.view.to_act == ("B", "C")
    at.void("B cannot pay")
    assert at.purse_of("A") == 100


def test_a_new_round_begins_with_new_antes():
    at = table()
    for number in (1, 2, 3):
        assert (at.view.phase, at.table.round, at.table.at_risk) == ("ANTE", number, 0)
        played = at.play_round("225 226 123")
        assert [event.player for event in each(played.events, Anted)] == ["A", "B", "C"]
        assert nets(played) == "A -100, B +200, C -100"


def test_64_players_ante_and_one_takes_it_all():
    seats = [f"p{number}" for number in range(64)]
    at = table(seats=seats)
    played = at.play_round("123 " * 63 + "661")
    assert played.nets == {**dict.fromkeys(seats, -100), "p63": 6300}
