"""Winner-take-all cee-lo over the API: a round in one message, and what the rules refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, audit_pb2, play_pb2, tables_pb2
from tests.support.refusals import assert_has_field, assert_refused
from tests.support.serving import Client, Serve
from tests.support.stories import (
    BANKROLL,
    close_table,
    furnish,
    open_table,
    play,
    play_batch,
    post_bank,
    roll,
    thrown,
)

TABLE = "ledgers/casino/tables/pot"
PLAYERS = ("anna", "bela", "carl")


def ante(player: str, amount: int = 500, **more: Any) -> play_pb2.PlayRequest:
    return play("pot", player, play_pb2.Ante(amount=amount), **more)


def round_of_play(number: int = 1) -> Iterator[play_pb2.PlayRequest]:
    """Yield a round in which two throw 4-5-6, a third is out with three sixes, and bela wins."""
    for player in PLAYERS:
        yield ante(player, round=number)
    for player, dice in (
        ("anna", (4, 5, 6)),
        ("bela", (4, 6, 5)),
        ("carl", (6, 6, 6)),
        ("anna", (2, 4, 6)),
        ("anna", (1, 1, 2)),
        ("bela", (5, 5, 5)),
    ):
        yield play("pot", player, thrown(*dice), round=number)


async def opened(serve: Serve, **options: Any) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    request = open_table("pot", game="ceelo_pot", banker="", options={"ante": 500, **options})
    await client.ask(request)
    return client


async def balances(client: Client) -> dict[str, int]:
    found = await client.ask(accounts_pb2.ListAccountsRequest(parent="ledgers/casino"))
    return {one.name.rpartition(":")[2]: one.balance for one in found.accounts if ":" in one.name}


async def test_a_whole_round_in_one_batch_is_settled_and_replays_alike(serve: Serve):
    client = await opened(serve)
    answer = await client.ask(play_batch(*round_of_play(), atomic=True))
    events = [event for result in answer.results for event in result.receipt.events]
    (called,) = (one.shoot_out_called for one in events if one.HasField("shoot_out_called"))
    assert (list(called.players), called.reading, called.number) == (
        ["anna", "bela"],
        "four_five_six",
        1,
    )
    assert [event.type.rpartition(".")[2] for event in events[-5:]] == [
        "Rolled",
        "Collected",
        "Collected",
        "PaidOut",
        "RoundSettled",
    ]
    expected = {"anna": 99_500, "bela": 51_000, "carl": 49_500, "pot": 0}
    assert await balances(client) == expected
    table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
    assert (table.round, table.round_open, table.phase) == (2, False, "ANTE")
    assert table.details["last_winner"].string_value == "bela"
    allowed = [(one.player, one.command, one.field, one.least, one.most) for one in table.allowed]
    assert allowed == [(player, "ante", "amount", 500, 500) for player in PLAYERS]
    replay = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    assert [finding for step in replay for finding in step.findings] == []
    assert replay[-1].table == table
    await client.ask(play_batch(*round_of_play(2)))
    assert await balances(client) == {"anna": 99_000, "bela": 52_000, "carl": 49_000, "pot": 0}
    assert (await client.ask(close_table("pot"))).table.closed


async def test_what_the_rules_refuse_says_why_and_leaves_nothing_behind(serve: Serve):
    client = await opened(serve)

    async def refused(request: Message, reason: Reason, field: str = "") -> None:
        before = await client.evidence("casino")
        refusal = await client.refusal(request)
        assert_refused(refusal, reason, field)
        for path in (*refusal.fields, *filter(None, refusal.subjects)):
            assert_has_field(request, path)
        assert await client.evidence("casino") == before

    await refused(ante("anna", 501), Reason.STAKE_ABOVE_LIMIT, "ante.amount")
    await refused(ante("anna", 499), Reason.STAKE_BELOW_LIMIT, "ante.amount")
    await refused(ante("anna", 0), Reason.AMOUNT_OUT_OF_RANGE, "ante.amount")
    await refused(ante("zoe"), Reason.NOT_SEATED, "player")
    await refused(ante("anna", round=2), Reason.ROUND_MISMATCH, "round")
    await client.ask(open_table("bank"))
    at_bank = play("bank", "anna", play_pb2.Ante(amount=500))
    await refused(at_bank, Reason.COMMAND_NOT_IN_GAME, "command")
    await refused(post_bank("pot", 500), Reason.COMMAND_NOT_IN_GAME, "command")
    await refused(roll("pot", "anna", 4, 5, 6), Reason.WRONG_PHASE, "")
    await client.ask(ante("anna"))
    await refused(ante("anna"), Reason.NOT_YOUR_TURN, "")
    await refused(close_table("pot"), Reason.ROUND_OPEN, "")
    for player in ("bela", "carl"):
        await client.ask(ante(player))
    await refused(ante("anna"), Reason.WRONG_PHASE, "")
    await refused(roll("pot", "bela", 4, 5, 6), Reason.NOT_YOUR_TURN, "")
    await refused(roll("pot", "anna", 4, 5), Reason.INVALID_DICE, "roll.dice")
    await refused(play("pot", "anna", play_pb2.Decline()), Reason.COMMAND_NOT_IN_GAME, "command")
    assert await balances(client) == {
        **{player: amount - 500 for player, amount in BANKROLL.items()},
        "pot": 1500,
    }


async def test_a_batch_with_a_wrong_ante_is_not_done_at_all(serve: Serve):
    client = await opened(serve)
    before = await client.evidence("casino")
    commands = [ante("anna"), ante("bela", 400), ante("carl")]
    refusal = await client.refusal(play_batch(*commands, atomic=True))
    assert (refusal.reason, refusal.metadata["limit"]) == ("STAKE_BELOW_LIMIT", "500")
    assert await client.evidence("casino") == before
    assert await balances(client) == BANKROLL


async def test_the_service_draws_the_dice_of_a_round_of_any_outcome(serve: Serve):
    client = await opened(serve, shootout_ante="re_ante")
    table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
    while table.round == 1:
        one = table.allowed[0]
        if one.command == "ante":
            await client.ask(ante(one.player))
        else:
            await client.ask(play("pot", one.player, play_pb2.Roll(draw=play_pb2.Draw())))
        table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
    winner = table.details["last_winner"].string_value
    after = await balances(client)
    assert sum(after.values()) == sum(BANKROLL.values())
    assert [one for one in PLAYERS if after[one] > BANKROLL[one]] == [winner]
