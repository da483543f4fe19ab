"""What the table shows and holds, and how facts fold into it."""

from dataclasses import dataclass, replace

import pytest

from croupier.domain.events import (
    PaidOut,
)
from croupier.domain.games.ceelo_bank import GAME
from croupier.domain.games.protocol import Holding
from croupier.domain.table import TABLE_CLOSED, fold
from tests.support.ceelo import table, throwing

BOTH = {"payout": "multiplied", "payout_applies_to": "both_sides"}


def standings(at):
    return " ".join(f"{seat.player}:{seat.standing}" for seat in at.view.seats)


def test_every_phase_says_who_is_to_act_and_what_he_may_do():
    at = table(preset="german")
    seen = []

    def look():
        view = at.view
        seen.append((view.phase, "".join(view.to_act), " ".join(view.expects)))

    look()
    at.post(100)
    look()
    at.fade("B", 100)
    look()
    at.roll("A", "224")
    look()
    at.roll("B", "223")
    look()
    at.play_round(10, "B 10", "123")
    look()
    assert seen == [
        ("BANK_OPEN", "A", "post_bank resign_bank"),
        ("FADING", "B", "fade decline"),
        ("BANKER_THROWS", "A", "roll"),
        ("PLAYER_THROWS", "B", "roll"),
        ("BANK_OPEN", "A", "post_bank resign_bank"),
        ("BANK_CHOICE", "A", "keep_bank pass_bank"),
    ]


def test_every_seat_says_how_it_stands():
    at = table(seats="ABCDE")
    assert standings(at).startswith("A:banker B:not_offered")
    at.cover(40, "B 10, D 10, E 20")
    assert standings(at) == "A:banker B:faded C:declined D:faded E:faded"
    at.roll("A", "224")
    at.roll("B", "225")
    at.roll("D", "224")
    assert standings(at) == "A:banker B:won C:declined D:pushed E:faded"
    at.roll("E", "223")
    assert standings(at) == "A:banker B:won C:declined D:pushed E:lost"
    at.post(0)
    assert standings(at) == "A:banker B:not_offered C:not_offered D:not_offered E:not_offered"


def test_the_details_follow_the_round():
    at = table(**BOTH)
    at.post(100)
    assert at.view.details == {
        "banker": "A",
        "bank": 100,
        "carried": 0,
        "reserve": 400,
        "faded": 0,
        "uncovered": 100,
        "point": 0,
        "last_reading": "",
        "last_rule": "",
    }
    at.fade("B", 30)
    assert (at.view.details["faded"], at.view.details["uncovered"]) == (30, 70)
    at.decline("C")
    at.decline("D")
    details = at.view.details
    assert (details["bank"], details["reserve"], details["uncovered"]) == (30, 120, 0)
    at.roll("A", "224")
    assert (at.view.details["point"], at.view.details["last_reading"]) == (4, "point_4")
    at.roll("B", "223")
    details = at.view.details
    assert (details["bank"], details["carried"], details["reserve"]) == (60, 60, 0)
    assert (details["point"], details["faded"], details["last_rule"]) == (0, 0, "retained")
    at.post(5)
    assert (at.view.details["bank"], at.view.details["carried"]) == (65, 60)


def test_a_seats_risk_is_all_that_the_table_holds_of_his():
    at = table(**BOTH)
    at.cover(100, "B 40, C 60")
    risk = {seat.player: (seat.at_risk, seat.stake) for seat in at.view.seats}
    assert risk == {"A": (500, 0), "B": (200, 40), "C": (300, 60), "D": (0, 0)}


def test_holdings_name_what_is_held_of_whom_and_for_what():
    at = table(**BOTH)
    at.cover(100, "B 40, C 60")
    assert at.table.holdings == (
        Holding("A", 100, "bank"),
        Holding("A", 400, "reserve"),
        Holding("B", 200, "fade"),
        Holding("C", 300, "fade"),
    )


def test_a_loser_s_stake_becomes_the_bankers_when_it_is_collected():
    at = throwing("B 40, C 60")
    at.roll("A", "224")
    at.roll("B", "223")
    before = len(at.history)
    at.roll("C", "116")
    held = [[(h.player, h.amount) for h in seen.holdings] for seen in at.history[before:]]
    # the throw, the bet, B's stake collected, C paid, the bank retained, the round settled
    assert held == [
        [("A", 100), ("B", 40), ("C", 60)],
        [("A", 100), ("B", 40), ("C", 60)],
        [("A", 140), ("C", 60)],
        [("A", 80)],
        [("A", 80)],
        [("A", 80)],
    ]


@pytest.mark.parametrize("rule", [TABLE_CLOSED, "round_voided", "some_rule_of_the_future"])
@pytest.mark.parametrize("order", [1, -1], ids=["in order", "backwards"])
@pytest.mark.parametrize("phase", ["between rounds", "fading", "banker throws", "players throw"])
def test_a_rule_of_the_table_itself_returns_whole_holdings(rule, order, phase):
    """Also where two holdings of one player are equal: a bank of 70 and its reserve of 70."""
    options = {**BOTH, "factor_456": 2, "factor_triples": 2, "factor_111": 2}
    at = table(**options)
    if phase == "between rounds":
        at.play_round(35, "B 35", "456")
    elif phase == "fading":
        at.post(70)
        at.fade("B", 35)
    else:
        at.cover(70, "B 35, C 35")
        if phase == "players throw":
            at.roll("A", "224")
            at.roll("B", "223")
    at.record(
        [
            PaidOut(player=held.player, rule=rule, stake=held.amount, returned=held.amount)
            for held in at.table.holdings[::order]
        ]
    )
    assert at.table.holdings == ()
    assert at.worths() == {
        **dict.fromkeys("ABCD", 1_000_000),
        **({"A": 1_000_000 + 70, "B": 1_000_000 - 70} if phase == "between rounds" else {}),
    }


@dataclass(frozen=True)
class CardDealt:
    """A fact that another game might have."""

    card: str


def test_a_fact_of_another_game_changes_nothing():
    state = throwing().state
    assert GAME.fold(state, CardDealt("10S")) == state


def test_a_recorded_throw_is_believed_not_read_again():
    """Readings and results are in the facts; folding never decides anything again."""
    at = throwing("B 10")
    rolled = at.roll("A", "456")[0]
    told = replace(rolled, reading="point_3")
    state = fold(throwing("B 10").table, told).state
    assert (state.phase, state.point) == ("PLAYER_THROWS", 3)
