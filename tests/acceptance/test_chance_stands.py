"""Chance stands: nobody has it fall, looks, and takes it back by what an atomic batch has after it.

Else whoever may roll would send a draw and a command that is legal only if he has won, again and
again, until it is.
"""

from __future__ import annotations

import random

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import errors_pb2, play_pb2, tables_pb2
from tests.support.cards import ANTE, TABLE, at_table, brought, drawn, moved, open_cards, shuffled
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve
from tests.support.stories import (
    create_ledger,
    deposit,
    fade,
    furnish,
    open_table,
    play,
    play_batch,
    post_bank,
    roll,
    stream_message,
)

DRAW = play_pb2.Roll(draw=play_pb2.Draw())


async def refused_at(client: Client, item: int, *commands: play_pb2.PlayRequest) -> None:
    """Expect an atomic batch to be refused for what it has at `item`, with nothing recorded."""
    before = await client.evidence("casino")
    refusal = await client.refusal(play_batch(*commands, atomic=True))
    assert_refused(refusal, Reason.AFTER_CHANCE)
    assert refusal.metadata["item"] == str(item)
    assert refusal.metadata["rule"] == "chance_stands"
    assert await client.evidence("casino") == before


async def faded(serve: Serve) -> Client:
    """Return the caller of a table at which the banker has to roll."""
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    for command in (post_bank("t1", 1000), fade("t1", 600), fade("t1", 400, "carl")):
        await client.ask(command)
    return client


async def test_no_command_follows_a_draw_in_an_atomic_batch(serve: Serve):
    client = await faded(serve)
    for after in (
        post_bank("t1", 1, round=2),
        post_bank("t1", 1, round=2, validate_only=True),
        play("t1", "anna", DRAW),
        fade("t1", 1, player="zoe"),
    ):
        await refused_at(client, 1, play("t1", "anna", DRAW), after)


async def test_whatever_is_drawn_the_refusal_is_the_same(serve: Serve):
    client = await faded(serve)
    for _ in range(40):
        await refused_at(client, 1, play("t1", "anna", DRAW), post_bank("t1", 1, round=2))


async def test_a_draw_may_be_the_last_of_an_atomic_batch_which_is_recorded_once(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    batch = play_batch(
        post_bank("t1", 1000),
        fade("t1", 600),
        fade("t1", 400, "carl"),
        play("t1", "anna", DRAW),
        atomic=True,
    )
    first = await client.ask(batch)
    assert (await client.ask(batch)).results == first.results


async def test_dice_that_are_brought_are_known_and_more_may_follow(serve: Serve):
    client = await faded(serve)
    answer = await client.ask(
        play_batch(roll("t1", "anna", 4, 5, 6), post_bank("t1", 1, round=2), atomic=True)
    )
    assert all(result.HasField("receipt") for result in answer.results)


async def test_no_message_of_a_stream_takes_chance_back(serve: Serve):
    client = await faded(serve)
    before = await client.evidence("casino")
    call = client.talk()
    await call.write(stream_message(play("t1", "anna", DRAW), fade("t1", 1), atomic=True))
    results = (await call.read()).results
    await call.done_writing()
    assert [one.refusal.reason for one in results] == [
        errors_pb2.REASON_BATCH_REFUSED,
        errors_pb2.REASON_AFTER_CHANCE,
    ]
    assert await client.evidence("casino") == before


# --- cards ------------------------------------------------------------------------------------


async def seated(serve: Serve) -> Client:
    """Return the caller of a table of cards for two, at which nobody has anted."""
    client = await (await serve()).client()
    await client.ask(create_ledger())
    for name in ("anna", "bela"):
        await client.ask(deposit(f"player:{name}", 50_000))
    await client.ask(open_cards(seats=("anna", "bela"), options={"ante": ANTE}))
    return client


async def dealer_of(client: Client) -> str:
    table = (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table
    return table.details["dealer"].string_value


def ante(player: str) -> play_pb2.PlayRequest:
    return at_table(player, play_pb2.Ante(amount=ANTE))


@pytest.mark.parametrize("source", ["draw", "deck"])
async def test_nobody_looks_at_a_deck_by_what_follows_its_deal(serve: Serve, source: str):
    client = await seated(serve)
    dealer = await dealer_of(client)
    deal = brought(1, shuffled(1))
    if source == "draw":
        await client.ask(at_table(dealer, play_pb2.Shuffle(hand=1)))
        deal = drawn(1)
    looks = at_table("anna", play_pb2.Trail(card="AS"))
    await refused_at(client, 3, ante("anna"), ante("bela"), at_table(dealer, deal), looks)


async def test_nobody_looks_at_the_next_deal_before_the_last_card_is_played(serve: Serve):
    client = await seated(serve)
    dealer = await dealer_of(client)
    for command in (ante("anna"), ante("bela"), at_table(dealer, brought(1, shuffled(1)))):
        await client.ask(command)
    chance = random.Random(1)
    for left in range(8, 0, -1):
        page = await client.ask(play_pb2.ListMovesRequest(table=TABLE))
        move = moved(page.player, chance.choice(page.moves), round=page.round)
        if left > 1:
            await client.ask(move)
    looks = at_table("anna", play_pb2.Trail(card="AS"))
    await refused_at(client, 1, move, looks)
    await client.ask(play_batch(move, atomic=True))
