"""Ids and resource names that are none are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, play_pb2, tables_pb2
from tests.support.refusals import MODULE, Case, Casino, assert_nothing_left
from tests.support.stories import (
    close_table,
    create_ledger,
    deposit,
    fade,
    open_table,
    play,
    post_bank,
    thrown,
    withdraw,
)

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


CASES = [*_ids(), *_names()]


@MODULE
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_a_name_that_is_none_is_refused_and_leaves_nothing_behind(casino: Casino, case: Case):
    await assert_nothing_left(casino, case)
