"""Of the dice drawn for a command as many are thrown as the rules say when it is decided."""

from __future__ import annotations

import pytest

from croupier.domain.commands import Ante, Roll
from croupier.domain.dice import DRAWN, Source
from croupier.services.ledger.deciding import drawn
from croupier.services.rpc.wire import DICE_PER_THROW
from tests.domain.test_every_game import every_game, sat_through
from tests.support.ceelo import throwing
from tests.support.twelve_high import race, table

SERVICE = Source(DRAWN, "csprng")
SUPPLY = (4, 5, 6)


def ordering():
    at = table("AB")
    at.ante()
    return at


@pytest.mark.parametrize(
    "at, player, dice",
    [
        (ordering(), "B", (4,)),
        (race("AB"), "A", (4, 5, 6)),
        (race("AB", "333"), "B", (4, 5, 6)),
        (throwing(), "A", (4, 5, 6)),
    ],
    ids=["for the order", "in a turn", "in a death roll", "at another game"],
)
def test_a_draw_is_as_many_dice_as_the_rules_throw_the_first_of_those_drawn(at, player, dice):
    command = Roll(player, SUPPLY, SERVICE)
    assert drawn(at.table, command) == Roll(player, dice, SERVICE)
    at.do(drawn(at.table, command))


def test_the_same_draw_decided_again_later_begins_with_the_same_dice():
    command = Roll("A", SUPPLY, SERVICE)
    assert drawn(ordering().table, command).dice == SUPPLY[:1]
    assert drawn(race("AB").table, command).dice == SUPPLY
    assert command.dice == SUPPLY


@pytest.mark.parametrize("command", [Roll("A", SUPPLY, Source("dealer", "kim")), Ante("A", 1)])
def test_what_was_not_drawn_is_left_as_it_came(command):
    assert drawn(ordering().table, command) is command


def test_a_draw_for_one_who_may_not_throw_is_refused_for_that():
    at = race("AB")
    refusal = at.refuses(drawn(at.table, Roll("B", SUPPLY, SERVICE)))
    assert refusal.metadata["to_act"] == "A"


@every_game
def test_no_game_throws_more_dice_at_once_than_are_drawn(game):
    counts = {
        one.most
        for seed in range(4)
        for at in sat_through(game, seed)
        for one in at.view.allowed
        if one.field == "dice"
    }
    assert all(count <= DICE_PER_THROW for count in counts)
