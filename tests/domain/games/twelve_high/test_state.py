"""What a table shows and holds, phase by phase, and that a void round gives all antes back."""

import pytest

from croupier.domain.events import (
    PaidOut,
    RoundVoided,
)
from croupier.domain.games.protocol import Holding
from croupier.domain.race_events import (
    RaceWon,
)
from croupier.domain.table import ROUND_VOIDED, fold
from tests.support.play import each, only
from tests.support.twelve_high import race, table


def test_every_phase_says_who_is_to_act_and_what_he_may_do():
    at = table("PQRS", house_rule=True)
    seen = []

    def look():
        view = at.view
        seen.append((view.phase, "".join(view.to_act), " ".join(view.expects)))

    look()
    at.settle_order()
    look()
    at.throws("456")
    look()
    at.choose_death_roll("P")
    look()
    at.throws("555 123")
    look()
    at.throws("666")
    look()
    at.throws("444 111")
    look()
    assert seen == [
        ("ANTE", "PQRS", "ante"),
        ("TURN", "P", "roll"),
        ("HOUSE_OPTION", "P", "choose_win choose_death_roll"),
        ("DEATH_ROLL", "Q", "roll"),
        ("DEATH_ROLL", "S", "roll"),
        ("TURN", "P", "roll"),
        ("DEATH_ROLL", "S", "roll"),
    ]


def test_the_ante_is_the_only_amount_that_may_be_put_in():
    assert [(one.player, one.field, one.least, one.most) for one in table("AB").view.allowed] == [
        ("A", "amount", 100, 100),
        ("B", "amount", 100, 100),
    ]


def test_the_details_follow_the_game():
    at = race("PQR", "112 444 345")
    assert at.view.details == {
        "ante": 100,
        "target": 12,
        "pot": 300,
        "rolling_order": ("P", "Q", "R"),
        "game_round": 1,
        "points": (2, 0, 0),
        "awards": (0, 4, 0),
        "out": ("R",),
        "starter": "Q",
        "bar": 4,
        "last_reading": "storm_4",
        "winner": "",
        "win_rule": "",
    }
    at.throws("666")
    details = at.view.details
    assert (details["points"], details["awards"]) == ((8, 4, 0), (0, 0, 0))
    assert (details["game_round"], details["starter"], details["bar"]) == (2, "", 0)
    at.throws("456")
    details = at.view.details
    assert (details["winner"], details["win_rule"], details["pot"]) == ("P", "high_storm", 0)


def test_every_seat_says_how_it_stands():
    at = table("PQR")

    def standings():
        return " ".join(f"{seat.player}:{seat.standing}:{seat.at_risk}" for seat in at.view.seats)

    at.ante("Q")
    assert standings() == "P:not_anted:0 Q:anted:100 R:not_anted:0"
    assert [seat.stake for seat in at.view.seats] == [0, 100, 0]
    at.ante("PR")
    for player, die in ("P1", "Q2", "R3"):
        at.roll(player, die)
    at.throws("123")
    assert standings() == "P:out:100 Q:in:100 R:in:100"
    at.throws("456")
    assert standings() == "P:out:0 Q:won:0 R:lost:0"


def test_an_ante_is_its_player_s_until_the_game_is_won_then_the_pot_is_the_winner_s():
    at = race("PQ")
    before = len(at.history)
    at.throws("456")
    held = [
        [(h.player, h.amount, h.purpose) for h in seen.holdings] for seen in at.history[before:]
    ]
    # The throw, the win, Q's ante collected, the pot paid, the round settled.
    assert held == [
        [("P", 100, "ante"), ("Q", 100, "ante")],
        [("P", 100, "ante"), ("Q", 100, "ante")],
        [("P", 100, "ante"), ("P", 100, "pot")],
        [],
        [],
    ]


@pytest.mark.parametrize(
    "throws",
    ["", "112", "123", "333", "333 333", "123 444", "112 456"],
)
def test_an_abandoned_game_refunds_all_antes_also_of_those_who_are_out(throws):
    at = race("PQRS", throws, house_rule=True)
    phase = at.view.phase
    events = at.void("the lights went out")
    assert {seen.view.phase for seen in at.history[-5:-1]} == {phase}
    assert each(events, PaidOut) == [
        PaidOut(player=seat, rule=ROUND_VOIDED, stake=100, returned=100) for seat in "PQRS"
    ]
    assert only(events, RoundVoided).round == 1
    assert set(at.worths().values()) == {at.purse}
    assert (at.view.phase, at.table.in_round, at.table.round) == ("ANTE", False, 2)
    assert set(at.view.details["points"]) == {0}
    at.settle_order()
    assert at.view.phase == "TURN"


def test_a_game_whose_antes_are_not_complete_can_be_abandoned():
    at = table("PQ")
    at.ante("P")
    at.void("Q went home")
    assert set(at.worths().values()) == {at.purse}
    at.close()


@pytest.mark.parametrize("order", [1, -1], ids=["in order", "backwards"])
def test_a_rule_of_the_table_itself_returns_whole_holdings_wherever_the_game_is(order):
    for throws in ("", "333", "456"):
        at = race("PQ", throws)
        for seen in at.history[3:]:
            state = seen
            for held in seen.holdings[::order]:
                paid = PaidOut(
                    player=held.player, rule="some_rule", stake=held.amount, returned=held.amount
                )
                state = fold(state, paid)
            assert state.holdings == ()


def test_a_recorded_throw_is_believed_not_read_again():
    """Readings are in the facts; folding never reads dice."""
    at = race("PQ", "114")
    told = at.events[-2]
    assert told.reading == "point_4"
    changed = type(told)(player="P", dice=told.dice, source=told.source, reading="high_storm")
    before = race("PQ").table
    assert only(before.game.follow(fold(before, changed).state), RaceWon).player == "P"


def test_holdings_name_what_is_held_of_whom_and_for_what():
    at = table("PQ", ante=7)
    at.ante("Q")
    assert at.table.holdings == (Holding("Q", 7, "ante"),)
