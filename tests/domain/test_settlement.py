"""Outcome and odds give payouts: to the minor unit, or these tests fail."""

from itertools import product

import pytest

from croupier.domain.events import (
    Collected,
    PaidOut,
)
from croupier.domain.money import AMOUNT_MAX, EVEN, Odds
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import (
    LOST,
    PUSHED,
    RESERVE_RETURNED,
    RETURNED,
    TAKES,
    WON,
    Claim,
    Outcome,
    settle,
)

TABLE = Paytable({"double": Odds(2), "five": Odds(5), "three_to_two": Odds(3, 2)})


def claim(player, result, stake, reserve=0, line=""):
    return Claim(player, f"rule_{result}", result, stake, reserve, line)


def paid(outcome):
    """Return what each payout hands out: own money, winnings, top-up, and what was owed."""
    return [
        (event.player, event.returned, event.winnings, event.top_up, event.owed)
        for event in settle(outcome, TABLE)
        if isinstance(event, PaidOut)
    ]


@pytest.mark.parametrize(
    "line, stake, owed",
    [
        ("", 1, 1),
        ("", 100, 100),
        ("double", 100, 200),
        ("five", 1, 5),
        ("five", 999, 4995),
        ("three_to_two", 2, 3),
        ("three_to_two", 3, 4),  # 4.5: the half stays with the payer
        ("three_to_two", 1, 1),
        ("five", AMOUNT_MAX // 5, AMOUNT_MAX),
    ],
)
def test_a_win_returns_the_stake_and_adds_x_to_1(line, stake, owed):
    outcome = Outcome((claim("B", WON, stake, line=line),), bank=owed)
    assert paid(outcome) == [("B", stake, owed, 0, owed)]


def test_a_win_is_recorded_with_its_odds_and_its_rule():
    won = claim("B", WON, 10, reserve=40, line="double")
    assert settle(Outcome((won,), bank=20), TABLE) == (
        PaidOut(
            player="B",
            rule="rule_won",
            stake=10,
            odds=Odds(2),
            returned=50,
            winnings=20,
            top_up=0,
            owed=20,
        ),
    )


@pytest.mark.parametrize(
    "bank, reserve, winnings, top_up",
    [
        (500, 0, 500, 0),
        (501, 7, 500, 0),
        (499, 0, 499, 0),
        (499, 1, 499, 1),
        (499, 100, 499, 1),
        (0, 500, 0, 500),
        (0, 499, 0, 499),
        (0, 0, 0, 0),
        (1, 498, 1, 498),
    ],
)
def test_a_win_comes_out_of_the_bank_first_and_then_out_of_the_reserve(
    bank, reserve, winnings, top_up
):
    outcome = Outcome((claim("B", WON, 100, line="five"),), bank=bank, reserve=reserve)
    assert paid(outcome) == [("B", 100, winnings, top_up, 500)]


def test_wins_are_paid_in_the_order_of_the_claims_until_all_is_used_up():
    claims = tuple(claim(player, WON, 100, line="double") for player in "BCD")
    assert paid(Outcome(claims, bank=250, reserve=200)) == [
        ("B", 100, 200, 0, 200),
        ("C", 100, 50, 150, 200),
        ("D", 100, 0, 50, 200),
    ]


def test_losing_stakes_are_collected_first_and_fill_the_bank_for_earlier_wins():
    outcome = Outcome((claim("B", WON, 100), claim("C", LOST, 30)), bank=70)
    assert settle(outcome, TABLE) == (
        Collected(player="C", stake=30, odds=EVEN, amount=30, rule="rule_lost"),
        PaidOut(
            player="B",
            rule="rule_won",
            stake=100,
            odds=EVEN,
            returned=100,
            winnings=100,
            owed=100,
        ),
    )


@pytest.mark.parametrize(
    "line, reserve, lost, back",
    [
        ("", 0, 100, 0),
        ("", 400, 100, 400),
        ("double", 100, 200, 0),
        ("double", 400, 200, 300),
        ("five", 400, 500, 0),
        ("five", 399, 499, 0),  # never more than is in escrow for it
        ("five", 0, 100, 0),
        ("three_to_two", 51, 150, 1),
    ],
)
def test_a_loss_costs_what_its_line_says_and_the_rest_of_the_escrow_returns(
    line, reserve, lost, back
):
    collected, *rest = settle(Outcome((claim("B", LOST, 100, reserve, line),)), TABLE)
    assert (collected.player, collected.stake, collected.amount) == ("B", 100, lost)
    assert collected.odds == TABLE.odds(line)
    returned = [PaidOut(player="B", rule=RESERVE_RETURNED, stake=100, returned=back)]
    assert rest == (returned if back else [])


@pytest.mark.parametrize("result", [PUSHED, RETURNED])
def test_what_neither_won_nor_lost_returns_whole_by_its_own_rule(result):
    events = settle(Outcome((claim("B", result, 100, reserve=400),), bank=1000), TABLE)
    assert events == (PaidOut(player="B", rule=f"rule_{result}", stake=100, returned=500),)


def test_nothing_is_owed_of_nothing():
    assert settle(Outcome(()), TABLE) == ()
    assert settle(Outcome((claim("B", RETURNED, 0),), bank=5), TABLE) == ()


CLAIMS = [
    (result, line, reserve)
    for result in (WON, LOST, PUSHED)
    for line in ("", "double", "five")
    for reserve in (0, 40)
]


@pytest.mark.parametrize("bank, reserve", [(0, 0), (10, 0), (10, 3), (500, 500)])
def test_settlement_creates_and_destroys_nothing(bank, reserve):
    """All claims of escrow, bank and reserve together are what is paid out and what remains."""
    for first, second in product(CLAIMS, repeat=2):
        claims = tuple(
            claim(player, result, 10, own, line)
            for player, (result, line, own) in zip("BC", (first, second), strict=True)
        )
        events = settle(Outcome(claims, bank=bank, reserve=reserve), TABLE)
        collected = sum(e.amount for e in events if isinstance(e, Collected))
        payouts = [e for e in events if isinstance(e, PaidOut)]
        own = sum(c.stake + c.reserve for c in claims)
        assert sum(e.returned for e in payouts) + collected == own
        assert sum(e.winnings for e in payouts) <= bank + collected
        assert sum(e.top_up for e in payouts) <= reserve
        assert all(e.winnings + e.top_up <= e.owed for e in payouts)


def test_settling_twice_is_settling_once():
    outcome = Outcome((claim("B", WON, 7, line="five"), claim("C", LOST, 9)), bank=3, reserve=99)
    assert settle(outcome, TABLE) == settle(outcome, TABLE)


# --- pots ---------------------------------------------------------------------------------------


def pot(takers, losers, *, stake=100, bank=0):
    """Return the payouts of a pot, and what was collected for it."""
    claims = [claim(player, TAKES, stake) for player in takers]
    claims += [claim(player, LOST, stake) for player in losers]
    events = settle(Outcome(tuple(claims), bank=bank), TABLE)
    collected = sum(event.amount for event in events if isinstance(event, Collected))
    return [event for event in events if isinstance(event, PaidOut)], collected


def test_one_winner_takes_the_whole_pot():
    ((won,), collected) = pot("A", "BCD")
    assert collected == 300
    assert (won.rule, won.stake, won.returned, won.winnings) == ("rule_takes", 100, 100, 300)
    assert (won.odds, won.top_up, won.owed) == (None, 0, 300)


def test_two_winners_share_a_pot_equally():
    paid, collected = pot("AC", "BD")
    assert collected == 200
    assert [(one.player, one.returned, one.winnings, one.owed) for one in paid] == [
        ("A", 100, 100, 100),
        ("C", 100, 100, 100),
    ]


@pytest.mark.parametrize(
    "takers, bank, shares",
    [
        ("A", 7, [7]),
        ("AB", 7, [4, 3]),
        ("AB", 1, [1, 0]),
        ("AB", 0, [0, 0]),
        ("ABC", 7, [3, 2, 2]),
        ("ABC", 8, [3, 3, 2]),
        ("ABC", 9, [3, 3, 3]),
        ("ABCD", 2, [1, 1, 0, 0]),
        ("AB", AMOUNT_MAX, [AMOUNT_MAX // 2] * 2),
    ],
)
def test_what_cannot_be_shared_equally_goes_to_the_first_ones(takers, bank, shares):
    paid, _ = pot(takers, "", bank=bank)
    assert [one.winnings for one in paid] == shares
    assert sum(one.winnings for one in paid) == bank


def test_those_who_share_a_pot_need_not_be_named_together():
    claims = (claim("A", TAKES, 10), claim("B", LOST, 10), claim("C", TAKES, 10))
    paid = [one for one in settle(Outcome(claims), TABLE) if isinstance(one, PaidOut)]
    assert [(one.player, one.winnings) for one in paid] == [("A", 5), ("C", 5)]
