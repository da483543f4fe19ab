"""A round that cannot go on is void: every stake goes back, and the reason is on the record."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, tables_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, Tokens, fresh, plain
from tests.support.stories import (
    BANKROLL,
    close_table,
    fade,
    furnish,
    open_table,
    post_bank,
    roll,
)

TABLE = "ledgers/casino/tables/t1"


def void_round(round_number: int = 1, reason: str = "a die is lost", **more):
    given = {"table": TABLE, "round": round_number, "reason": reason, "request_id": fresh()}
    return admin_pb2.VoidRoundRequest(**given | more)


async def opened(serve: Serve) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    return client


async def purses(client: Client) -> dict[str, int]:
    request = accounts_pb2.ListAccountsRequest(parent="ledgers/casino")
    found = (await client.ask(request)).accounts
    return {one.name.rpartition(":")[2]: one.balance for one in found if ":" in one.name}


@pytest.mark.parametrize("played", [1, 2, 3, 4])
async def test_every_stake_goes_back_and_the_next_round_can_begin(serve: Serve, played: int):
    client = await opened(serve)
    commands = [
        post_bank("t1", 1000),
        fade("t1", 600),
        fade("t1", 400, "carl"),
        roll("t1", "anna", 3, 3, 4),
    ]
    for command in commands[:played]:
        await client.ask(command)
    answer = await client.ask(void_round(actor="kim"))
    assert await purses(client) == {**BANKROLL, "t1": 0}
    assert (answer.table.round, answer.table.round_open, answer.table.at_risk) == (2, False, 0)
    assert answer.table.allowed[0].command == "post_bank"
    last = answer.receipt.events[-1]
    assert (last.round_voided.reason, last.actor) == ("a die is lost", "kim")
    assert (last.round, last.round_voided.round) == (1, 1)
    replay = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    assert [finding for step in replay for finding in step.findings] == []
    await client.ask(post_bank("t1", 500, round=2))
    sums = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    assert [one.sum for one in sums.currencies] == [0]


async def test_the_same_request_again_gets_the_original_receipt(serve: Serve):
    client = await opened(serve)
    await client.ask(post_bank("t1", 1000))
    request = void_round()
    first = await client.ask(request)
    before = await client.evidence("casino")
    assert plain((await client.ask(request)).receipt) == plain(first.receipt)
    assert await client.evidence("casino") == before


async def test_a_game_is_abandoned_by_voiding_its_round_and_closing_its_table(serve: Serve):
    client = await opened(serve)
    await client.ask(post_bank("t1", 1000))
    assert_refused(await client.refusal(close_table("t1")), Reason.ROUND_OPEN)
    await client.ask(void_round())
    assert (await client.ask(close_table("t1"))).table.closed
    assert await purses(client) == {**BANKROLL, "t1": 0}


async def test_what_cannot_be_void_is_refused(serve: Serve):
    client = await opened(serve)
    before = await client.evidence("casino")
    assert_refused(await client.refusal(void_round()), Reason.ROUND_NOT_OPEN)
    await client.ask(post_bank("t1", 1000))
    before = await client.evidence("casino")
    for request, reason, field in (
        (void_round(0), Reason.MISSING_FIELD, "round"),
        (void_round(-1), Reason.INVALID_POSITION, "round"),
        (void_round(2), Reason.ROUND_MISMATCH, "round"),
        (void_round(reason=""), Reason.MISSING_FIELD, "reason"),
        (void_round(reason="x" * 201), Reason.INVALID_TEXT, "reason"),
        (void_round(reason="a\nb"), Reason.INVALID_TEXT, "reason"),
        (void_round(request_id=""), Reason.MISSING_FIELD, "request_id"),
        (void_round(table="t1"), Reason.INVALID_NAME, "table"),
        (void_round(table="ledgers/casino/tables/none"), Reason.TABLE_NOT_FOUND, None),
        (void_round(expected_version=1), Reason.VERSION_MISMATCH, None),
    ):
        assert_refused(await client.refusal(request), reason, field)
    assert await client.evidence("casino") == before


async def test_a_dealer_may_not_void_a_round(serve: Serve, tokens: Tokens):
    dealer, operator = tokens.new("pit", "dealer"), tokens.new("boss", "operator")
    served = await serve(tokens=tokens.file)
    boss = await served.client(operator)
    await furnish(boss)
    await boss.ask(open_table("t1"))
    await boss.ask(post_bank("t1", 1000))
    refusal = await (await served.client(dealer)).refusal(void_round())
    assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)


async def test_every_receipt_comes_with_what_is_allowed_now(serve: Serve):
    client = await opened(serve)
    for command in (post_bank("t1", 1000), fade("t1", 600)):
        answer = await client.ask(command)
        table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
        assert list(answer.allowed) == list(table.allowed) != []


async def test_a_table_says_what_is_allowed_and_within_which_bounds(serve: Serve):
    client = await opened(serve)
    await client.ask(post_bank("t1", 1000))
    await client.ask(fade("t1", 600))
    table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
    allowed = [(one.player, one.command, one.field, one.least, one.most) for one in table.allowed]
    assert allowed == [("carl", "fade", "stake", 1, 400), ("carl", "decline", "", 0, 0)]
    assert_refused(await client.refusal(fade("t1", 401, "carl")), Reason.STAKE_ABOVE_LIMIT)
    await client.ask(fade("t1", 400, "carl"))
