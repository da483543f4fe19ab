"""Amounts, currencies and odds; accounts and the postings between them."""

import pytest

from croupier.domain import names
from croupier.domain.bookkeeping import account_postings, table_postings
from croupier.domain.errors import Kind, Reason, Refused
from croupier.domain.events import (
    BankPosted,
    Collected,
    Deposited,
    Faded,
    FadeDeclined,
    PaidOut,
    Withdrawn,
)
from croupier.domain.money import AMOUNT_MAX, CURRENCIES, EVEN, Odds, check_amount, check_currency
from croupier.domain.paytable import Paytable
from croupier.domain.postings import Posting, check_cover, deltas, post

B = "player:b"


def refused(act, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize(
    "odds, stake, profit",
    [
        (Odds(1), 7, 7),
        (Odds(5), 7, 35),
        (Odds(1000), 10**12, 10**15),
        (Odds(3, 2), 10, 15),
        (Odds(3, 2), 11, 16),  # breakage stays with the payer
        (Odds(1, 20), 19, 0),
        (Odds(1, 20), 20, 1),
    ],
)
def test_odds_give_x_to_1_in_whole_minor_units(odds, stake, profit):
    assert odds.on(stake) == profit


@pytest.mark.parametrize("profit, per", [(0, 1), (-1, 1), (1, 0), (1, -2)])
def test_there_are_no_odds_without_profit(profit, per):
    with pytest.raises(ValueError, match="not positive"):
        Odds(profit, per)


def test_odds_read_as_they_are_called():
    assert (str(EVEN), str(Odds(3)), str(Odds(3, 2))) == ("1 to 1", "3 to 1", "3 to 2")


@pytest.mark.parametrize(
    "amount, least, fits",
    [
        (1, 1, True),
        (0, 1, False),
        (0, 0, True),
        (-1, 0, False),
        (AMOUNT_MAX, 1, True),
        (AMOUNT_MAX + 1, 1, False),
    ],
)
def test_an_amount_is_from_its_least_to_the_largest(amount, least, fits):
    if fits:
        assert check_amount(amount, least=least) == amount
    else:
        refusal = refused(check_amount, amount, least=least)
        assert refusal.reason is Reason.AMOUNT_OUT_OF_RANGE
        assert refusal.metadata["least"] == str(least)


@pytest.mark.parametrize("code, exponent", [("EUR", 2), ("JPY", 0), ("KWD", 3), ("XTS", 0)])
def test_a_currency_says_how_many_decimal_places_it_has(code, exponent):
    assert CURRENCIES[check_currency(code)] == exponent


@pytest.mark.parametrize("code", ["", "eur", "EURO", "XXX", "E" * 1000])
def test_what_is_no_currency_is_refused_without_an_echo_of_a_flood(code):
    refusal = refused(check_currency, code)
    assert refusal.reason is Reason.UNKNOWN_CURRENCY
    assert len(refusal.message) < 200


def test_a_paytable_knows_even_money_without_a_line_and_changes_its_digest_with_any_price():
    lines = {"double": Odds(2), "five": Odds(5)}
    paytable = Paytable(lines)
    assert (paytable.odds(""), paytable.odds("five")) == (EVEN, Odds(5))
    assert paytable.digest() == Paytable(dict(reversed(lines.items()))).digest()
    others = ({"double": Odds(3), "five": Odds(5)}, {"double": Odds(2)}, {"double": Odds(2, 5)}, {})
    assert len({paytable.digest(), *(Paytable(other).digest() for other in others)}) == 5


# --- names ---


@pytest.mark.parametrize("good", ["a", "A.b_c-9", "x" * 64, "..."])
def test_an_id_is_up_to_64_plain_characters(good):
    assert names.check_id(good, "table") == good


@pytest.mark.parametrize("bad", ["", "x" * 65, "a b", "a/b", "é", "a\n", "a:b", "٣", ".", ".."])
def test_what_is_no_id_is_refused(bad):
    assert refused(names.check_id, bad, "table").reason is Reason.INVALID_ID


@pytest.mark.parametrize(
    "account", ["house", "external", "player:anna", "escrow:t1", "bankroll:t1"]
)
def test_an_account_is_the_house_the_world_or_somebodys(account):
    assert names.check_account(account) == account


@pytest.mark.parametrize("account", ["", "player", "player:", "House", "bank:t1", "escrow:a:b"])
def test_what_is_no_account_is_refused(account):
    assert refused(names.check_account, account).reason is Reason.INVALID_ACCOUNT


# --- postings ---


def test_money_enters_from_the_world_outside_and_leaves_to_it():
    deposited = Deposited(account=B, currency="EUR", amount=5)
    withdrawn = Withdrawn(account=B, currency="EUR", amount=5)
    assert account_postings(deposited) == (Posting("external", B, "EUR", 5),)
    assert account_postings(withdrawn) == (Posting(B, "external", "EUR", 5),)


@pytest.mark.parametrize(
    "event, amounts",
    [
        (BankPosted(player="b", bank=30, carried=10, added=20, reserve=60), [-20, -60]),
        (BankPosted(player="b", bank=30, carried=30, added=0, reserve=0), []),
        (Faded(player="b", stake=10, reserve=0), [-10]),
        (Faded(player="b", stake=10, reserve=40), [-10, -40]),
        (FadeDeclined(player="b"), []),
        (Collected(player="b", stake=10, odds=EVEN, amount=10, rule="r"), []),
        (PaidOut(player="b", rule="r", stake=10, returned=10), [10]),
        (
            PaidOut(
                player="b",
                rule="r",
                stake=10,
                returned=10,
                winnings=3,
                top_up=7,
                odds=EVEN,
                owed=10,
            ),
            [10, 3, 7],
        ),
    ],
)
def test_each_event_moves_money_between_a_player_and_the_tables_escrow(event, amounts):
    expected = tuple(
        Posting("escrow:t1", B, "EUR", a) if a > 0 else Posting(B, "escrow:t1", "EUR", -a)
        for a in amounts
    )
    assert table_postings(event, "t1", "EUR") == expected


@pytest.mark.parametrize("amount, destination", [(0, "house"), (-1, "house"), (1, B)])
def test_a_posting_moves_something_between_two_accounts(amount, destination):
    with pytest.raises(ValueError, match="no posting"):
        Posting(B, destination, "EUR", amount)


def test_the_changes_of_any_postings_sum_to_zero():
    postings = [Posting("external", B, "EUR", 9), Posting(B, "escrow:t1", "EUR", 4)]
    changes = {("external", "EUR"): -9, (B, "EUR"): 5, ("escrow:t1", "EUR"): 4}
    assert deltas(postings) == changes
    balances = {(B, "EUR"): 1, (B, "SEK"): 7}
    post(balances, postings)
    assert balances == {**changes, (B, "EUR"): 6, (B, "SEK"): 7}


@pytest.mark.parametrize("amount, fits", [(99, True), (100, True), (101, False)])
def test_no_account_but_the_world_outside_is_overdrawn(amount, fits):
    balance = {(B, "EUR"): 100, (B, "SEK"): 10**6}.get
    postings = [Posting(B, "escrow:t1", "EUR", amount)]
    if fits:
        check_cover(lambda key: balance(key, 0), postings)
        return
    refusal = refused(check_cover, lambda key: balance(key, 0), postings)
    assert refusal.reason is Reason.INSUFFICIENT_FUNDS
    assert refusal.metadata == {
        "account": B,
        "currency": "EUR",
        "available": "100",
        "needed": "101",
    }


@pytest.mark.parametrize("amount, fits", [(1, True), (2, False)])
def test_a_ledger_holds_no_more_of_a_currency_than_an_amount_can_be(amount, fits):
    held = {("external", "EUR"): 1 - AMOUNT_MAX}.get
    postings = [Posting("external", B, "EUR", amount)]
    if fits:
        check_cover(lambda key: held(key, 0), postings)
    else:
        refusal = refused(check_cover, lambda key: held(key, 0), postings)
        assert refusal.reason is Reason.MONEY_SUPPLY_EXCEEDED


def test_every_reason_is_its_own_name_and_says_what_a_caller_can_do():
    for reason in Reason:
        assert reason == reason.value == reason.name
        assert isinstance(reason.kind, Kind)


def test_a_refusal_says_everything_twice_once_for_people_and_once_for_programs():
    refusal = Refused(Reason.STAKE_ABOVE_LIMIT, "40 at most", field="fade.stake", limit=40)
    assert str(refusal) == refusal.message == "40 at most"
    assert refusal.metadata == {"limit": "40"}
    moved = refusal.at("other.field")
    assert (moved.field, moved.metadata, moved.reason) == (
        "other.field",
        {"limit": "40"},
        refusal.reason,
    )
