"""Several commands in one message: a result each, or all or none."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.services.rpc import views
from croupier.services.rpc.batches import BATCH_MAX
from croupier.v1 import accounts_pb2, audit_pb2, errors_pb2, play_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, plain
from tests.support.stories import (
    deposit,
    fade,
    furnish,
    open_table,
    play,
    play_batch,
    post_bank,
    roll,
    transfer_batch,
    withdraw,
)


async def table(serve: Serve) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    return client


def a_round() -> list[play_pb2.PlayRequest]:
    """Return the commands of a whole round: bela wins by a triple and carl loses his fade."""
    return [
        post_bank("t1", 1000),
        fade("t1", 600),
        fade("t1", 300, "carl"),
        roll("t1", "anna", 3, 3, 4),
        roll("t1", "bela", 2, 2, 2),
        roll("t1", "carl", 1, 2, 3),
    ]


async def balance(client: Client, account: str) -> int:
    request = accounts_pb2.GetAccountRequest(
        name=f"ledgers/casino/accounts/{account}", currency="EUR"
    )
    return (await client.ask(request)).account.balance


async def log(client: Client) -> list[bytes]:
    request = audit_pb2.ListEventsRequest(parent="ledgers/casino", page_size=1000)
    return [plain(event) for event in (await client.ask(request)).events]


def kinds(response: play_pb2.PlayBatchResponse) -> list[str]:
    return [result.WhichOneof("result") for result in response.results]


def names(results) -> list[str]:
    return [errors_pb2.Reason.Name(one.refusal.reason).removeprefix("REASON_") for one in results]


@pytest.mark.parametrize("atomic", [False, True])
async def test_a_round_played_in_one_message_is_the_round_played_in_six(
    serve: Serve, tmp_path: Path, atomic: bool
):
    client = await table(serve)
    response = await client.ask(play_batch(*a_round(), atomic=atomic))
    assert kinds(response) == ["receipt"] * 6
    receipts = [result.receipt for result in response.results]
    for earlier, later in itertools.pairwise(receipts):
        assert later.first_position == earlier.position + 1
    for receipt in receipts:
        positions = [event.position for event in receipt.events]
        assert positions == list(range(receipt.first_position, receipt.position + 1))
        assert (receipt.durability, receipt.events_omitted) == ("fsync", False)
    after = [await balance(client, f"player:{who}") for who in ("anna", "bela", "carl")]
    assert after == [100_000 - 600 + 300, 50_600, 49_700]
    other = await (await serve(tmp_path / "other")).client()
    await furnish(other)
    await other.ask(open_table("t1"))
    for one in a_round():
        await other.ask(one)
    assert [await balance(other, f"player:{who}") for who in ("anna", "bela", "carl")] == after


async def test_a_refused_command_leaves_the_others_of_its_batch_alone(serve: Serve):
    client = await table(serve)
    response = await client.ask(
        play_batch(
            post_bank("t1", 1000),
            roll("t1", "anna", 3, 3, 4),
            fade("t1", 600, player="zoe"),
            play("t1", "", play_pb2.Fade(stake=1)),
            fade("t1", 600),
        )
    )
    assert kinds(response) == ["receipt", "refusal", "refusal", "refusal", "receipt"]
    refused = response.results[1:4]
    assert names(refused) == ["WRONG_PHASE", "NOT_SEATED", "MISSING_FIELD"]
    assert [one.refusal.code for one in refused] == [
        grpc.StatusCode.FAILED_PRECONDITION.value[0],
        grpc.StatusCode.FAILED_PRECONDITION.value[0],
        grpc.StatusCode.INVALID_ARGUMENT.value[0],
    ]
    assert [one.refusal.field for one in refused] == ["", "player", "player"]
    assert refused[0].refusal.metadata["phase"] == "FADING"
    assert not any(one.refusal.HasField("retry_delay") for one in refused)
    assert await balance(client, "escrow:t1") == 1600


async def test_an_atomic_batch_with_one_refusal_leaves_nothing_behind(serve: Serve):
    client = await table(serve)
    before = await client.evidence("casino")
    commands = [post_bank("t1", 1000), fade("t1", 600), fade("t1", 500, "carl")]
    refusal = await client.refusal(play_batch(*commands, atomic=True))
    assert_refused(refusal, Reason.STAKE_ABOVE_LIMIT)
    assert refusal.subjects == ("commands[2].fade.stake",)
    assert await client.evidence("casino") == before
    # Nor are the ids of its commands used up.
    commands[2] = fade("t1", 400, "carl")
    response = await client.ask(play_batch(*commands, atomic=True))
    assert kinds(response) == ["receipt"] * 3


async def test_an_atomic_batch_names_the_refused_command_whatever_the_reason(serve: Serve):
    client = await table(serve)
    bank = post_bank("t1", 1000)
    await client.ask(bank)
    before = await client.evidence("casino")
    for wrong, reason in (
        (fade("t1", 1, request_id=bank.request_id), Reason.REQUEST_ID_REUSED),
        (fade("none", 1), Reason.TABLE_NOT_FOUND),
        (fade("t1", 1, expected_version=1), Reason.VERSION_MISMATCH),
        (fade("t1", 1, player="carl"), Reason.NOT_YOUR_TURN),
    ):
        refusal = await client.refusal(play_batch(bank, wrong, atomic=True))
        assert_refused(refusal, reason)
        assert refusal.metadata["item"] == "1"
    assert await client.evidence("casino") == before


async def test_an_atomic_batch_with_a_command_that_is_none_is_refused_at_once(serve: Serve):
    client = await table(serve)
    before = await client.evidence("casino")
    wrong = play("t1", "bela", play_pb2.Fade(stake=1), request_id="")
    refusal = await client.refusal(play_batch(post_bank("t1", 1000), wrong, atomic=True))
    assert_refused(refusal, Reason.MISSING_FIELD, "commands[1].request_id")
    assert await client.evidence("casino") == before


async def test_a_batch_sent_again_gets_the_original_receipts(serve: Serve):
    client = await table(serve)
    for batch in (
        play_batch(*a_round()[:3]),
        play_batch(roll("t1", "anna", 4, 5, 6), atomic=True),
        transfer_batch(deposit("player:anna", 5), withdraw("player:bela", 5)),
        transfer_batch(deposit("player:anna", 5), withdraw("player:bela", 5), atomic=True),
    ):
        first = await client.ask(batch)
        before = await client.evidence("casino")
        assert plain(await client.ask(batch)) == plain(first)
        assert await client.evidence("casino") == before


async def test_commands_recorded_before_count_as_done_in_an_atomic_batch(serve: Serve):
    client = await table(serve)
    commands = a_round()
    alone = await client.ask(commands[0])
    response = await client.ask(play_batch(*commands, atomic=True))
    assert kinds(response) == ["receipt"] * 6
    assert plain(response.results[0].receipt) == plain(alone.receipt)


async def test_the_same_command_twice_in_a_batch_is_one_command(serve: Serve):
    client = await table(serve)
    once = post_bank("t1", 1000)
    response = await client.ask(play_batch(once, once))
    assert plain(response.results[0].receipt) == plain(response.results[1].receipt)
    other = fade("t1", 600)
    changed = fade("t1", 601, request_id=other.request_id)
    response = await client.ask(play_batch(other, changed))
    assert kinds(response) == ["receipt", "refusal"]
    assert names(response.results[1:]) == ["REQUEST_ID_REUSED"]
    assert await balance(client, "escrow:t1") == 1600


async def test_one_batch_moves_money_in_and_out(serve: Serve):
    client = await table(serve)
    response = await client.ask(
        transfer_batch(
            deposit("player:zoe", 700),
            withdraw("player:zoe", 200),
            withdraw("player:zoe", 501),
            deposit("player:zoe", 0),
            withdraw("player:zoe", 500),
        )
    )
    assert kinds(response) == ["receipt", "receipt", "refusal", "refusal", "receipt"]
    assert names(response.results[2:4]) == ["INSUFFICIENT_FUNDS", "AMOUNT_OUT_OF_RANGE"]
    assert await balance(client, "player:zoe") == 0


async def test_money_moves_between_players_or_not_at_all(serve: Serve):
    client = await table(serve)
    move = transfer_batch(
        withdraw("player:anna", 100_000), deposit("player:bela", 100_000), atomic=True
    )
    await client.ask(move)
    assert await balance(client, "player:anna") == 0
    assert await balance(client, "player:bela") == 150_000
    before = await client.evidence("casino")
    over = transfer_batch(deposit("player:bela", 1), withdraw("player:anna", 1), atomic=True)
    refusal = await client.refusal(over)
    assert_refused(refusal, Reason.INSUFFICIENT_FUNDS, "transfers[1]")
    over = transfer_batch(
        deposit("player:bela", 1), withdraw("player:anna", -1), ledger="casino", atomic=True
    )
    assert_refused(
        await client.refusal(over), Reason.AMOUNT_OUT_OF_RANGE, "transfers[1].withdraw.amount"
    )
    assert await client.evidence("casino") == before


async def test_a_batch_that_is_none_is_refused(serve: Serve):
    client = await table(serve)
    before = await client.evidence("casino")
    for batch, field in (
        (play_batch(), "commands"),
        (play_batch(*[post_bank("t1", 1)] * (BATCH_MAX + 1)), "commands"),
        (transfer_batch(), "transfers"),
        (transfer_batch(*[deposit("house", 1)] * (BATCH_MAX + 1)), "transfers"),
    ):
        refusal = await client.refusal(batch)
        assert_refused(refusal, Reason.INVALID_BATCH, field)
        assert refusal.metadata["most"] == str(BATCH_MAX)
    assert_refused(
        await client.refusal(play_batch(post_bank("t1", 1), ledger="")),
        Reason.INVALID_ID,
        "parent",
    )
    assert_refused(
        await client.refusal(play_batch(post_bank("t1", 1), ledger="none")),
        Reason.LEDGER_NOT_FOUND,
    )
    assert await client.evidence("casino") == before


async def test_a_batch_is_for_one_ledger(serve: Serve):
    client = await table(serve)
    await furnish(client, "other")
    await client.ask(open_table("t1", "other"))
    before = await client.evidence("casino", "other")
    response = await client.ask(play_batch(post_bank("t1", 1000, ledger="other")))
    assert names(response.results) == ["INVALID_NAME"]
    assert response.results[0].refusal.field == "table"
    response = await client.ask(transfer_batch(withdraw("player:anna", 1, "other")))
    assert names(response.results) == ["INVALID_NAME"]
    assert response.results[0].refusal.field == "withdraw.account"
    response = await client.ask(transfer_batch(accounts_pb2.WithdrawRequest()))
    assert response.results[0].refusal.field == "withdraw.account"
    empty = accounts_pb2.TransferBatchRequest(
        parent="ledgers/casino", transfers=[accounts_pb2.Transfer()]
    )
    response = await client.ask(empty)
    assert names(response.results) == ["MISSING_FIELD"]
    assert response.results[0].refusal.field == "transfer"
    assert await client.evidence("casino", "other") == before


async def test_an_answer_that_would_be_too_long_leaves_events_out(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(views, "RESULTS_BYTES_MAX", 1_000)
    client = await table(serve)
    response = await client.ask(play_batch(*a_round()))
    omitted = [result.receipt.events_omitted for result in response.results]
    assert omitted == sorted(omitted)
    assert set(omitted) == {False, True}
    events = await log(client)
    for result in response.results:
        receipt = result.receipt
        given = [plain(event) for event in receipt.events]
        recorded = events[receipt.first_position - 1 : receipt.position]
        assert given == ([] if receipt.events_omitted else recorded)
        assert recorded


async def test_the_largest_batch_is_answered_within_the_size_of_a_message(serve: Serve):
    """A client takes up to 4 MiB unless it is told otherwise."""
    client = await table(serve)
    await client.ask(play_batch(*a_round()[:3]))
    wide = {"actor": "a" * 128, "correlation_id": "c" * 128}
    throws = [
        roll("t1", "anna", 1, 2, 4, request_id=f"{number:064}", **wide)
        for number in range(BATCH_MAX)
    ]
    response = await client.ask(play_batch(*throws))
    assert kinds(response) == ["receipt"] * BATCH_MAX
    assert response.ByteSize() < 4 * 1024 * 1024


async def test_batches_and_single_commands_of_many_callers_keep_the_books(serve: Serve):
    client = await table(serve)
    batches = [
        transfer_batch(
            *(deposit("player:anna", 3), withdraw("player:anna", 2)) * 20, atomic=bool(number % 2)
        )
        for number in range(10)
    ]
    await asyncio.gather(
        *(client.ask(batch) for batch in batches),
        *(client.ask(deposit("player:anna", 1)) for _ in range(50)),
    )
    # Twenty times the same two request ids are one deposit and one withdrawal.
    assert await balance(client, "player:anna") == 100_000 + 10 * (3 - 2) + 50
    sums = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    assert [one.sum for one in sums.currencies] == [0]
