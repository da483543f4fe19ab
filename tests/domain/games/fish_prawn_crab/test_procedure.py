"""The procedure of a round: cover, three presses, light, bets, bell, opening; nothing else."""

import pytest

from croupier.domain.commands import Cover, Fade, LightOn, PlaceBet, PressHandle, RingBell
from croupier.domain.cup_events import (
    BellRung,
    BetPlaced,
    CupCovered,
    CupOpened,
    HandlePressed,
    LightSwitchedOn,
    PlacesLit,
)
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Collected,
    PaidOut,
    RoundSettled,
    RoundStarted,
)
from croupier.domain.names import HOUSE
from croupier.domain.table import automatic
from tests.support.cup import UP_TO, opened, table, void

PHASES = list(UP_TO)
COMMANDS = {
    "cover": Cover(HOUSE),
    "press": PressHandle(HOUSE),
    "light": LightOn(HOUSE),
    "bet": PlaceBet("A", "big", 10),
    "bell": RingBell(HOUSE),
    "open": opened("124"),
    "void": void(),
}
NEXT = {
    ("READY", "cover"): "COVERED",
    ("COVERED", "press"): "COVERED",
    ("SHAKEN", "light"): "BETTING",
    ("BETTING", "bet"): "BETTING",
    ("BETTING", "bell"): "NO_MORE_BETS",
    ("NO_MORE_BETS", "open"): "READY",
    ("NO_MORE_BETS", "void"): "READY",
}
RULES = {
    ("BETTING", "press"): "exactly_three_presses",
    ("COVERED", "light"): "three_presses_before_the_light",
    ("SHAKEN", "press"): "exactly_three_presses",
    ("READY", "bet"): "no_bet_before_the_light",
    ("SHAKEN", "bet"): "no_bet_before_the_light",
    ("NO_MORE_BETS", "bet"): "no_bet_after_the_bell",
    ("BETTING", "open"): "the_bell_rings_first",
    ("READY", "open"): "the_cup_is_opened_once",
    ("NO_MORE_BETS", "bell"): "the_bell_rings_once",
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", COMMANDS)
def test_each_phase_takes_its_own_commands_and_refuses_all_others(phase, name):
    at = table().to(phase)
    command = COMMANDS[name]
    if after := NEXT.get((phase, name)):
        at.do(command)
        assert at.state.phase == after
        return
    refusal = at.refused(command, Reason.WRONG_PHASE)
    assert refusal.metadata["phase"] == phase
    if rule := RULES.get((phase, name)):
        assert refusal.metadata["rule"] == rule


def test_the_light_goes_on_after_three_presses_and_not_after_fewer():
    at = table()
    at.do(Cover(HOUSE))
    for press in (1, 2, 3):
        at.refused(LightOn(HOUSE), Reason.WRONG_PHASE)
        assert at.do(PressHandle(HOUSE)) == (HandlePressed(press=press),)
    at.refused(PressHandle(HOUSE), Reason.WRONG_PHASE)
    at.do(LightOn(HOUSE))
    at.refused(PressHandle(HOUSE), Reason.WRONG_PHASE)


@pytest.mark.parametrize("phase", PHASES)
def test_a_player_never_acts_as_the_dealer_and_the_dealer_never_bets(phase):
    at = table().to(phase)
    for where, name in NEXT:
        if where == phase:
            command = COMMANDS[name]
            other = HOUSE if name == "bet" else "A"
            given = {one: getattr(command, one) for one in command.__slots__} | {"player": other}
            refusal = at.refused(type(command)(**given), Reason.NOT_YOUR_TURN)
            assert refusal.metadata["rule"] in ("only_the_dealer", "only_players_bet")


def test_who_has_no_seat_plays_nothing():
    at = table(seats="AB").to("BETTING")
    assert at.refused(PlaceBet("C", "big", 1), Reason.NOT_SEATED).field == "player"


def test_a_command_of_another_game_is_refused():
    at = table().to("BETTING")
    at.refused(Fade("A", 10), Reason.COMMAND_NOT_IN_GAME)


def test_a_round_is_this_and_nothing_more():
    at = table(seats="AB")
    at.play_round({"A": "big 10", "B": "total_4 5, small 3"}, "112")
    kinds = [type(event) for event in at.events[1:]]
    assert kinds == [
        *(RoundStarted, CupCovered, HandlePressed, HandlePressed, HandlePressed),
        *(LightSwitchedOn, BetPlaced, BetPlaced, BetPlaced, BellRung, CupOpened, PlacesLit),
        *(Collected, PaidOut, PaidOut, RoundSettled),
    ]
    lit = at.events[12].places
    assert lit == (
        "small",
        "three_armies_fish",
        "three_armies_prawn",
        "single_colour_green",
        "double_colour_red",
        "total_4",
    )
    assert [(one.bet, one.rule, one.player) for one in at.events[13:16]] == [
        (1, "big", "A"),
        (2, "total_4", "B"),
        (3, "small", "B"),
    ]


def test_while_a_winner_is_unpaid_the_next_round_cannot_begin():
    """Payouts come with the opening, so this is a moment inside one command."""
    at = table(seats="AB")
    at.play_round({"A": "small 10", "B": "small 20"}, "124")
    paying = [seen for seen in at.history if seen.state.phase == "PAYING"]
    assert len(paying) == 2  # the places are lit; one of two winners is paid
    for seen in paying:
        assert automatic(seen)
        assert seen.view.allowed == ()
        for command in COMMANDS.values():
            with pytest.raises(Refused) as caught:
                at.table.game.decide(seen.state, command)
            assert caught.value.reason is Reason.WRONG_PHASE
        with pytest.raises(Refused) as caught:
            at.table.game.decide(seen.state, Cover(HOUSE))
        assert caught.value.metadata["rule"] == "winners_are_paid_first"


def test_a_round_without_winners_or_without_bets_is_over_at_once():
    at = table()
    for bets in ({"A": "triple_crab 10"}, {}):
        events = at.play_round(bets, "124")
        assert not [one for one in events if isinstance(one, PaidOut)]
        assert (at.state.phase, at.table.in_round) == ("READY", False)
    assert at.table.round == 3


@pytest.mark.parametrize("dice", ["", "12", "1234", "017", "127"])
def test_impossible_dice_are_refused(dice):
    at = table().to("NO_MORE_BETS")
    assert at.refused(opened(dice), Reason.INVALID_DICE).field == "open_cup.dice"


@pytest.mark.parametrize("reason", ["x" * 201, "a\nb"])
def test_a_throw_is_void_for_a_reason_that_can_be_read(reason):
    at = table().to("NO_MORE_BETS")
    assert at.refused(void(reason), Reason.INVALID_TEXT).field == "open_cup.void"
    at.do(void("x" * 200))


def test_every_phase_says_who_may_do_what():
    for phase, expected in (
        ("READY", {("house", "cover")}),
        ("COVERED", {("house", "press_handle")}),
        ("SHAKEN", {("house", "light_on")}),
        ("BETTING", {("house", "ring_bell"), ("A", "place_bet"), ("B", "place_bet")}),
        ("NO_MORE_BETS", {("house", "open_cup")}),
    ):
        view = table(seats="AB").to(phase).view
        assert {(one.player, one.command) for one in view.allowed} == expected
        assert view.phase == phase


def test_a_table_shows_its_bets_and_its_last_throw():
    at = table(seats="AB").to("BETTING")
    at.bets({"A": "small 10, total_9 5"})
    seats = [(one.player, one.at_risk, one.stake, one.standing) for one in at.view.seats]
    assert seats == [("A", 15, 15, "bet"), ("B", 0, 0, "no_bet")]
    details = at.view.details
    assert (details["bets"], details["staked"], details["worst_case"]) == (2, 15, -40)
    at.do(RingBell(HOUSE))
    at.do(opened("126"))
    assert at.view.details["dice"] == (1, 2, 6)
    assert "total_9" in at.view.details["lit"]
    at.do(Cover(HOUSE))
    assert (at.view.details["dice"], at.view.details["lit"]) == ((), ())
