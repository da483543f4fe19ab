"""Two Alike 12 High through the API: refusals with reasons, draws, a whole game in a stream."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, audit_pb2, events_pb2, play_pb2, tables_pb2
from tests.support.refusals import assert_has_field, assert_refused
from tests.support.serving import Client, Serve, plain
from tests.support.stories import (
    create_ledger,
    deposit,
    open_table,
    play,
    play_batch,
    post_bank,
    roll,
    stream_message,
)

SEATS = ("anna", "bela", "carl", "dora")
TABLE = "ledgers/casino/tables/race"
PURSE = 5_000
ANTE = 700
ACCOUNTS = [f"player:{seat}" for seat in SEATS]


def ante(player: str, amount: int = ANTE, **more) -> play_pb2.PlayRequest:
    return play("race", player, play_pb2.Ante(amount=amount), **more)


def draw(player: str, **more) -> play_pb2.PlayRequest:
    return play("race", player, play_pb2.Roll(draw=play_pb2.Draw()), **more)


def thrown(player: str, dice: str, **more) -> play_pb2.PlayRequest:
    return roll("race", player, *map(int, dice), **more)


async def opened(serve: Serve, **options) -> Client:
    client = await (await serve()).client()
    await client.ask(create_ledger())
    for account in ACCOUNTS:
        await client.ask(deposit(account, PURSE))
    given = {"ante": ANTE, "house_rule": True, **options}
    await client.ask(open_table("race", options=given, game="twelve_high", seats=SEATS, banker=""))
    return client


async def table(client: Client) -> tables_pb2.Table:
    return (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table


async def purses(client: Client) -> list[int]:
    found = []
    for account in ACCOUNTS:
        name = f"ledgers/casino/accounts/{account}"
        request = accounts_pb2.GetAccountRequest(name=name, currency="EUR")
        found.append((await client.ask(request)).account.balance)
    return found


def kinds(events) -> list[str]:
    return [event.WhichOneof("payload") for event in events]


ANTES = [ante(seat) for seat in SEATS]
IN_ORDER = [thrown(seat, str(place)) for place, seat in enumerate(SEATS, 1)]
"""The rolling order is as they sit."""


async def assert_refused_without_trace(client: Client, request, reason: Reason, field="") -> None:
    before = await client.evidence("casino")
    refusal = await client.refusal(request)
    assert_refused(refusal, reason, field or None)
    if field:
        assert_has_field(request, field)
    assert await client.evidence("casino") == before


@pytest.mark.parametrize(
    "played, request_, reason, field",
    [
        ([], ante("anna", 699), Reason.STAKE_BELOW_LIMIT, "ante.amount"),
        ([], ante("anna", 701), Reason.STAKE_ABOVE_LIMIT, "ante.amount"),
        ([], ante("anna", 0), Reason.AMOUNT_OUT_OF_RANGE, "ante.amount"),
        ([], ante("zoe"), Reason.NOT_SEATED, "player"),
        ([], post_bank("race", 700), Reason.COMMAND_NOT_IN_GAME, ""),
        ([], draw("anna"), Reason.WRONG_PHASE, ""),
        (ANTES[:1], ante("anna"), Reason.NOT_YOUR_TURN, ""),
        (ANTES, thrown("anna", "123"), Reason.INVALID_DICE, "roll.dice"),
        (ANTES, ante("anna"), Reason.WRONG_PHASE, ""),
        ([*ANTES, thrown("anna", "1")], draw("anna"), Reason.NOT_YOUR_TURN, ""),
        ([*ANTES, *IN_ORDER], draw("bela"), Reason.NOT_YOUR_TURN, ""),
        ([*ANTES, *IN_ORDER], thrown("anna", "1"), Reason.INVALID_DICE, "roll.dice"),
        (
            [*ANTES, *IN_ORDER],
            play("race", "anna", play_pb2.ChooseDeathRoll()),
            Reason.NOT_OFFERED,
            "",
        ),
        (
            [*ANTES, *IN_ORDER, thrown("anna", "456")],
            play("race", "bela", play_pb2.ChooseWin()),
            Reason.NOT_YOUR_TURN,
            "",
        ),
        ([*ANTES, *IN_ORDER, thrown("anna", "456")], draw("bela"), Reason.WRONG_PHASE, ""),
        (
            [*ANTES, *IN_ORDER, thrown("anna", "123"), thrown("bela", "333")],
            draw("anna"),
            Reason.NOT_YOUR_TURN,
            "",
        ),
    ],
)
async def test_what_the_rules_forbid_is_refused_and_nothing_is_left(
    serve: Serve, played, request_, reason, field
):
    client = await opened(serve)
    for command in played:
        await client.ask(command)
    await assert_refused_without_trace(client, request_, reason, field)


async def test_a_refusal_out_of_turn_says_who_has_to_act(serve: Serve):
    client = await opened(serve)
    for command in (*ANTES, *IN_ORDER, thrown("anna", "123")):
        await client.ask(command)
    for player in ("anna", "carl"):
        refusal = await client.refusal(thrown(player, "456"))
        assert_refused(refusal, Reason.NOT_YOUR_TURN)
        assert refusal.metadata["to_act"] == "bela"
    refusal = await client.refusal(ante("bela", 701))
    assert_refused(refusal, Reason.WRONG_PHASE)


async def test_the_service_draws_one_die_for_the_order_and_three_in_a_turn(serve: Serve):
    client = await opened(serve)
    for command in ANTES:
        await client.ask(command)
    request = draw("anna")
    first = (await client.ask(request)).receipt
    (event,) = first.events
    assert len(event.rolled.dice) == 1
    assert event.rolled.source.kind == "service"
    # Once drawn is drawn: the same request gets the same die, whatever has happened since.
    await client.ask(draw("bela"))
    assert plain((await client.ask(request)).receipt) == plain(first)
    while (now := await table(client)).phase == "ORDER":
        await client.ask(draw(now.to_act[0]))
    rolled = (await client.ask(draw(now.to_act[0]))).receipt.events[0].rolled
    assert len(rolled.dice) == 3


async def test_a_draw_has_as_many_dice_as_are_thrown_when_it_is_decided(serve: Serve):
    """All commands of a message are read before the first of them settles the order."""
    client = await opened(serve)
    for command in (*ANTES, *IN_ORDER[:3]):
        await client.ask(command)
    answer = await client.ask(play_batch(IN_ORDER[3], draw("anna"), atomic=True))
    assert len(answer.results[1].receipt.events[0].rolled.dice) == 3


async def test_a_whole_game_is_played_through_a_stream(serve: Serve):
    client = await opened(serve)
    messages = [
        ANTES,
        [thrown("anna", "2"), thrown("bela", "2"), thrown("carl", "6"), thrown("dora", "1")],
        [thrown("anna", "5"), thrown("bela", "4")],
        [thrown("dora", "114"), thrown("bela", "645")],
        [play("race", "bela", play_pb2.ChooseDeathRoll())],
        [thrown("anna", "555"), thrown("carl", "321"), thrown("dora", "666")],
        [thrown("dora", "112")],
    ]
    events = []
    call = client.talk()
    for commands in messages:
        await call.write(stream_message(*commands))
        answer = await call.read()
        assert len(answer.results) == len(commands)
        for result in answer.results:
            assert result.WhichOneof("result") == "receipt", result
            events += result.receipt.events
    await call.done_writing()
    assert kinds(events)[-7:] == [
        "points_added",
        "race_won",
        "collected",
        "collected",
        "collected",
        "paid_out",
        "round_settled",
    ]
    (won,) = [event.race_won for event in events if event.HasField("race_won")]
    assert (won.player, won.rule) == ("dora", "target")
    assert await purses(client) == [PURSE - ANTE] * 3 + [PURSE + 3 * ANTE]
    now = await table(client)
    assert (now.round, now.round_open, now.at_risk, now.phase) == (2, False, 0, "ANTE")
    assert [seat.standing for seat in now.seats] == ["lost", "lost", "out", "won"]
    replayed = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    assert [finding for step in replayed for finding in step.findings] == []
    assert plain(replayed[-1].table) == plain(now)
    sums = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    assert [one.sum for one in sums.currencies] == [0]


async def test_a_table_says_who_may_do_what_at_every_step(serve: Serve):
    client = await opened(serve)
    seen: list[events_pb2.Event] = []
    while not any(event.HasField("race_won") for event in seen):
        now = await table(client)
        one = now.allowed[-1]
        if one.command == "ante":
            request = ante(one.player, one.most)
        elif one.command == "roll":
            assert (one.field, one.least) == ("dice", one.most)
            request = draw(one.player)
        else:
            request = play("race", one.player, play_pb2.ChooseDeathRoll())
        seen += (await client.ask(request)).receipt.events
    assert sum(await purses(client)) == PURSE * len(SEATS)
