"""Money, dice and options that cannot be are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, play_pb2, values_pb2
from tests.support.refusals import MODULE, Case, Casino, assert_nothing_left
from tests.support.serving import fresh
from tests.support.stories import deposit, fade, open_table, play, post_bank, roll, thrown, withdraw

AMOUNTS_OUT_OF_RANGE = (0, -1, 10**15 + 1, 2**63 - 1, -(2**63))


def _money() -> Iterator[Case]:
    for amount in AMOUNTS_OUT_OF_RANGE:
        for field, make in {
            "amount": lambda amount=amount: deposit("player:anna", amount),
            "amount ": lambda amount=amount: withdraw("player:anna", amount),
            "post_bank.amount": lambda amount=amount: post_bank("fresh", amount),
            "fade.stake": lambda amount=amount: fade("fading", amount),
        }.items():
            name = f"{make().DESCRIPTOR.name} of {amount} as {field}"
            yield Case(name, make, Reason.AMOUNT_OUT_OF_RANGE, field.strip())
    yield Case(
        "a bank whose reserve is beyond every amount",
        lambda: post_bank("dear", 10**12 + 1),
        Reason.AMOUNT_OUT_OF_RANGE,
        "post_bank.amount",
    )
    overdrafts = {
        "withdrawing more than there is": lambda: withdraw("player:anna", 10**9),
        "withdrawing from an empty account": lambda: withdraw("player:zoe", 1),
        "withdrawing another currency": lambda: withdraw("player:anna", 1, currency="USD"),
        "posting more than the banker has": lambda: post_bank("fresh", 10**9),
        "posting without any money": lambda: post_bank("poor", 1, "pia"),
        "a bank whose reserve the banker has not": lambda: post_bank("dear", 1000),
    }
    for name, make in overdrafts.items():
        yield Case(name, make, Reason.INSUFFICIENT_FUNDS)
    yield Case(
        "one minor unit more than a ledger may hold",
        lambda: deposit("house", 1, "full"),
        Reason.MONEY_SUPPLY_EXCEEDED,
    )
    for account in ("escrow:fading", "bankroll:fading", "external"):
        for make in (deposit, withdraw):
            yield Case(
                f"{make.__name__} at {account}",
                lambda make=make, account=account: make(account, 1),
                Reason.INVALID_ACCOUNT,
                "account",
            )
    for code in ("EURO", "eur", "XXX", "E", "€", "EUR\0"):
        yield Case(
            f"a deposit of {code!r}",
            lambda code=code: deposit("house", 1, currency=code),
            Reason.UNKNOWN_CURRENCY,
            "currency",
        )
        yield Case(
            f"a table in {code!r}",
            lambda code=code: open_table("new", currency=code),
            Reason.UNKNOWN_CURRENCY,
            "currency",
        )
        yield Case(
            f"a balance in {code!r}",
            lambda code=code: accounts_pb2.GetAccountRequest(
                name="ledgers/casino/accounts/player:anna", currency=code
            ),
            Reason.UNKNOWN_CURRENCY,
            "currency",
        )
    for make in (
        lambda: deposit("house", 1, currency=""),
        lambda: withdraw("house", 1, currency=""),
        lambda: open_table("new", currency=""),
        lambda: accounts_pb2.GetAccountRequest(name="ledgers/casino/accounts/house"),
    ):
        name = f"{make().DESCRIPTOR.name} without a currency"
        yield Case(name, make, Reason.MISSING_FIELD, "currency")


def _dice() -> Iterator[Case]:
    for dice in ((), (1, 2), (1, 2, 3, 4), (0, 1, 2), (1, 2, 7), (-1, 2, 3), (2**31 - 1, 1, 1)):
        for table in ("throwing", "pointed"):
            player = "anna" if table == "throwing" else "bela"
            yield Case(
                f"dice {dice} at the table that is {table}",
                lambda dice=dice, table=table, player=player: roll(table, player, *dice),
                Reason.INVALID_DICE,
                "roll.dice",
            )
    yield Case(
        "a thousand dice",
        lambda: roll("throwing", "anna", *[1] * 1000),
        Reason.INVALID_DICE,
        "roll.dice",
    )
    bare = play_pb2.Roll(dice=play_pb2.Dice(values=(1, 2, 3)))
    yield Case(
        "dice without a source",
        lambda: play("throwing", "anna", bare),
        Reason.MISSING_FIELD,
        "roll.dice.source.kind",
    )
    for kind in ("", "service", "camera", "Dealer"):
        yield Case(
            f"dice from a source of kind {kind!r}",
            lambda kind=kind: play("throwing", "anna", thrown(1, 2, 3, kind=kind)),
            Reason.MISSING_FIELD,
            "roll.dice.source.kind",
        )
    yield Case(
        "dice from nobody in particular",
        lambda: play("throwing", "anna", thrown(1, 2, 3, source="")),
        Reason.MISSING_FIELD,
        "roll.dice.source.id",
    )
    yield Case(
        "neither dice nor a draw",
        lambda: play("throwing", "anna", play_pb2.Roll()),
        Reason.MISSING_FIELD,
        "roll.throw",
    )
    yield Case(
        "no command",
        lambda: play_pb2.PlayRequest(
            table="ledgers/casino/tables/fading", round=1, player="bela", request_id=fresh()
        ),
        Reason.MISSING_FIELD,
        "command",
    )


def _options() -> Iterator[Case]:
    listed = values_pb2.Value(
        list_value=values_pb2.ListValue(values=[values_pb2.Value(int_value=1)])
    )
    for name, given in {
        "factor_456": ("2", True, 0, -1, 1001, 2**63 - 1, listed, values_pb2.Value()),
        "payout": ("Even", "", 1, False, "x" * 5000, "é\0", listed, values_pb2.Value()),
        "triples_lose": ("true", 0, 1, listed, values_pb2.Value()),
        "preset": ("swedish", "", 1, True, listed),
    }.items():
        for one in given:
            yield Case(
                f"option {name} = {str(one)[:24]!r} ({type(one).__name__})",
                lambda name=name, one=one: open_table("new", options={name: one}),
                Reason.INVALID_OPTION,
                f"options.{name}",
            )
    for name in ("unknown", "", "Payout", "x" * 5000, "é", "a\0b", "payout "):
        yield Case(
            f"unknown option {name[:16]!r}",
            lambda name=name: open_table("new", options={name: 1}),
            Reason.UNKNOWN_OPTION,
            "options",
        )
    yield Case(
        "a thousand options",
        lambda: open_table("new", options={f"option-{n}": n for n in range(1000)}),
        Reason.INVALID_OPTION,
        "options",
    )
    for code in ("craps", "ceelo_bank ", "../ceelo_bank", "CEELO_BANK", "x" * 5000, "é"):
        yield Case(
            f"unknown game {code[:16]!r}",
            lambda code=code: open_table("new", game=code),
            Reason.UNKNOWN_GAME,
            "game",
        )
    yield Case("no game", lambda: open_table("new", game=""), Reason.MISSING_FIELD, "game")
    for name, seats in {
        "no seats": (),
        "one seat": ("anna",),
        "a player twice": ("anna", "bela", "anna"),
        "65 seats": ("anna", *(f"p{n}" for n in range(64))),
    }.items():
        yield Case(
            name, lambda seats=seats: open_table("new", seats=seats), Reason.INVALID_SEATS, "seats"
        )
    for banker in ("", "zoe", "x" * 5000):
        yield Case(
            f"banker {banker[:8]!r} without a seat",
            lambda banker=banker: open_table("new", banker=banker),
            Reason.INVALID_SEATS,
            "banker",
        )


CASES = [*_money(), *_dice(), *_options()]


@MODULE
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_a_value_that_cannot_be_is_refused_and_leaves_nothing_behind(
    casino: Casino, case: Case
):
    await assert_nothing_left(casino, case)
