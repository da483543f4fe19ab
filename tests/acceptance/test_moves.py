"""Every legal move of the player whose turn it is, listed ready to be sent back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from croupier.domain.errors import Reason
from croupier.services.client import Client as PythonClient
from croupier.services.rpc.views import page_token
from croupier.v1 import play_pb2
from tests.support.cards import (
    SEATS,
    TABLE,
    Room,
    brought,
    moved,
    open_cards,
    room_of,
    room_tokens,
    shuffled,
)
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, Tokens
from tests.support.stories import open_table

LAST, FIRST = SEATS[-1], SEATS[0]


@pytest_asyncio.fixture
async def room(serve: Serve, tokens: Tokens) -> AsyncIterator[Room]:
    """A room in which a hand was dealt: anna is to move, bela has dealt."""
    held = room_tokens(tokens)
    room = await room_of(await serve(tokens=tokens.file), held)
    await room.seat()
    await room.ante()
    await room.act(LAST, brought(1, shuffled("moves")))
    yield room


def asked(**more) -> play_pb2.ListMovesRequest:
    return play_pb2.ListMovesRequest(**{"table": TABLE} | more)


async def listed(client: Client, size: int = 0, **more) -> list[play_pb2.Move]:
    """Return all moves, page by page."""
    moves, token = [], ""
    while True:
        page = await client.ask(asked(page_size=size, page_token=token, **more))
        moves += page.moves
        token = page.next_page_token
        if not token:
            return moves
        assert len(page.moves) == size


async def test_every_move_listed_is_accepted_and_no_other_card_can_be_trailed(room: Room):
    for _ in range(20):
        table = await room.table()
        page = await room.operator.ask(asked(page_size=1000))
        assert not page.next_page_token
        assert (page.round, page.version) == (table.round, table.version)
        assert table.to_act == [page.player]
        assert page.moves
        for move in page.moves:
            await room.operator.ask(moved(page.player, move, validate_only=True))
        kinds = {one.command for one in table.allowed}
        assert kinds == {move.WhichOneof("command") for move in page.moves}
        trails = {move.trail.card for move in page.moves if move.HasField("trail")}
        hand = table.details[f"hand_of_{page.player}"].list_value.values
        for card in {one.string_value for one in hand} - trails:
            request = moved(page.player, play_pb2.Move(trail=play_pb2.Trail(card=card)))
            assert (await room.operator.refusal(request)).reason == Reason.ILLEGAL_MOVE.value
        last = page.moves[-1]
        await room.operator.ask(moved(page.player, last, expected_version=page.version))


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_pages_together_are_the_whole_list(room: Room, size: int):
    most = 0
    for _ in range(7):
        whole = await listed(room.operator, 1000)
        most = max(most, len(whole))
        assert await listed(room.operator, size) == whole
        assert len({move.SerializeToString() for move in whole}) == len(whole)
        (player,) = (await room.table()).to_act
        # The table gets fuller, and the choice larger: everybody trails what he can.
        await room.operator.ask(moved(player, whole[-1]))
    assert most > 8


async def test_a_list_is_of_one_version_of_the_table(room: Room):
    page = await room.operator.ask(asked(page_size=1))
    assert page.next_page_token
    await room.operator.ask(moved(page.player, page.moves[0]))
    refusal = await room.operator.refusal(asked(page_size=1, page_token=page.next_page_token))
    assert_refused(refusal, Reason.INVALID_PAGE_TOKEN, "page_token")
    assert refusal.metadata["version"] == str((await room.table()).version)


async def test_only_who_may_see_a_hand_is_told_its_moves(room: Room):
    whole = await room.operator.ask(asked())
    assert whole.player == FIRST
    for name in ("dealer", FIRST):
        assert await room.callers[name].ask(asked()) == whole
        assert await room.callers[name].ask(asked(player=FIRST)) == whole
    for name in ("auditor", "ops", LAST):
        for request in (asked(), asked(player=FIRST)):
            assert_refused(await room.callers[name].refusal(request), Reason.ROLE_NOT_ALLOWED)
    # Who has to wait has no moves, and learns none.
    for name in ("operator", LAST):
        none = await room.callers[name].ask(asked(player=LAST))
        assert (list(none.moves), none.player, none.version) == ([], "", whole.version)


async def test_between_hands_nobody_has_moves(room: Room):
    await room.operator.ask(open_cards("idle"))
    page = await room.callers[LAST].ask(asked(table="ledgers/casino/tables/idle"))
    assert (list(page.moves), page.player, page.round, page.version) == ([], "", 1, 1)


async def test_what_has_no_moves_to_list_is_refused(room: Room):
    await room.operator.ask(open_table("dice"))
    dice = "ledgers/casino/tables/dice"
    version = str((await room.table()).version)
    for request, reason, field in (
        (asked(table=""), Reason.MISSING_FIELD, "table"),
        (asked(table="cards"), Reason.INVALID_NAME, "table"),
        (asked(table="ledgers/casino/tables/none"), Reason.TABLE_NOT_FOUND, None),
        (asked(table=dice), Reason.NOT_OFFERED, "table"),
        (asked(player="nobody"), Reason.NOT_SEATED, "player"),
        (asked(page_size=-1), Reason.INVALID_PAGE_SIZE, "page_size"),
        (asked(page_size=1001), Reason.INVALID_PAGE_SIZE, "page_size"),
        *(
            (asked(page_token=token), Reason.INVALID_PAGE_TOKEN, "page_token")
            for token in (
                "garbled",
                page_token("moves", TABLE, version),
                page_token("moves", TABLE, version, "-1"),
                page_token("moves", TABLE, version, "٣"),
                page_token("moves", TABLE, version, "1" * 10),
                page_token("moves", TABLE, "1", "1"),
                page_token("moves", dice, version, "1"),
                page_token("tables", TABLE),
            )
        ),
    ):
        assert_refused(await room.operator.refusal(request), reason, field)
    beyond = await room.operator.ask(asked(page_token=page_token("moves", TABLE, version, "9" * 9)))
    assert not beyond.moves


async def test_the_python_client_yields_moves_ready_to_be_played(serve: Serve):
    served = await serve()
    client = await served.client()
    room = Room(served, {"operator": client})
    await room.seat()
    await room.ante()
    await room.act(LAST, brought(1, shuffled("client")))
    async with PythonClient(served.address) as python:
        whole = (await client.ask(asked(page_size=1000))).moves
        ready = [move async for move in python.play.moves(TABLE)]
        assert len(ready) == len(whole)
        receipt = await python.play.one(ready[0])
        assert receipt.version == ready[0].expected_version + len(receipt.events)
        # Each was for the table as it was.
        refusal = await client.refusal(ready[-1])
        assert refusal.reason == Reason.MISSING_FIELD.value  # it has no request id yet
        ready[-1].request_id = "late"
        assert_refused(await client.refusal(ready[-1]), Reason.VERSION_MISMATCH)
