"""Who banks next, and what becomes of the bank."""

import pytest

from croupier.domain.commands import KeepBank, PassBank, PostBank, ResignBank
from croupier.domain.errors import Reason
from croupier.domain.events import (
    BankDecided,
    BankerChosen,
    PaidOut,
    RoundStarted,
)
from tests.support.ceelo import nets, table
from tests.support.play import each, only

GERMAN = {"preset": "german"}
HOT_FIRST = {"bank_precedence": "hot_first"}
CHOICE = {"auto_loss_bank": "banker_choice"}
REVERSED = {"roll_rules": "reversed"}


@pytest.mark.parametrize(
    "options, banker, throws, next_banker",
    [
        # every player with a bet won
        ({}, "224", "C 225, D 116", "B broken"),
        ({}, "123", "", "B broken"),
        ({}, "661", "", "B broken"),
        # a push is no win
        ({}, "224", "C 225, D 224", "A retained"),
        ({}, "224", "C 225, D 223", "A retained"),
        ({}, "224", "C 224, D 224", "A retained"),
        ({}, "224", "C 123, D 661", "A retained"),
        ({}, "456", "", "A retained"),
        # hot: the first in throwing order who won with 4-5-6 or triples
        ({}, "224", "C 123, D 456", "D hot"),
        ({}, "224", "C 224, D 111", "D hot"),
        ({}, "224", "C 456, D 223", "C hot"),
        ({}, "224", "C 116, D 223", "A retained"),  # point 6 gives no right to the bank
        # C2: all won and one of them was hot
        ({}, "224", "C 456, D 225", "B broken"),
        (HOT_FIRST, "224", "C 225, D 456", "D hot"),
        (HOT_FIRST, "224", "C 111, D 456", "C hot"),
        (HOT_FIRST, "224", "C 116, D 225", "B broken"),
        (GERMAN, "224", "C 456, D 225", "C hot"),
        ({**GERMAN, "bank_precedence": "broken_first"}, "224", "C 456, D 225", "B broken"),
        # D2: the banker's automatic loss
        (CHOICE, "123", "", " choice"),
        (CHOICE, "661", "", " choice"),
        (CHOICE, "224", "C 225, D 116", "B broken"),  # no choice after a point
        (GERMAN, "123", "", " choice"),
        ({**GERMAN, "auto_loss_bank": "pass_left"}, "123", "", "B broken"),
        # C6: reversed rolls
        (REVERSED, "224", "C 123, D 223", "C hot"),
        ({**REVERSED, "reversed_inherits": False}, "224", "C 123, D 223", "A retained"),
        ({**REVERSED, "reversed_inherits": False}, "224", "C 444, D 223", "C hot"),
        (REVERSED, "224", "C 456, D 225", "A retained"),  # a losing throw is not hot
        (REVERSED, "224", "C 456, D 222", "D hot"),
        # nobody has thrown after the banker's own 1-2-3, so nobody is hot by it
        ({**REVERSED, **HOT_FIRST}, "123", "", "B broken"),
        ({"triples_lose": True}, "224", "C 444, D 225", "A retained"),
        ({"triples_lose": True}, "224", "C 444, D 456", "D hot"),
    ],
)
def test_the_bank_is_broken_goes_to_the_first_hot_player_or_is_retained(
    options, banker, throws, next_banker
):
    """B sat the round out: he is the left neighbour and no bettor."""
    played = table(**options).play_round(200, "C 100, D 100", banker, throws)
    assert " ".join(played.passed) == next_banker


def test_the_first_hot_player_is_the_first_clockwise_from_the_bankers_left():
    at = table(banker="C")
    played = at.play_round(300, "D 100, A 100, B 100", "224", "D 223, A 333, B 456")
    assert played.passed == ("A", "hot")


@pytest.mark.parametrize(
    "bank_carry, carried", [("stand_or_add", 300), ("fresh", 0)], ids=["stands", "fresh"]
)
def test_a_retained_bank_stands_or_is_paid_out(bank_carry, carried):
    at = table(bank_carry=bank_carry)
    played = at.play_round(200, "B 100, C 100", "224", "B 223, C 224")
    assert played.bank == BankDecided(
        banker="A", bank_left=300, carried=carried, next_banker="A", rule="retained"
    )
    assert at.table.at_risk == carried
    assert at.purse_of("A") == 1_000_000 + 100 - carried


@pytest.mark.parametrize("bank_carry", ["stand_or_add", "fresh"])
def test_when_the_bank_passes_the_old_banker_is_paid_what_is_left_first(bank_carry):
    at = table(bank_carry=bank_carry)
    played = at.play_round(200, "B 100, C 100", "224", "B 223, C 456")
    last = played.events[-2]
    assert last == PaidOut(player="A", rule="bank_left", stake=200, returned=200)
    assert (at.state.banker, at.table.at_risk) == ("C", 0)
    assert isinstance(at.do(PostBank("C", 1))[0], RoundStarted)


def test_multiplied_a_hot_player_takes_the_bank_and_the_rest_and_reserve_go_back():
    at = table(payout="multiplied")
    played = at.play_round(1000, "B 100, C 900", "224", "B 456, C 224")
    owed = [(p.rule, p.returned) for p in each(played.events, PaidOut) if p.player == "A"]
    assert owed == [("bank_left", 800), ("reserve_returned", 4000)]
    assert nets(played) == "A -200, B +200"


def test_multiplied_a_retained_bank_stands_and_its_reserve_goes_back():
    at = table(payout="multiplied")
    played = at.play_round(100, "B 100", "224", "B 224")
    owed = [(p.rule, p.returned) for p in each(played.events, PaidOut) if p.player == "A"]
    assert owed == [("reserve_returned", 400)]
    assert (at.state.bank, at.table.at_risk) == (100, 100)


# --- the banker's choice ---


def choosing(**options):
    at = table(**{**CHOICE, **options})
    at.play_round(100, "C 100", "123")
    return at


def test_the_bank_does_not_move_until_the_banker_has_chosen():
    at = choosing()
    assert (at.view.phase, at.view.to_act) == ("BANK_CHOICE", ("A",))
    assert at.view.expects == ("keep_bank", "pass_bank")
    assert (at.table.in_round, at.table.round, at.table.at_risk) == (False, 2, 0)
    assert at.refuses(PostBank("A", 100)).reason is Reason.WRONG_PHASE
    assert at.refuses(PostBank("B", 100)).reason is Reason.WRONG_PHASE


@pytest.mark.parametrize(
    "command, banker, rule",
    [(KeepBank("A"), "A", "kept"), (PassBank("A"), "B", "passed")],
    ids=["keeps", "passes"],
)
def test_the_banker_keeps_the_bank_or_passes_it_to_his_left(command, banker, rule):
    at = choosing()
    assert at.do(command) == (BankerChosen(previous="A", banker=banker, rule=rule),)
    assert (at.view.phase, at.view.to_act) == ("BANK_OPEN", (banker,))
    (_, posted) = at.post(50)
    assert (posted.player, posted.bank, posted.carried) == (banker, 50, 0)


def test_choosing_may_be_combined_with_a_standing_bank_and_multiplied_payouts():
    at = choosing(payout="multiplied", bank_carry="stand_or_add")
    assert at.view.phase == "BANK_CHOICE"
    assert at.table.at_risk == 0


# --- resigning ---


def test_the_banker_may_resign_before_posting_and_his_left_neighbour_banks():
    at = table()
    assert at.resign("A") == (BankerChosen(previous="A", banker="B", rule="resigned"),)
    assert (at.state.banker, at.table.round, at.table.in_round) == ("B", 1, False)
    at.resign("B")
    at.resign("C")
    at.resign("D")
    assert at.state.banker == "A"


def test_a_resigning_banker_is_paid_the_bank_he_carried():
    at = table()
    at.play_round(100, "B 100", "456")
    events = at.resign("A")
    assert only(events, PaidOut) == PaidOut(player="A", rule="bank_left", stake=200, returned=200)
    assert (at.state.banker, at.table.at_risk) == ("B", 0)
    assert at.worths() == {"A": 1_000_100, "B": 999_900, "C": 1_000_000, "D": 1_000_000}


def test_resigning_does_not_reopen_or_count_a_round():
    at = table()
    at.play_round(100, "B 100", "456")
    at.resign("A")
    assert (at.table.round, at.table.in_round) == (2, False)
    assert isinstance(at.post(10)[0], RoundStarted)


@pytest.mark.parametrize("option", ["allowed", "not_allowed"])
def test_a_table_allows_resigning_or_not(option):
    at = table(resign=option)
    allowed = option == "allowed"
    assert at.view.expects == (("post_bank", "resign_bank") if allowed else ("post_bank",))
    if allowed:
        assert at.resign("A")
    else:
        refusal = at.refuses(ResignBank("A"))
        assert refusal.reason is Reason.NOT_OFFERED
        assert refusal.metadata["rule"] == "resignation_not_allowed"
