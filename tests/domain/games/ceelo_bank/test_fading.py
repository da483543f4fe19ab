"""Posting a bank and covering it."""

import pytest

from croupier.domain.commands import Decline, Fade, PostBank
from croupier.domain.errors import Reason
from croupier.domain.events import (
    BankDecided,
    BankPosted,
    FadingClosed,
    PaidOut,
    RoundStarted,
)
from tests.support.ceelo import table
from tests.support.play import each


def released(events):
    """Return what left escrow, as rule and amount."""
    return [(paid.player, paid.rule, paid.returned) for paid in each(events, PaidOut)]


def test_posting_opens_the_round_and_offers_the_bank_to_the_left_neighbour():
    at = table(banker="C")
    started, posted = at.post(100)
    assert isinstance(started, RoundStarted)
    assert posted == BankPosted(player="C", bank=100, carried=0, added=100, reserve=0)
    assert (at.view.phase, at.view.to_act) == ("FADING", ("D",))


def test_every_other_seat_is_offered_the_bank_once_clockwise():
    at = table(banker="C")
    at.post(100)
    offered = []
    while at.view.phase == "FADING":
        offered.append(at.view.to_act[0])
        at.fade(offered[-1], 1)
    assert offered == ["D", "A", "B"]
    assert (at.view.phase, at.view.to_act) == ("BANKER_THROWS", ("C",))


def test_a_seat_that_declined_is_not_offered_the_bank_again():
    at = table(seats="ABC")
    at.post(100)
    at.decline("B")
    at.fade("C", 40)
    assert at.view.phase == "BANKER_THROWS"
    assert at.refuses(Fade("B", 60)).reason is Reason.WRONG_PHASE


def test_fading_closes_as_soon_as_the_bank_is_covered():
    at = table()
    at.post(100)
    at.fade("B", 60)
    events = at.fade("C", 40)
    assert events[-1] == FadingClosed(faded=100, uncovered=0)
    assert at.refuses(Decline("D")).metadata["rule"] == "fading_is_not_open"


def test_the_uncovered_rest_returns_to_the_banker_at_once():
    """The Finnish source: of 100, six players fade 10 each, the banker pockets 40."""
    at = table(seats="ABCDEFGH")
    events = at.cover(100, ", ".join(f"{seat} 10" for seat in "BCDEFG"))
    assert released(events) == [("A", "uncovered_returned", 40)]
    assert at.view.phase == "BANKER_THROWS"
    assert at.purse_of("A") == 1_000_000 - 60
    assert at.state.bank == 60


def test_the_finnish_source_covers_a_bank_of_100_with_20_20_and_60():
    at = table(seats="ABCDE")
    events = at.cover(100, "B 20, C 20, D 60")
    assert (released(events), at.state.faders[-1]) == ([], "E")
    assert at.view.seats[-1].standing == "not_offered"


def test_the_german_source_covers_a_bank_of_5_with_2_and_3():
    at = table(seats="ABC", preset="german")
    at.cover(500, "B 200, C 300")
    assert (at.state.faded, at.view.phase) == (500, "BANKER_THROWS")


@pytest.mark.parametrize(
    "zero_fade, banker", [("banker_keeps", "A"), ("pass_left", "B")], ids=["keeps", "passes"]
)
def test_nobody_fades_so_the_whole_bank_returns_without_a_throw(zero_fade, banker):
    at = table(zero_fade=zero_fade)
    played = at.play_round(500, "")
    assert released(played.events) == [("A", "uncovered_returned", 500)]
    assert played.bank == BankDecided(
        banker="A", bank_left=0, carried=0, next_banker=banker, rule="no_action"
    )
    assert set(played.nets.values()) == {0}
    assert (at.state.banker, at.table.round, at.view.phase) == (banker, 2, "BANK_OPEN")
    assert at.table.at_risk == 0


def test_a_carried_bank_that_nobody_fades_returns_as_well():
    at = table()
    at.play_round(100, "B 100", "456")
    assert at.state.bank == 200
    played = at.play_round(50, "")
    assert released(played.events) == [("A", "uncovered_returned", 250)]
    assert (played.bank.rule, at.table.at_risk) == ("no_action", 0)
    assert at.refuses(PostBank("A", 0)).reason is Reason.AMOUNT_OUT_OF_RANGE


def test_a_carried_bank_is_added_to_and_only_the_addition_leaves_the_purse():
    at = table()
    at.play_round(100, "B 100", "456")
    purse = at.purse_of("A")
    events = at.post(30)
    assert each(events, BankPosted) == [
        BankPosted(player="A", bank=230, carried=200, added=30, reserve=0)
    ]
    assert at.purse_of("A") == purse - 30


def test_a_carried_bank_may_stand_as_it_is():
    at = table()
    at.play_round(100, "B 100", "456")
    (posted,) = each(at.post(0), BankPosted)
    assert (posted.bank, posted.added) == (200, 0)


def test_a_covered_bank_leaves_nothing_uncovered_and_counts_down_fade_by_fade():
    at = table()
    at.post(100)
    seen = [at.view.details["uncovered"]]
    for seat, stake in (("B", 30), ("C", 20), ("D", 50)):
        at.fade(seat, stake)
        seen.append(at.view.details["uncovered"])
    assert seen == [100, 70, 50, 0]
