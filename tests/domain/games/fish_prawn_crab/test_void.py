"""A throw that does not count: bets stand for the next shake, or go back."""

import pytest

from croupier.domain.commands import PlaceBet, RingBell
from croupier.domain.cup_events import (
    CupCovered,
    ThrowVoided,
)
from croupier.domain.errors import Reason
from croupier.domain.events import (
    Collected,
    PaidOut,
    RoundSettled,
    RoundStarted,
)
from croupier.domain.names import HOUSE
from croupier.domain.table import ROUND_VOIDED, TABLE_CLOSED
from tests.support.cup import opened, table, void
from tests.support.play import each, only

BETS = {"A": "big 100, triple_crab 5", "B": "small 7"}


def test_carried_bets_stay_at_risk_and_nobody_wins_or_loses():
    at = table(seats="AB")
    at.shake(BETS)
    before = dict(at.balances)
    assert at.do(void()) == (
        ThrowVoided(reason="a die is tilted"),
        RoundSettled(round=1, carried=112),
    )
    assert at.balances == before
    assert (at.state.phase, at.table.in_round, at.table.round) == ("READY", False, 2)


def test_a_void_game_has_a_number_of_its_own_and_the_next_refers_to_the_carried_bets():
    at = table(seats="AB")
    at.shake(BETS)
    numbers = [bet.number for bet in at.state.bets]
    at.do(void())
    at.to("BETTING")
    assert [one.round for one in each(at.events, RoundStarted)] == [1, 2]
    assert [one.carried for one in each(at.events, CupCovered)] == [(), tuple(numbers)]
    assert [bet.number for bet in at.state.bets] == numbers == [1, 2, 3]
    at.bet("B", "big", 1)
    assert at.state.bets[-1].number == 4


def test_carried_bets_are_settled_once_also_after_several_void_throws():
    at = table(seats="AB")
    at.shake(BETS)
    for _ in range(3):
        at.do(void())
        at.to("NO_MORE_BETS")
    events = at.do(opened("126"))
    settled = [*each(events, Collected), *each(events, PaidOut)]
    assert sorted(one.bet for one in settled) == [1, 2, 3]
    at.to("NO_MORE_BETS")
    assert not each(at.do(opened("126")), PaidOut)


def test_bets_are_not_taken_back_and_more_may_be_added_after_a_void_throw():
    at = table(seats="AB")
    at.shake(BETS)
    at.do(void())
    assert {one.command for one in at.view.allowed} == {"cover"}
    at.refused(PlaceBet("A", "big", 1), Reason.WRONG_PHASE)
    at.to("BETTING")
    at.bet("A", "big", 1)
    assert at.table.at_risk == 113


def test_refunded_bets_go_back_one_by_one():
    at = table(seats="AB", void_bets="refund")
    before = at.worths()
    at.shake(BETS)
    events = at.do(void("a die lies on another"))
    assert [(one.bet, one.player, one.returned, one.rule) for one in each(events, PaidOut)] == [
        (1, "A", 100, "throw_voided"),
        (2, "A", 5, "throw_voided"),
        (3, "B", 7, "throw_voided"),
    ]
    assert only(events, RoundSettled).carried == 0
    assert ({who: at.purse_of(who) for who in "AB"}, at.table.at_risk) == (before, 0)


@pytest.mark.parametrize("void_bets", ["carry", "refund"])
def test_a_void_throw_without_bets_just_ends_the_round(void_bets):
    at = table(void_bets=void_bets).to("NO_MORE_BETS")
    assert at.do(void()) == (
        ThrowVoided(reason="a die is tilted"),
        RoundSettled(round=1, carried=0),
    )


def test_a_table_that_closes_returns_carried_bets_and_the_bankroll():
    at = table(seats="AB", bankroll=5_000)
    before = at.worths()
    at.shake(BETS)
    at.do(void())
    events = at.close()
    returned = {one.player: (one.returned, one.rule) for one in each(events, PaidOut)}
    assert returned == {"A": (105, TABLE_CLOSED), "B": (7, TABLE_CLOSED)}
    assert events[-1].bankroll == 5_000
    assert {who: at.purse_of(who) for who in "AB"} == before
    assert (at.house, at.table.bankroll) == (5_000, 0)


def test_a_round_that_is_void_gives_carried_bets_back_too():
    at = table(seats="AB", bankroll=5_000)
    before = at.worths()
    at.shake(BETS)
    at.do(void())
    at.to("BETTING")
    at.bet("B", "total_4", 3)
    events = at.void("the power failed")
    assert {one.player: (one.returned, one.rule) for one in each(events, PaidOut)} == {
        "A": (105, ROUND_VOIDED),
        "B": (10, ROUND_VOIDED),
    }
    assert {who: at.purse_of(who) for who in "AB"} == before
    assert at.table.bankroll == 5_000
    assert at.table.exposure.worst == 0
    at.to("BETTING")
    at.bet("A", "big", 1)
    assert at.state.bets[0].number == 5  # no number is used again
    at.do(RingBell(HOUSE))
