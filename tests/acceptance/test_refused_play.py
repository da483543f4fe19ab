"""What the rules forbid, and what does not exist, is refused."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
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
    roll,
    withdraw,
)


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


CASES = [*_unknown(), *_rules()]


@MODULE
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_what_the_rules_forbid_is_refused_and_leaves_nothing_behind(
    casino: Casino, case: Case
):
    await assert_nothing_left(casino, case)


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
