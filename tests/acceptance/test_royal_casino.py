"""Matches of Royal Casino over the wire: drawn and brought decks, pots, replay, restarts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from croupier.domain.draws import deck_of
from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, events_pb2, play_pb2, tables_pb2
from tests.support.cards import ANTE, TABLE, at_table, brought, drawn, moved, open_cards, shuffled
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, fresh, serving
from tests.support.stories import create_ledger, deposit

NAMES = ("anna", "bela", "carl", "dora")
PURSE = 50_000


async def begun(client: Client, count: int, **options: int | str) -> Sequence[str]:
    """Open a table for so many players, each with the same money."""
    await client.ask(create_ledger())
    for name in NAMES:
        await client.ask(deposit(f"player:{name}", PURSE))
    await client.ask(open_cards(seats=NAMES[:count], options={"ante": ANTE} | options))
    return NAMES[:count]


async def purse(client: Client, name: str) -> int:
    """Return a player's euros."""
    account = f"ledgers/casino/accounts/player:{name}"
    asked = accounts_pb2.GetAccountRequest(name=account, currency="EUR")
    return (await client.ask(asked)).account.balance


async def table_of(client: Client) -> tables_pb2.Table:
    return (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table


async def play_hand(client: Client, chance: random.Random) -> list[events_pb2.Event]:
    """Play moves as they are listed until the hand is over."""
    events: list[events_pb2.Event] = []
    while not any(one.HasField("hand_scored") for one in events):
        page = await client.ask(play_pb2.ListMovesRequest(table=TABLE, page_size=60))
        move = chance.choice(page.moves)
        request = moved(page.player, move, round=page.round, expected_version=page.version)
        events += (await client.ask(request)).receipt.events
    return events


async def play_match(
    client: Client, seats: Sequence[str], chance: random.Random, *, draws: bool = False
) -> list[events_pb2.Event]:
    """Play the table's next match from its antes to its pot, and return all that happened."""
    events: list[events_pb2.Event] = []
    number = (await table_of(client)).round

    async def act(player: str, command: play_pb2.Shuffle | play_pb2.Deal | play_pb2.Ante) -> None:
        request = at_table(player, command, round=number)
        events.extend((await client.ask(request)).receipt.events)

    at = await table_of(client)
    while at.round == number:
        dealer, hand = at.details["dealer"].string_value, at.details["hand"].int_value
        if draws:
            await act(dealer, play_pb2.Shuffle(hand=hand))
        if at.phase == "ANTE":
            for seat in seats:
                await act(seat, play_pb2.Ante(amount=ANTE))
        await act(dealer, drawn(hand) if draws else brought(hand, shuffled(chance.random())))
        events += await play_hand(client, chance)
        at = await table_of(client)
    return events


async def findings(client: Client) -> list[str]:
    replay = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    return [finding for step in replay for finding in step.findings]


def each(events: Sequence[events_pb2.Event], kind: str) -> list:
    return [getattr(one, kind) for one in events if one.WhichOneof("payload") == kind]


@pytest.mark.parametrize("count, draws", [(2, True), (3, False), (4, True)])
async def test_a_whole_match_is_played_counted_and_paid(serve: Serve, count: int, draws: bool):
    client = await (await serve()).client()
    seats = await begun(client, count, target=11)
    before = {seat: await purse(client, seat) for seat in seats}
    events = await play_match(client, seats, random.Random(count), draws=draws)
    (won,) = each(events, "match_won")
    gain = ANTE * (count - len(won.players)) // len(won.players)
    for seat in seats:
        net = await purse(client, seat) - before[seat]
        assert net == (gain if seat in won.players else -ANTE)
    at = await table_of(client)
    assert (at.at_risk, at.round_open, at.round) == (0, False, 2)
    assert at.details["win_rule"].string_value == won.rule
    assert await findings(client) == []
    assert len(each(events, "hand_dealt")) == len(each(events, "hand_scored")) * 12 // count


async def test_a_drawn_deck_is_the_one_committed_to_and_anybody_can_check_it(serve: Serve):
    client = await (await serve()).client()
    seats = await begun(client, 2, target=4)
    events = await play_match(client, seats, random.Random(1), draws=True)
    for committed, revealed in zip(
        each(events, "draw_committed"), each(events, "draw_revealed"), strict=True
    ):
        told = sha256(revealed.nonce + committed.context.encode()).digest()
        assert committed.commitment == told
    # Committed before the first stake, and revealed after the last card.
    kinds = [one.WhichOneof("payload") for one in events]
    assert kinds[:3] == ["draw_committed", "round_started", "anted"]
    assert kinds.index("draw_revealed") == kinds.index("hand_scored") + 1
    assert each(events, "draw_committed")[0].context == f"{TABLE}/rounds/1/hands/1"
    # What was dealt follows from the nonce, card by card.
    deck = deck_of(each(events, "draw_revealed")[0].nonce)
    dealt = [
        card
        for one in each(events, "hand_dealt")
        if one.hand == 1
        for cards in (*(hand.cards for hand in one.hands), one.table)
        for card in cards
    ]
    assert tuple(dealt) == deck


async def test_a_restart_in_the_middle_of_a_hand_changes_nothing(tmp_path: Path):
    chance = random.Random(5)
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        seats = await begun(client, 2, target=4)
        await client.ask(at_table("bela", play_pb2.Shuffle(hand=1)))
        for seat in seats:
            await client.ask(at_table(seat, play_pb2.Ante(amount=ANTE)))
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        await client.ask(at_table("bela", drawn(1)))
        page = await client.ask(play_pb2.ListMovesRequest(table=TABLE, page_size=1000))
        await client.ask(moved(page.player, page.moves[-1]))
        before = await table_of(client)
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        assert await table_of(client) == before
        events = await play_hand(client, chance)
        assert each(events, "draw_revealed")
        assert await findings(client) == []


async def test_under_another_key_the_deck_is_refused_and_the_round_is_void(tmp_path: Path):
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(name.encode() * 8)
    async with serving(tmp_path / "data", draw_key=tmp_path / "first") as served:
        client = await served.client()
        seats = await begun(client, 2)
        await client.ask(at_table("bela", play_pb2.Shuffle(hand=1)))
        for seat in seats:
            await client.ask(at_table(seat, play_pb2.Ante(amount=ANTE)))
    async with serving(tmp_path / "data", draw_key=tmp_path / "second") as served:
        client = await served.client()
        before = await client.evidence("casino")
        refusal = await client.refusal(at_table("bela", drawn(1)))
        assert_refused(refusal, Reason.NOT_OFFERED, "deal.draw")
        refusal = await client.refusal(at_table("bela", brought(1, shuffled(1))))
        assert_refused(refusal, Reason.NOT_OFFERED, "deal.deck")
        assert await client.evidence("casino") == before
        void = admin_pb2.VoidRoundRequest(
            table=TABLE, round=1, reason="the draw key was replaced", request_id=fresh()
        )
        await client.ask(void)
        assert [await purse(client, seat) for seat in seats] == [PURSE, PURSE]
        await client.ask(at_table("bela", play_pb2.Shuffle(hand=1), round=2))
        for seat in seats:
            await client.ask(at_table(seat, play_pb2.Ante(amount=ANTE), round=2))
        await client.ask(at_table("bela", drawn(1), round=2))
        assert await findings(client) == []


async def test_bad_decks_and_bad_moves_are_refused_and_leave_no_trace(serve: Serve):
    client = await (await serve()).client()
    seats = await begun(client, 2)
    for seat in seats:
        await client.ask(at_table(seat, play_pb2.Ante(amount=ANTE)))
    deck = list(shuffled("bad"))
    before = await client.evidence("casino")
    for wrong in (deck[:51], [*deck, "AS"], [*deck[:51], deck[0]], [*deck[:51], "11S"], []):
        refusal = await client.refusal(at_table("bela", brought(1, tuple(wrong))))
        assert refusal.reason in (Reason.INVALID_DECK.value, Reason.MISSING_FIELD.value)
    refusal = await client.refusal(at_table("bela", brought(2, tuple(deck))))
    assert_refused(refusal, Reason.HAND_MISMATCH, "deal.hand")
    refusal = await client.refusal(at_table("anna", brought(1, tuple(deck))))
    assert refusal.reason == Reason.NOT_YOUR_TURN.value
    assert await client.evidence("casino") == before
    await client.ask(at_table("bela", brought(1, tuple(deck))))
    before = await client.evidence("casino")
    for command, reason in (
        (play_pb2.Trail(card=deck[4]), Reason.CARD_NOT_IN_HAND),
        (play_pb2.Trail(card="1S"), Reason.INVALID_CARDS),
        (play_pb2.Capture(card=deck[0], loose=[deck[20]]), Reason.CARD_NOT_ON_TABLE),
        (play_pb2.Capture(card=deck[0], loose=[deck[8]] * 2), Reason.INVALID_CARDS),
        (play_pb2.Capture(card=deck[0], builds=[1]), Reason.BUILD_NOT_FOUND),
        (play_pb2.Capture(card=deck[0]), Reason.ILLEGAL_MOVE),
        (play_pb2.RaiseBuild(card=deck[0], build=1), Reason.BUILD_NOT_FOUND),
        (play_pb2.Shuffle(hand=1), Reason.WRONG_PHASE),
    ):
        refusal = await client.refusal(at_table("anna", command))
        assert refusal.reason == reason.value, command
    assert await client.evidence("casino") == before


@pytest.mark.parametrize("seats", [NAMES[:1], (*NAMES, "emil")])
async def test_a_table_is_for_two_three_or_four(serve: Serve, seats: Sequence[str]):
    client = await (await serve()).client()
    await client.ask(create_ledger())
    refusal = await client.refusal(open_cards(seats=seats))
    assert_refused(refusal, Reason.INVALID_SEATS, "seats")
