"""Every bad input gets a clear refusal, on the wire, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain.errors import Kind, Reason
from croupier.services.rpc.callers import Role
from croupier.services.rpc.permissions import ROLES
from croupier.services.rpc.status import CODES
from croupier.v1 import (
    accounts_pb2,
    admin_pb2,
    audit_pb2,
    errors_pb2,
    play_pb2,
    tables_pb2,
    values_pb2,
)
from tests.support.serving import (
    METHODS,
    Client,
    Method,
    Refusal,
    Serve,
    Tokens,
    close_table,
    create_ledger,
    deposit,
    fade,
    fresh,
    furnish,
    open_table,
    plain,
    play,
    play_round,
    post_bank,
    refusal_of,
    refused,
    roll,
    serving,
    thrown,
    withdraw,
)

MODULE = pytest.mark.asyncio(loop_scope="module")

STATUS = {
    Kind.INVALID: "INVALID_ARGUMENT",
    Kind.UNAUTHENTICATED: "UNAUTHENTICATED",
    Kind.FORBIDDEN: "PERMISSION_DENIED",
    Kind.UNIMPLEMENTED: "UNIMPLEMENTED",
    Kind.NOT_FOUND: "NOT_FOUND",
    Kind.EXISTS: "ALREADY_EXISTS",
    Kind.ILLEGAL: "FAILED_PRECONDITION",
    Kind.CONFLICT: "ABORTED",
    Kind.EXHAUSTED: "RESOURCE_EXHAUSTED",
    Kind.UNAVAILABLE: "UNAVAILABLE",
    Kind.EXPIRED: "DEADLINE_EXCEEDED",
    Kind.INTERNAL: "INTERNAL",
}
"""The contract with callers: what they may do about a refusal is in its status code."""

TESTED_ELSEWHERE = {
    "CLOCK_BEHIND": "needs a clock of the test's own: the writer's tests have one",
    "COMMAND_NOT_IN_GAME": "the one game of this release takes every command there is",
    "DEADLINE_PASSED": "the caller's own library answers first; see the last test of this file",
    "INTERNAL": "a fault of ours, which no request can cause: the interceptor's tests make one",
    "LEDGER_FENCED": "needs a log that was tampered with: the tests of reads do that",
    "SHUTTING_DOWN": "kept for a later release: at shutdown the transport itself turns calls away",
    "STAKE_BELOW_LIMIT": "the one game of this release has no least stake",
}
"""Reasons that no test of the acceptance suite's refusals can cause, and why."""

LEDGERS = ("casino", "full")

AMOUNTS_OUT_OF_RANGE = (0, -1, 10**15 + 1, 2**63 - 1, -(2**63))

BAD_IDS = {
    "of 65 characters": "x" * 65,
    "with a slash": "a/b",
    "with a letter beyond ASCII": "é",
    "of one dot": ".",
    "of two dots": "..",
    "with a NUL": "a\0b",
    "with a newline": "a\n",
    "with a space": "a b",
    "with a colon": "a:b",
    "that is a flood": "x" * 10_000,
}


def assert_refused(refusal: Refusal, reason: Reason, field: str | None = None) -> None:
    """Check what a refusal says against what it has to say; `field` where it matters."""
    assert (refusal.reason, refusal.domain) == (reason.value, "croupier"), refusal
    assert refusal.code.name == STATUS[reason.kind]
    assert refusal.message
    if reason.kind is not Kind.INVALID:
        assert refusal.fields == (), refusal
    elif field is not None:
        assert refusal.fields == (field,), refusal
    if reason.kind is not Kind.ILLEGAL:
        assert refusal.subjects == (), refusal
    elif field is not None:
        assert refusal.subjects == (field,), refusal


def assert_has_field(message: Message, path: str) -> None:
    """Check that a path of a violation leads to a field (or a choice) of the request."""
    descriptor = message.DESCRIPTOR
    names = path.split(".")
    while names:
        name = names.pop(0)
        if not names and name in descriptor.oneofs_by_name:
            return
        assert name in descriptor.fields_by_name, f"{path} is not in {message.DESCRIPTOR.name}"
        field = descriptor.fields_by_name[name]
        if field.message_type is None:
            assert not names, path
            return
        if field.message_type.GetOptions().map_entry:
            return  # what follows is a key
        descriptor = field.message_type


# --- one casino, with a table in every phase ---------------------------------------------------


@dataclass(slots=True)
class Casino:
    """A server on which many refusals are tried, and what can be seen of it."""

    client: Client
    data: Path

    async def evidence(self) -> list[Any]:
        files = sorted(path.name for path in self.data.iterdir())
        return [files, *await self.client.evidence(*LEDGERS)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def casino(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Casino]:
    data = tmp_path_factory.mktemp("refusals") / "data"
    async with serving(data) as served:
        client = await served.client()
        await furnish(client)
        tables = {
            "fresh": {},
            "fading": {},
            "throwing": {},
            "pointed": {},
            "choosing": {"preset": "german"},
            "strict": {"resign": "not_allowed"},
            "closed": {},
            "dear": {"payout": "multiplied", "factor_111": 1000},
        }
        for name, options in tables.items():
            await client.ask(open_table(name, options=options))
        for request in (
            open_table("poor", seats=["pia", "bela"], banker="pia"),
            post_bank("fading", 1000),
            post_bank("throwing", 1000),
            fade("throwing", 1000),
            post_bank("pointed", 1000),
            fade("pointed", 1000),
            roll("pointed", "anna", 3, 3, 4),
            post_bank("choosing", 1000),
            fade("choosing", 1000),
            roll("choosing", "anna", 1, 2, 3),
            close_table("closed"),
            create_ledger("full"),
            deposit("house", 10**15, "full"),
        ):
            await client.ask(request)
        yield Casino(client, data)


# --- the table of bad requests ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """A request that is refused in the casino above. `make` gives it, with a fresh request id."""

    name: str
    make: Callable[[], Message]
    reason: Reason
    field: str = ""


def _unknown() -> Iterator[Case]:
    nowhere = {
        "opening a table": lambda: open_table("t", "nowhere"),
        "closing a table": lambda: close_table("t", "nowhere"),
        "playing": lambda: post_bank("t", 1, ledger="nowhere"),
        "depositing": lambda: deposit("house", 1, "nowhere"),
        "withdrawing": lambda: withdraw("house", 1, "nowhere"),
        "reading a table": lambda: tables_pb2.GetTableRequest(name="ledgers/nowhere/tables/t"),
        "listing tables": lambda: tables_pb2.ListTablesRequest(parent="ledgers/nowhere"),
        "reading an account": lambda: accounts_pb2.GetAccountRequest(
            name="ledgers/nowhere/accounts/house", currency="EUR"
        ),
        "listing accounts": lambda: accounts_pb2.ListAccountsRequest(parent="ledgers/nowhere"),
        "summing": lambda: accounts_pb2.GetTrialBalanceRequest(parent="ledgers/nowhere"),
        "replaying": lambda: audit_pb2.ReplayTableRequest(name="ledgers/nowhere/tables/t"),
        "listing events": lambda: audit_pb2.ListEventsRequest(parent="ledgers/nowhere"),
        "reading the ledger": lambda: admin_pb2.GetLedgerRequest(name="ledgers/nowhere"),
    }
    for name, make in nowhere.items():
        yield Case(f"{name} in an unknown ledger", make, Reason.LEDGER_NOT_FOUND)
    absent = {
        "closing": lambda: close_table("absent"),
        "playing at": lambda: post_bank("absent", 1),
        "reading": lambda: tables_pb2.GetTableRequest(name="ledgers/casino/tables/absent"),
        "replaying": lambda: audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/absent"),
    }
    for name, make in absent.items():
        yield Case(f"{name} an unknown table", make, Reason.TABLE_NOT_FOUND)
    for account in ("player:nobody", "escrow:absent", "bankroll:fresh", "house"):
        yield Case(
            f"reading {account}, which never held money",
            lambda account=account: accounts_pb2.GetAccountRequest(
                name=f"ledgers/casino/accounts/{account}", currency="EUR"
            ),
            Reason.ACCOUNT_NOT_FOUND,
        )
    yield Case(
        "reading a balance in a currency never held",
        lambda: accounts_pb2.GetAccountRequest(
            name="ledgers/casino/accounts/player:anna", currency="USD"
        ),
        Reason.ACCOUNT_NOT_FOUND,
    )
    yield Case("a ledger created twice", lambda: create_ledger("casino"), Reason.LEDGER_EXISTS)
    yield Case("a table opened twice", lambda: open_table("fresh"), Reason.TABLE_EXISTS)


def _rules() -> Iterator[Case]:
    yield from (
        Case(name, make, reason, field)
        for name, make, reason, field in (
            ("a stranger plays", lambda: fade("fading", 1, "zoe"), Reason.NOT_SEATED, "player"),
            (
                "fading before the left neighbour did",
                lambda: fade("fading", 1, "carl"),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "declining before the left neighbour did",
                lambda: play("fading", "carl", play_pb2.Decline()),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            ("the banker fades", lambda: fade("fading", 1, "anna"), Reason.NOT_YOUR_TURN, ""),
            (
                "fading more than is uncovered",
                lambda: fade("fading", 1001),
                Reason.STAKE_ABOVE_LIMIT,
                "fade.stake",
            ),
            (
                "posting by one who does not bank",
                lambda: post_bank("fresh", 1, "bela"),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            ("posting twice", lambda: post_bank("fading", 1), Reason.WRONG_PHASE, ""),
            ("fading before posting", lambda: fade("fresh", 1), Reason.WRONG_PHASE, ""),
            ("fading too late", lambda: fade("throwing", 1), Reason.WRONG_PHASE, ""),
            (
                "throwing before posting",
                lambda: roll("fresh", "anna", 1, 2, 3),
                Reason.WRONG_PHASE,
                "",
            ),
            (
                "throwing while fading",
                lambda: roll("fading", "anna", 1, 2, 3),
                Reason.WRONG_PHASE,
                "",
            ),
            (
                "a fader throws first",
                lambda: roll("throwing", "bela", 1, 2, 3),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "the banker throws again",
                lambda: roll("pointed", "anna", 1, 2, 3),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "one who did not fade throws",
                lambda: roll("pointed", "carl", 1, 2, 3),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "drawing for one who may not throw",
                lambda: play("pointed", "carl", play_pb2.Roll(draw=play_pb2.Draw())),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "keeping a bank nobody offers",
                lambda: play("fresh", "anna", play_pb2.KeepBank()),
                Reason.NOT_OFFERED,
                "",
            ),
            (
                "passing a bank nobody offers",
                lambda: play("fading", "anna", play_pb2.PassBank()),
                Reason.NOT_OFFERED,
                "",
            ),
            (
                "choosing by one who does not bank",
                lambda: play("choosing", "bela", play_pb2.KeepBank(), round=2),
                Reason.NOT_YOUR_TURN,
                "",
            ),
            (
                "posting before choosing",
                lambda: post_bank("choosing", 1, round=2),
                Reason.WRONG_PHASE,
                "",
            ),
            (
                "resigning where the table forbids it",
                lambda: play("strict", "anna", play_pb2.ResignBank()),
                Reason.NOT_OFFERED,
                "",
            ),
            (
                "resigning after posting",
                lambda: play("fading", "anna", play_pb2.ResignBank()),
                Reason.WRONG_PHASE,
                "",
            ),
            (
                "closing in the middle of fading",
                lambda: close_table("fading"),
                Reason.ROUND_OPEN,
                "",
            ),
            (
                "closing in the middle of a round",
                lambda: close_table("pointed"),
                Reason.ROUND_OPEN,
                "",
            ),
            ("closing twice", lambda: close_table("closed"), Reason.TABLE_CLOSED, ""),
            (
                "posting at a closed table",
                lambda: post_bank("closed", 1),
                Reason.TABLE_CLOSED,
                "",
            ),
            (
                "playing the next round already",
                lambda: fade("fading", 1, round=2),
                Reason.ROUND_MISMATCH,
                "round",
            ),
            (
                "playing a round that is over",
                lambda: play("choosing", "anna", play_pb2.KeepBank(), round=1),
                Reason.ROUND_MISMATCH,
                "round",
            ),
            (
                "playing a round of the far future",
                lambda: fade("fading", 1, round=2**63 - 1),
                Reason.ROUND_MISMATCH,
                "round",
            ),
            (
                "playing no round",
                lambda: fade("fading", 1, round=0),
                Reason.MISSING_FIELD,
                "round",
            ),
            (
                "playing a negative round",
                lambda: fade("fading", 1, round=-1),
                Reason.INVALID_POSITION,
                "round",
            ),
        )
    )


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


def _ids() -> Iterator[Case]:
    for kind, bad in BAD_IDS.items():
        for make, field in (
            (lambda bad=bad: create_ledger(bad), "ledger_id"),
            (lambda bad=bad: open_table(bad), "table_id"),
            (lambda bad=bad: open_table("new", seats=["anna", bad]), "seats"),
            (lambda bad=bad: fade("fading", 1, bad), "player"),
            (
                lambda bad=bad: play("throwing", "anna", thrown(1, 2, 3, source=bad)),
                "roll.dice.source.id",
            ),
        ):
            yield Case(f"{field} {kind}", make, Reason.INVALID_ID, field)
        reason = Reason.INVALID_NAME if "/" in bad else Reason.INVALID_ID
        for make, field in (
            (lambda bad=bad: deposit("house", 1, bad), "account"),
            (lambda bad=bad: open_table("t", bad), "parent"),
            (lambda bad=bad: close_table(bad), "name"),
            (lambda bad=bad: close_table("t", bad), "name"),
            (lambda bad=bad: post_bank(bad, 1), "table"),
            (lambda bad=bad: admin_pb2.GetLedgerRequest(name=f"ledgers/{bad}"), "name"),
            (
                lambda bad=bad: tables_pb2.GetTableRequest(name=f"ledgers/casino/tables/{bad}"),
                "name",
            ),
            (
                lambda bad=bad: audit_pb2.ListEventsRequest(parent=f"ledgers/{bad}"),
                "parent",
            ),
        ):
            request = make()
            yield Case(f"{request.DESCRIPTOR.name}.{field} {kind}", make, reason, field)
        yield Case(
            f"an account's owner {kind}",
            lambda bad=bad: deposit(f"player:{bad}", 1),
            Reason.INVALID_NAME if "/" in bad else Reason.INVALID_ACCOUNT,
            "account",
        )
    for account in ("player", "player:", "dealer:anna", "House", "house:1", "anna", "é"):
        yield Case(
            f"account {account!r}",
            lambda account=account: withdraw(account, 1),
            Reason.INVALID_ACCOUNT,
            "account",
        )
    for make, field in (
        (lambda: create_ledger(""), "ledger_id"),
        (lambda: open_table(""), "table_id"),
        (lambda: fade("fading", 1, ""), "player"),
    ):
        yield Case(f"no {field}", make, Reason.MISSING_FIELD, field)
    yield Case(
        "a seat without a player",
        lambda: open_table("new", seats=["anna", ""]),
        Reason.INVALID_ID,
        "seats",
    )


def _names() -> Iterator[Case]:
    malformed = (
        "casino",
        "ledgers",
        "ledgers/casino/",
        "/ledgers/casino",
        "ledger/casino",
        "ledgers/casino/tables",
        "ledgers/casino/tables/fresh/events/1",
        "ledgers/casino/accounts/house/more",
        "//",
        "ledgers//tables/fresh/x",
        "é",
        "x" * 10_000,
    )
    named = {
        "parent": (
            tables_pb2.ListTablesRequest,
            accounts_pb2.ListAccountsRequest,
            accounts_pb2.GetTrialBalanceRequest,
            audit_pb2.ListEventsRequest,
        ),
        "name": (
            tables_pb2.GetTableRequest,
            audit_pb2.ReplayTableRequest,
            admin_pb2.GetLedgerRequest,
        ),
    }
    for field, requests in named.items():
        for request in requests:
            for name in malformed:
                yield Case(
                    f"{request.DESCRIPTOR.name} of {name[:40]!r}",
                    lambda request=request, field=field, name=name: request(**{field: name}),
                    Reason.INVALID_NAME,
                    field,
                )
            yield Case(
                f"{request.DESCRIPTOR.name} of nothing", request, Reason.MISSING_FIELD, field
            )
    for make, field in (
        (lambda name: tables_pb2.CloseTableRequest(name=name, request_id="r"), "name"),
        (lambda name: tables_pb2.OpenTableRequest(parent=name, request_id="r"), "parent"),
        (lambda name: play_pb2.PlayRequest(table=name, request_id="r"), "table"),
        (lambda name: accounts_pb2.DepositRequest(account=name, request_id="r"), "account"),
        (lambda name: accounts_pb2.WithdrawRequest(account=name, request_id="r"), "account"),
        (lambda name: accounts_pb2.GetAccountRequest(name=name, currency="EUR"), "name"),
    ):
        request = make("").DESCRIPTOR.name
        for name in malformed:
            yield Case(
                f"{request} for {name[:40]!r}",
                lambda make=make, name=name: make(name),
                Reason.INVALID_NAME,
                field,
            )
        yield Case(
            f"{request} for nothing", lambda make=make: make(""), Reason.MISSING_FIELD, field
        )


def _mutations(**more: Any) -> Iterable[tuple[str, Callable[[], Message]]]:
    """Yield one request of every kind that changes something, else acceptable."""
    for make in (
        lambda: create_ledger("brand-new", **more),
        lambda: open_table("new", **more),
        lambda: close_table("fresh", **more),
        lambda: fade("fading", 1, **more),
        lambda: deposit("player:anna", 1, **more),
        lambda: withdraw("player:anna", 1, **more),
    ):
        yield make().DESCRIPTOR.name, make


def _envelopes() -> Iterator[Case]:
    for name, make in _mutations(request_id=""):
        yield Case(f"{name} without a request id", make, Reason.MISSING_FIELD, "request_id")
    for name, make in _mutations(request_id="é" * 65):
        yield Case(
            f"{name} with a request id of 65 characters",
            make,
            Reason.INVALID_REQUEST_ID,
            "request_id",
        )
    for field in ("actor", "correlation_id"):
        for text in ("x" * 129, "a\0b", "a\nb", "\x1b[31m", "\u202e"):
            for name, make in _mutations(**{field: text}):
                yield Case(f"{name} with {field} {text[:8]!r}", make, Reason.INVALID_TEXT, field)


def _times() -> Iterator[Case]:
    for time_ in (
        Timestamp(seconds=-1),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=2**63 - 1),
        Timestamp(seconds=-(2**63)),
        Timestamp(nanos=-1),
        Timestamp(nanos=10**9),
    ):
        for field in ("occurred_time", "not_after"):
            for name, make in _mutations(**{field: time_}):
                yield Case(
                    f"{name} with {field} of {time_.seconds} s {time_.nanos} ns",
                    make,
                    Reason.INVALID_TIME,
                    field,
                )
        yield Case(
            f"replaying to {time_.seconds} s {time_.nanos} ns",
            lambda time_=time_: audit_pb2.ReplayTableRequest(
                name="ledgers/casino/tables/fading", to_time=time_
            ),
            Reason.INVALID_TIME,
            "to_time",
        )
    for time_ in (Timestamp(), Timestamp(seconds=1), Timestamp(seconds=int(time.time()) - 60)):
        for name, make in _mutations(not_after=time_):
            yield Case(
                f"{name} not after {time_.seconds} s", make, Reason.REQUEST_EXPIRED, "not_after"
            )


def _versions() -> Iterator[Case]:
    for name, make in (
        ("CloseTable", lambda version: close_table("fresh", expected_version=version)),
        ("Play", lambda version: fade("fading", 1, expected_version=version)),
        ("Deposit", lambda version: deposit("player:anna", 1, expected_version=version)),
        ("Withdraw", lambda version: withdraw("player:anna", 1, expected_version=version)),
    ):
        for version in (0, 100, 2**63 - 1):
            yield Case(
                f"{name} that expects version {version}",
                lambda make=make, version=version: make(version),
                Reason.VERSION_MISMATCH,
            )
        for version in (-1, -(2**63)):
            yield Case(
                f"{name} that expects version {version}",
                lambda make=make, version=version: make(version),
                Reason.INVALID_POSITION,
                "expected_version",
            )


def _pages() -> Iterator[Case]:
    lists = {
        "ListLedgers": admin_pb2.ListLedgersRequest,
        "ListTables": lambda **more: tables_pb2.ListTablesRequest(parent="ledgers/casino", **more),
        "ListAccounts": lambda **more: accounts_pb2.ListAccountsRequest(
            parent="ledgers/casino", **more
        ),
        "ListEvents": lambda **more: audit_pb2.ListEventsRequest(parent="ledgers/casino", **more),
    }
    for name, make in lists.items():
        for size in (-1, 1001, 2**31 - 1, -(2**31)):
            yield Case(
                f"{name} with {size} on a page",
                lambda make=make, size=size: make(page_size=size),
                Reason.INVALID_PAGE_SIZE,
                "page_size",
            )
        if name == "ListEvents":
            continue
        for token in (
            "garbled",
            "é",
            "A",
            "AAAA",
            "YW5uYQ==",
            "x" * 10_000,
            "\0",
            " ",
            "=",
            "/w==",
        ):
            yield Case(
                f"{name} from the page {token[:12]!r}",
                lambda make=make, token=token: make(page_token=token),
                Reason.INVALID_PAGE_TOKEN,
                "page_token",
            )
    for position in (-1, -(2**63)):
        yield Case(
            f"listing events from position {position}",
            lambda position=position: audit_pb2.ListEventsRequest(
                parent="ledgers/casino", from_position=position
            ),
            Reason.INVALID_POSITION,
            "from_position",
        )
        yield Case(
            f"replaying to version {position}",
            lambda position=position: audit_pb2.ReplayTableRequest(
                name="ledgers/casino/tables/fading", to_version=position
            ),
            Reason.INVALID_POSITION,
            "to_version",
        )


CASES = [
    *_unknown(),
    *_rules(),
    *_money(),
    *_dice(),
    *_options(),
    *_ids(),
    *_names(),
    *_envelopes(),
    *_times(),
    *_versions(),
    *_pages(),
]


@MODULE
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_a_bad_request_is_refused_and_leaves_nothing_behind(casino: Casino, case: Case):
    before = await casino.evidence()
    request = case.make()
    refusal = await casino.client.refusal(request)
    assert_refused(refusal, case.reason, case.field)
    for path in (*refusal.fields, *filter(None, refusal.subjects)):
        assert_has_field(request, path)
    assert len(refusal.message) < 600
    assert await casino.evidence() == before


@MODULE
async def test_a_refusal_says_in_metadata_what_a_program_needs(casino: Casino):
    stale = await casino.client.refusal(fade("fading", 1, expected_version=1))
    assert stale.code is grpc.StatusCode.ABORTED
    assert stale.metadata["version"] == "3"
    limit = await casino.client.refusal(fade("fading", 1001))
    assert limit.metadata["limit"] == "1000"
    turn = await casino.client.refusal(fade("fading", 1, "carl"))
    assert turn.metadata["to_act"] == "bela"
    money = await casino.client.refusal(withdraw("player:zoe", 5))
    assert money.metadata == {
        "account": "player:zoe",
        "currency": "EUR",
        "available": "0",
        "needed": "5",
    }
    late = await casino.client.refusal(fade("fading", 1, round=7))
    assert late.metadata["round"] == "1"


# --- once and only once ---------------------------------------------------------------------------


async def test_the_same_request_again_gets_the_original_receipt(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    requests = [
        create_ledger("second"),
        deposit("player:anna", 10),
        withdraw("player:anna", 10),
        open_table("t1"),
        post_bank("t1", 1000),
        fade("t1", 1000),
        play("t1", "anna", play_pb2.Roll(draw=play_pb2.Draw())),
        open_table("t2"),
        close_table("t2"),
    ]
    for request in requests:
        first = await client.ask(request)
        before = await client.evidence("casino", "second")
        again = await client.ask(request)
        assert plain(again.receipt) == plain(first.receipt)
        assert await client.evidence("casino", "second") == before


async def test_the_receipt_outlives_a_restart(serve: Serve, tmp_path: Path):
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        await furnish(client)
        opening = open_table("t1")
        posting = post_bank("t1", 1000)
        first = [await client.ask(opening), await client.ask(posting)]
    client = await (await serve()).client()
    again = [await client.ask(opening), await client.ask(posting)]
    assert [plain(one.receipt) for one in again] == [plain(one.receipt) for one in first]


async def test_a_request_id_used_for_another_body_is_refused(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    done = deposit("player:anna", 10, actor="dora")
    await client.ask(done)
    others = [
        deposit("player:anna", 11, actor="dora"),
        deposit("player:bela", 10, actor="dora"),
        deposit("player:anna", 10, currency="USD", actor="dora"),
        deposit("player:anna", 10, actor="dana"),
        deposit("player:anna", 10, actor="dora", expected_version=0),
        deposit("player:anna", 10, actor="dora", correlation_id="c"),
        deposit("player:anna", 10, actor="dora", occurred_time=Timestamp(seconds=1)),
        deposit("player:anna", 10, actor="dora", not_after=Timestamp(seconds=1)),
        # The same fields, another method.
        withdraw("player:anna", 10, actor="dora"),
        open_table("t1"),
    ]
    before = await client.evidence("casino")
    for other in others:
        other.request_id = done.request_id
        assert_refused(await client.refusal(other), Reason.REQUEST_ID_REUSED)
    assert await client.evidence("casino") == before


async def test_another_callers_same_request_id_is_another_request(serve: Serve, tokens: Tokens):
    names = {name: tokens.new(name, "operator") for name in ("olga", "oscar")}
    served = await serve(tokens=tokens.file)
    olga, oscar = [await served.client(token) for token in names.values()]
    await furnish(olga)
    request = deposit("player:anna", 10)
    first = await olga.ask(request)
    other = await oscar.ask(request)
    assert other.receipt.position == first.receipt.position + 1
    assert other.account.balance == 100_020
    for client, answer in ((olga, first), (oscar, other)):
        assert plain((await client.ask(request)).receipt) == plain(answer.receipt)
    request.amount = 11
    for client in (olga, oscar):
        assert_refused(await client.refusal(request), Reason.REQUEST_ID_REUSED)


async def test_a_request_id_is_refused_for_a_ledger_that_exists(serve: Serve):
    client = await (await serve()).client()
    await client.ask(create_ledger("one", request_id="same"))
    # A request id belongs to a ledger: the same one creates another ledger.
    await client.ask(create_ledger("two", request_id="same"))
    again = create_ledger("one", request_id="same", actor="other")
    assert_refused(await client.refusal(again), Reason.REQUEST_ID_REUSED)


async def test_a_retry_after_not_after_still_gets_the_receipt(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    soon = Timestamp()
    soon.FromNanoseconds(time.time_ns() + 400_000_000)
    requests = [
        create_ledger("second", not_after=soon),
        deposit("player:anna", 10, not_after=soon),
        open_table("t1", not_after=soon),
    ]
    first = [await client.ask(request) for request in requests]
    while time.time_ns() <= soon.ToNanoseconds():
        await client.ask(admin_pb2.GetServerInfoRequest())
    again = [await client.ask(request) for request in requests]
    assert [plain(one.receipt) for one in again] == [plain(one.receipt) for one in first]
    late = [
        create_ledger("third", not_after=soon),
        deposit("player:anna", 10, not_after=soon),
    ]
    before = await client.evidence("casino")
    for request in late:
        assert_refused(await client.refusal(request), Reason.REQUEST_EXPIRED, "not_after")
    assert await client.evidence("casino") == before


async def test_two_uses_at_once_are_one_command(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    request = deposit("player:anna", 10)
    answers = await asyncio.gather(*(client.ask(request) for _ in range(20)))
    assert len({plain(answer.receipt) for answer in answers}) == 1
    assert {answer.account.balance for answer in answers} == {100_010}


async def test_a_retry_gets_its_receipt_after_the_table_closed(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    resigning = play("t1", "anna", play_pb2.ResignBank(), expected_version=1)
    first = await client.ask(resigning)
    await client.ask(close_table("t1"))
    assert plain((await client.ask(resigning)).receipt) == plain(first.receipt)


# --- messages that are none ---------------------------------------------------------------------


@MODULE
async def test_what_is_no_message_is_refused(casino: Casino):
    seed = 20_240_229
    chance = random.Random(seed)
    before = await casino.evidence()
    for method in METHODS.values():
        broken = [b"\x0a\xff", b"\xff" * 40, b"\x07", b"\x0a\x05ab", chance.randbytes(200)]
        for body in broken:
            refusal = await refused(casino.client.raw(method.path, body))
            assert_refused(refusal, Reason.MALFORMED_MESSAGE)
    assert await casino.evidence() == before


@MODULE
async def test_random_bytes_are_refused_whatever_they_mean(casino: Casino):
    """Some decode, as fields nobody knows; none of them is anything to do."""
    seed = 20_240_301
    chance = random.Random(seed)
    before = await casino.evidence()
    mutating = [method for method in METHODS.values() if method.mutates]
    for _ in range(200):
        path = chance.choice(mutating).path
        refusal = await refused(casino.client.raw(path, chance.randbytes(chance.randrange(64))))
        assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT, (seed, refusal)
        assert refusal.domain == "croupier"
    assert await casino.evidence() == before


@MODULE
async def test_text_that_is_not_utf_8_is_refused(casino: Casino):
    before = await casino.evidence()
    for make, text in (
        (lambda: deposit("player:anna", 1, actor="ACTOR"), b"ACTOR"),
        (lambda: open_table("new", actor="ACTOR"), b"ACTOR"),
        (lambda: deposit("player:anna", 1, request_id="ACTOR"), b"ACTOR"),
    ):
        request = make()
        body = request.SerializeToString().replace(text, b"\xc3\x28\xa0\xff\xfe")
        method = METHODS[request.DESCRIPTOR.full_name]
        assert_refused(
            await refused(casino.client.raw(method.path, body)), Reason.MALFORMED_MESSAGE
        )
    assert await casino.evidence() == before


@MODULE
async def test_a_message_too_large_is_refused(casino: Casino):
    before = await casino.evidence()
    request = deposit("player:anna", 1, actor="x" * 1_000_000)
    refusal = await casino.client.refusal(request)
    assert_refused(refusal, Reason.MESSAGE_TOO_LARGE)
    assert refusal.metadata["most"] == "1000000"
    # Above the transport's own cap nobody reads the message, so there are no details.
    beyond = await casino.client.refusal(deposit("player:anna", 1, actor="x" * 17_000_000))
    assert beyond.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await casino.evidence() == before


@MODULE
async def test_nesting_without_end_is_refused(casino: Casino):
    deep = values_pb2.Value(int_value=1)
    body = deep.SerializeToString()
    for _ in range(300):
        inner = b"\x0a" + _varint(len(body)) + body  # ListValue.values
        body = b"\x22" + _varint(len(inner)) + inner  # Value.list_value
    entry = b"\x0a\x06payout\x12" + _varint(len(body)) + body
    whole = open_table("new").SerializeToString() + b"\x22" + _varint(len(entry)) + entry
    before = await casino.evidence()
    refusal = await refused(casino.client.raw("/croupier.v1.TableService/OpenTable", whole))
    assert_refused(refusal, Reason.MALFORMED_MESSAGE)
    assert await casino.evidence() == before


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


async def test_fields_of_a_later_release_change_nothing(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    request = deposit("player:anna", 10)
    method = METHODS[request.DESCRIPTOR.full_name]
    more = request.SerializeToString() + b"\xfa\x7f\x05later"  # field 2047
    first = method.response.FromString(await client.raw(method.path, more))
    again = await client.ask(request)
    assert plain(first.receipt) == plain(again.receipt)
    assert b"later" not in plain(again)


# --- methods that are none ------------------------------------------------------------------------


@MODULE
async def test_a_method_that_is_none_is_refused(casino: Casino):
    for path in (
        "/croupier.v1.PlayService/Cheat",
        "/croupier.v1.PlayService/play",
        "/croupier.v2.PlayService/Play",
        "/nothing.at.All/Here",
        "/x",
        "/" + "x" * 2000,
    ):
        refusal = await refused(casino.client.raw(path, b""))
        assert_refused(refusal, Reason.METHOD_NOT_FOUND)
        assert refusal.metadata["method"] == path[:128]


def test_every_method_of_every_service_has_its_roles():
    own = {method.path for method in METHODS.values()}
    assert {path for path in ROLES if path.startswith("/croupier.")} == own
    assert all(ROLES.values())


# --- who may not -------------------------------------------------------------------------------


@dataclass(slots=True)
class Staff:
    """A server that knows its callers by their tokens."""

    address: str
    clients: dict[str, Client]
    stranger: Callable[..., Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def staff(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Staff]:
    folder = tmp_path_factory.mktemp("staff")
    tokens = Tokens(folder / "tokens.json")
    held = {role.value: tokens.new(f"{role.value}-1", role.value) for role in Role}
    held["here"] = tokens.new("here", "operator", ledgers=["casino"])
    held["nowhere"] = tokens.new("nowhere", *Role, ledgers=[])
    async with serving(folder / "data", tokens=tokens.file) as served:
        clients = {name: await served.client(token) for name, token in held.items()}
        await furnish(clients["operator"])
        await play_round(clients["operator"])
        await furnish(clients["operator"], "other")
        await play_round(clients["operator"], ledger="other")
        stranger = await served.client()
        yield Staff(served.address, clients, stranger)


@MODULE
@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.path)
async def test_a_role_may_call_what_is_in_its_table_and_nothing_else(
    staff: Staff, role: Role, method: Method
):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    try:
        # An empty request is refused too, but only once the caller may make it at all.
        await staff.clients[role].ask(method.request())
    except grpc.aio.AioRpcError as error:
        refusal = refusal_of(error)
    else:
        refusal = None
    if role in ROLES[method.path]:
        assert refusal is None or refusal.code is grpc.StatusCode.INVALID_ARGUMENT
    else:
        assert refusal is not None
        assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
        assert refusal.metadata["method"] == method.path
        assert refusal.metadata["caller"] == f"{role.value}-1"
    assert await operator.evidence("casino", "other") == before


def test_nothing_that_changes_anything_is_open_to_auditors_or_ops():
    for method in METHODS.values():
        if method.mutates:
            assert ROLES[method.path].isdisjoint({Role.AUDITOR, Role.OPS}), method.path


@MODULE
@pytest.mark.parametrize(
    "make",
    [
        lambda: create_ledger("third"),
        lambda: open_table("t2", "other"),
        lambda: close_table("t1", "other"),
        lambda: post_bank("t1", 1, "bela", ledger="other", round=2),
        lambda: deposit("player:anna", 1, "other"),
        lambda: withdraw("player:anna", 1, "other"),
        lambda: admin_pb2.GetLedgerRequest(name="ledgers/other"),
        lambda: admin_pb2.GetLedgerRequest(name="ledgers/absent"),
        lambda: tables_pb2.GetTableRequest(name="ledgers/other/tables/t1"),
        lambda: tables_pb2.ListTablesRequest(parent="ledgers/other"),
        lambda: accounts_pb2.GetAccountRequest(
            name="ledgers/other/accounts/player:anna", currency="EUR"
        ),
        lambda: accounts_pb2.ListAccountsRequest(parent="ledgers/other"),
        lambda: accounts_pb2.GetTrialBalanceRequest(parent="ledgers/other"),
        lambda: audit_pb2.ReplayTableRequest(name="ledgers/other/tables/t1"),
        lambda: audit_pb2.ListEventsRequest(parent="ledgers/other"),
    ],
    ids=lambda make: make().DESCRIPTOR.name,
)
async def test_a_caller_has_no_part_in_ledgers_beyond_his(
    staff: Staff, make: Callable[[], Message]
):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    for name in ("here", "nowhere"):
        refusal = await staff.clients[name].refusal(make())
        assert_refused(refusal, Reason.LEDGER_NOT_ALLOWED)
        assert refusal.metadata["caller"] == name
    assert await operator.evidence("casino", "other") == before


@MODULE
@pytest.mark.parametrize(
    "authorization, reason",
    [
        (None, Reason.TOKEN_MISSING),
        ("", Reason.TOKEN_MISSING),
        ("Bearer", Reason.TOKEN_MISSING),
        ("Bearer ", Reason.TOKEN_MISSING),
        ("bearer  ", Reason.TOKEN_MISSING),
        ("Basic b2xnYTpvbGdh", Reason.TOKEN_MISSING),
        ("Token {token}", Reason.TOKEN_MISSING),
        ("{token}", Reason.TOKEN_MISSING),
        ("Bearer: {token}", Reason.TOKEN_MISSING),
        ("Bearer nobody", Reason.TOKEN_UNKNOWN),
        ("Bearer {token}x", Reason.TOKEN_UNKNOWN),
        ("Bearer {token} {token}", Reason.TOKEN_UNKNOWN),
        ("Bearer " + "x" * 5000, Reason.TOKEN_UNKNOWN),
        ("Bearer ~!@#$%^&*()", Reason.TOKEN_UNKNOWN),
    ],
)
async def test_a_stranger_is_turned_away(staff: Staff, authorization: str | None, reason: Reason):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    _, bearer = operator.metadata[0]
    metadata = ()
    if authorization is not None:
        token = bearer.removeprefix("Bearer ")
        metadata = (("authorization", authorization.replace("{token}", token)),)
    for request in (
        deposit("player:anna", 1),
        create_ledger("third"),
        admin_pb2.GetServerInfoRequest(),
        audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"),
    ):
        refusal = await staff.stranger.refusal(request, metadata=metadata)
        assert_refused(refusal, reason)
        assert bearer.removeprefix("Bearer ") not in repr(refusal)
    # Strangers do not learn which methods there are, either.
    unknown = await refused(staff.stranger.raw("/croupier.v1.X/Y", b"", metadata=metadata))
    assert_refused(unknown, reason)
    assert await operator.evidence("casino", "other") == before


# --- when the service cannot --------------------------------------------------------------------


@asynccontextmanager
async def locked(data: Path, ledger: str = "casino") -> AsyncIterator[None]:
    """Hold a ledger's lock, as another process of the service would during its turn."""
    lock = os.open(data / f"{ledger}.db.lock", os.O_RDWR)
    try:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


async def test_a_full_queue_asks_callers_to_come_back(serve: Serve, tmp_path: Path):
    client = await (await serve(queue=2)).client()
    await furnish(client)
    before = await client.evidence("casino")
    async with locked(tmp_path / "data"):
        answers = [asyncio.ensure_future(client.ask(deposit("player:anna", 1))) for _ in range(5)]
        done: set[asyncio.Future[Any]] = set()
        while len(done) < 3:
            done, _ = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
            assert await client.evidence("casino") == before
    for one in done:
        refusal = refusal_of(one.exception())
        assert_refused(refusal, Reason.QUEUE_FULL)
        assert refusal.retry_ms == 200
        assert refusal.metadata["waiting"] == "2"
    taken = [await one for one in answers if one not in done]
    assert max(one.account.balance for one in taken) == 100_002


async def test_a_store_that_does_not_answer_is_said_to_be_away(serve: Serve, tmp_path: Path):
    client = await (await serve()).client()
    await furnish(client)
    before = await client.evidence("casino")
    request = deposit("player:anna", 1)
    database = sqlite3.connect(tmp_path / "data" / "casino.db", isolation_level=None)
    try:
        database.execute("ALTER TABLE requests RENAME TO requests_away")
        refusal = await client.refusal(request)
        database.execute("ALTER TABLE requests_away RENAME TO requests")
    finally:
        database.close()
    assert_refused(refusal, Reason.STORE_UNAVAILABLE)
    assert refusal.retry_ms == 200
    assert await client.evidence("casino") == before
    assert (await client.ask(request)).account.balance == 100_001


async def test_what_nobody_waits_for_any_more_is_not_done(serve: Serve, tmp_path: Path):
    client = await (await serve()).client()
    await furnish(client)
    before = await client.evidence("casino")
    past = await client.refusal(deposit("player:anna", 1), timeout=-1)
    assert past.code is grpc.StatusCode.DEADLINE_EXCEEDED
    async with locked(tmp_path / "data"):
        refusal = await client.refusal(deposit("player:anna", 1), timeout=0.1)
        assert refusal.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert await client.evidence("casino") == before
    # The next command is decided after whatever waited.
    await client.ask(deposit("player:bela", 1))
    account = accounts_pb2.GetAccountRequest(
        name="ledgers/casino/accounts/player:anna", currency="EUR"
    )
    assert (await client.ask(account)).account.balance == 100_000


# --- the contract as a whole -------------------------------------------------------------------


def test_the_reasons_on_the_wire_are_those_of_the_domain():
    wire = {name.removeprefix("REASON_") for name in errors_pb2.Reason.DESCRIPTOR.values_by_name}
    assert wire == {reason.name for reason in Reason} | {"UNSPECIFIED"}
    assert all(reason.name == reason.value for reason in Reason)


def test_every_kind_of_refusal_has_the_status_of_the_contract():
    assert {kind: code.name for kind, code in CODES.items()} == STATUS
    assert set(STATUS) == set(Kind)
    assert len(set(STATUS.values())) == len(STATUS)


def test_every_reason_is_tried_by_a_test_or_listed_with_the_reason_why_not():
    here = Path(__file__).parent
    tried = {
        name
        for file in here.glob("test_*.py")
        for name in re.findall(r"Reason\.([A-Z_]+)\b", file.read_text())
    }
    listed = set(TESTED_ELSEWHERE)
    assert {reason.name for reason in Reason} - tried - listed == set()
    assert listed & tried == set(), "listed, and tried all the same"
    assert listed <= set(Reason.__members__)
