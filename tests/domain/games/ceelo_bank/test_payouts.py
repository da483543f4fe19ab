"""What wins, losses and pushes pay: even money, multiplied, on both sides, beyond the bank."""

import pytest

from croupier.domain.events import (
    BankPosted,
    BetDecided,
    Collected,
    Faded,
    PaidOut,
    RoundSettled,
)
from croupier.domain.money import Odds
from tests.support.ceelo import nets, roll, table, throwing
from tests.support.play import each, only

MULTIPLIED = {"payout": "multiplied"}
BOTH = {**MULTIPLIED, "payout_applies_to": "both_sides"}
CAPPED = {**MULTIPLIED, "over_bank_liability": "capped"}
REVERSED = {"roll_rules": "reversed"}


@pytest.mark.parametrize(
    "options, throws, net",
    [
        ({}, "B 225", "B +100"),
        ({}, "B 224", "B +0"),
        ({}, "B 223", "B -100"),
        ({}, "B 456", "B +100"),
        ({}, "B 666", "B +100"),
        ({}, "B 111", "B +100"),
        (MULTIPLIED, "B 225", "B +100"),
        (MULTIPLIED, "B 116", "B +100"),  # a point, also the highest, pays even money
        (MULTIPLIED, "B 456", "B +200"),
        (MULTIPLIED, "B 222", "B +300"),
        (MULTIPLIED, "B 666", "B +300"),
        (MULTIPLIED, "B 111", "B +500"),  # five, not three and not fifteen
        (MULTIPLIED, "B 123", "B -100"),
        (MULTIPLIED, "B 224", "B +0"),
        ({**MULTIPLIED, "factor_456": 7}, "B 456", "B +700"),
        ({**MULTIPLIED, "factor_triples": 4}, "B 333", "B +400"),
        ({**MULTIPLIED, "factor_triples": 4}, "B 111", "B +500"),
        ({**MULTIPLIED, "factor_111": 1000}, "B 111", "B +100000"),
        ({**MULTIPLIED, "factor_111": 1}, "B 111", "B +100"),
        ({"factor_456": 9}, "B 456", "B +100"),  # factors count only where payouts are multiplied
        ({**MULTIPLIED, **REVERSED}, "B 123", "B +200"),
        ({**MULTIPLIED, **REVERSED}, "B 456", "B -100"),
        ({**MULTIPLIED, **REVERSED}, "B 555", "B +300"),
        ({**MULTIPLIED, **REVERSED, "reversed_inherits": False}, "B 123", "B +100"),
        ({**MULTIPLIED, **REVERSED, "reversed_inherits": False}, "B 111", "B +500"),
        ({**MULTIPLIED, "triples_lose": True}, "B 111", "B -100"),
        ({**MULTIPLIED, "triples_lose": True}, "B 456", "B +200"),
        (BOTH, "B 123", "B -100"),  # a player's own losing throw costs his stake, no more
        (BOTH, "B 222", "B +300"),
    ],
)
def test_a_player_wins_x_to_1_on_his_fade(options, throws, net):
    """C4, C5 and C6: "double" is a net win of twice the fade, by default for players only."""
    played = table(**options).play_round(100, "B 100", "224", throws)
    assert nets(played, "B") == net


@pytest.mark.parametrize(
    "options, banker, net",
    [
        ({}, "456", "B -100"),
        (MULTIPLIED, "456", "B -100"),
        (MULTIPLIED, "111", "B -100"),
        (BOTH, "456", "B -200"),
        (BOTH, "222", "B -300"),
        (BOTH, "111", "B -500"),
        (BOTH, "116", "B -100"),  # his pair with 6 collects once
        (BOTH, "123", "B +100"),  # his automatic loss pays once
        (BOTH, "661", "B +100"),
        ({**BOTH, **REVERSED}, "456", "B -200"),  # reversed rolls are for players only
        ({**BOTH, **REVERSED}, "123", "B +100"),
        ({**BOTH, "triples_lose": True}, "111", "B -500"),
        ({"payout_applies_to": "both_sides"}, "111", "B -100"),
    ],
)
def test_the_bankers_own_throws_are_multiplied_only_on_both_sides(options, banker, net):
    played = table(**options).play_round(100, "B 100", banker)
    assert nets(played, "B") == net


@pytest.mark.parametrize(
    "options, banker, line, odds",
    [
        (MULTIPLIED, "456", "even", 1),
        (MULTIPLIED, "111", "even", 1),
        (BOTH, "456", "four_five_six", 2),
        (BOTH, "222", "triples", 3),
        (BOTH, "111", "one_one_one", 5),
        (BOTH, "116", "even", 1),
    ],
)
def test_the_record_of_the_bankers_win_names_the_odds_that_applied(options, banker, line, odds):
    """A fader without a reserve loses no more in any case; the record must still be right."""
    played = table(**options).play_round(100, "B 100", banker)
    assert only(played.events, BetDecided).line == line
    assert only(played.events, Collected).odds == Odds(odds)


def test_even_money_leaves_pushes_once_and_losses_twice_in_the_bank():
    played = table(seats="ABCDE").play_round(
        1000, "B 100, C 200, D 300, E 400", "334", "B 225, C 114, D 123, E 554"
    )
    assert nets(played) == "A +200, B +100, D -300"
    assert played.bank.bank_left == 200 + 2 * 300 + 400


def test_all_bets_are_settled_together_after_the_last_throw():
    at = throwing("B 100, C 100")
    at.roll("A", "224")
    assert each(at.roll("B", "225"), PaidOut) == []
    assert at.purse_of("B") == 1_000_000 - 100
    events = at.roll("C", "223")
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        "Rolled",
        "BetDecided",
        "Collected",
        "PaidOut",
        "BankDecided",
        "RoundSettled",
    ]
    assert only(events, RoundSettled).carried == at.table.at_risk == 200


def test_the_record_says_by_which_rule_and_at_which_odds_each_bet_was_settled():
    at = table(**MULTIPLIED)
    played = at.play_round(400, "B 100, C 100, D 200", "224", "B 456, C 224, D 123")
    decided = [(b.player, b.result, b.line) for b in each(played.events, BetDecided)]
    assert decided == [
        ("B", "won", "four_five_six"),
        ("C", "pushed", ""),
        ("D", "lost", "even"),
    ]
    assert only(played.events, Collected) == Collected(
        player="D", stake=200, odds=Odds(1), amount=200, rule="one_two_three"
    )
    bets = [paid for paid in each(played.events, PaidOut) if paid.player != "A"]
    assert bets == [
        PaidOut(
            player="B",
            rule="four_five_six",
            stake=100,
            odds=Odds(2),
            returned=100,
            winnings=200,
            top_up=0,
            owed=200,
        ),
        PaidOut(player="C", rule="equal_point", stake=100, returned=100),
    ]


@pytest.mark.parametrize(
    "banker, throws, rules",
    [
        ("456", "", ["banker_automatic_win"] * 2),
        ("123", "", ["banker_automatic_loss"] * 2),
        ("224", "B 225, C 223", ["higher_point", "lower_point"]),
        ("224", "B 333, C 224", ["triples", "equal_point"]),
    ],
)
def test_bets_are_settled_by_named_rules(banker, throws, rules):
    played = table().play_round(200, "B 100, C 100", banker, throws)
    settled = {
        event.player: event.rule
        for event in each(played.events, Collected | PaidOut)
        if event.player != "A"
    }
    assert [settled["B"], settled["C"]] == rules


# --- beyond the bank ---


@pytest.mark.parametrize(
    "options, reserve",
    [
        ({}, 0),
        (MULTIPLIED, 400),
        ({**MULTIPLIED, "factor_111": 1000}, 99900),
        ({**MULTIPLIED, "factor_456": 8}, 700),
        ({**MULTIPLIED, "triples_lose": True}, 100),
        ({**MULTIPLIED, "factor_456": 6, "roll_rules": "reversed"}, 500),
        (
            {
                **MULTIPLIED,
                "factor_456": 6,
                "roll_rules": "reversed",
                "reversed_inherits": False,
            },
            400,
        ),
        (
            {
                **MULTIPLIED,
                "roll_rules": "reversed",
                "reversed_inherits": False,
                "triples_lose": True,
            },
            0,
        ),
        ({**MULTIPLIED, "factor_456": 1, "factor_triples": 1, "factor_111": 1}, 0),
        (CAPPED, 0),
        (BOTH, 400),
    ],
)
def test_prefunded_the_banker_escrows_the_largest_factor_that_can_be_required(options, reserve):
    (posted,) = each(table(**options).post(100), BankPosted)
    assert posted.reserve == reserve


@pytest.mark.parametrize(
    "options, reserve",
    [
        ({}, 0),
        (MULTIPLIED, 0),
        (BOTH, 400),
        ({**BOTH, "over_bank_liability": "capped"}, 400),  # chance is never refused for money
        ({**BOTH, "triples_lose": True}, 400),  # the banker's triples still collect
        ({**BOTH, "factor_456": 9}, 800),
        ({"payout_applies_to": "both_sides"}, 0),
    ],
)
def test_on_both_sides_a_fader_escrows_the_largest_factor_the_banker_can_collect(options, reserve):
    at = table(**options)
    at.post(100)
    (faded,) = each(at.fade("B", 100), Faded)
    assert faded.reserve == reserve


def test_the_reserve_for_the_uncovered_rest_returns_when_fading_closes():
    at = table(**MULTIPLIED)
    events = at.cover(1000, "B 300")
    returned = [(paid.rule, paid.returned) for paid in each(events, PaidOut)]
    assert returned == [("uncovered_returned", 700), ("reserve_returned", 4 * 700)]
    assert (at.state.bank, at.state.reserve, at.purse_of("A")) == (300, 1200, 1_000_000 - 1500)


def test_nobody_fades_so_the_reserve_returns_too():
    at = table(**MULTIPLIED)
    played = at.play_round(100, "")
    returned = [(paid.rule, paid.returned) for paid in each(played.events, PaidOut)]
    assert returned == [("uncovered_returned", 100), ("reserve_returned", 400)]
    assert at.table.at_risk == 0


def test_wins_beyond_the_bank_are_topped_up_from_the_bankers_reserve():
    at = table(**MULTIPLIED)
    played = at.play_round(300, "B 100, C 100, D 100", "442", "B 456, C 444, D 111")
    paid = [(p.winnings, p.top_up, p.owed) for p in each(played.events, PaidOut) if p.odds]
    assert paid == [(200, 0, 200), (100, 200, 300), (0, 500, 500)]
    assert nets(played) == "A -1000, B +200, C +300, D +500"
    assert played.bank.bank_left == 0
    assert at.table.at_risk == 0


def test_losing_stakes_fill_the_bank_before_the_reserve_is_touched():
    played = table(**MULTIPLIED).play_round(300, "B 100, C 200", "442", "B 111, C 123")
    win = next(paid for paid in each(played.events, PaidOut) if paid.player == "B")
    assert (win.winnings, win.top_up) == (500, 0)
    assert (played.bank.bank_left, played.passed) == (0, ("B", "hot"))


@pytest.mark.parametrize(
    "throws, expected",
    [
        ("B 456, C 444, D 111", "A -300, B +200, C +100"),  # in throwing order, until it is empty
        ("B 111, C 225, D 456", "A -300, B +300"),
        ("B 225, C 111, D 123", "A -300, B +100, C +300, D -100"),  # later losers refill it
        ("B 225, C 225, D 225", "A -300, B +100, C +100, D +100"),
        ("B 332, C 111, D 123", "A -300, C +400, D -100"),  # a push is paid from its own stake
    ],
)
def test_capped_wins_are_paid_in_throwing_order_until_the_bank_is_empty(throws, expected):
    at = table(**CAPPED)
    played = at.play_round(300, "B 100, C 100, D 100", "442", throws)
    assert nets(played) == expected
    assert all(paid.top_up == 0 for paid in each(played.events, PaidOut))


def test_capped_the_record_still_says_what_would_have_been_owed():
    played = table(**CAPPED).play_round(100, "B 100", "442", "B 111")
    win = next(paid for paid in each(played.events, PaidOut) if paid.player == "B")
    assert (win.owed, win.winnings, win.returned) == (500, 100, 100)


def test_on_both_sides_what_a_loser_escrowed_beyond_his_loss_returns_to_him():
    played = table(**BOTH).play_round(100, "B 100", "456")
    assert only(played.events, Collected).amount == 200
    back = [(p.player, p.rule, p.returned) for p in each(played.events, PaidOut)]
    assert ("B", "reserve_returned", 300) in back
    assert played.bank.bank_left == 300


def test_on_both_sides_the_multiplied_loss_stands_in_the_bank():
    at = table(**BOTH)
    at.play_round(100, "B 100", "111")
    assert (at.state.bank, at.state.reserve) == (600, 0)
    (posted,) = each(at.post(0), BankPosted)
    assert (posted.bank, posted.added, posted.reserve) == (600, 0, 2400)


def test_no_throw_ever_moves_money_into_escrow():
    at = throwing("B 100, C 100", **BOTH)
    purses = [at.purse_of(seat) for seat in at.seats]
    at.roll("A", "224")
    at.do(roll("B", "111"))
    at.do(roll("C", "456"))
    assert all(at.purse_of(s) >= p for s, p in zip(at.seats, purses, strict=True))
