"""A draw of the service is committed to before anybody bets, and revealed when the cup opens."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from croupier.domain.draws import dice_of
from croupier.domain.errors import Reason
from croupier.services.config import Settings
from croupier.services.server import Server
from croupier.v1 import audit_pb2, events_pb2, play_pb2
from tests.acceptance.test_fish_prawn_crab import (
    BELL,
    LIGHT,
    SHAKE,
    TABLE,
    bet,
    dealer,
    open_cup_table,
    opened,
)
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, serving
from tests.support.stories import deposit, furnish

DRAW = play_pb2.OpenCup(draw=play_pb2.Draw())


async def shaken(client: Client) -> events_pb2.DrawCommitted:
    """Go to a shaken cup, and return what was committed to."""
    await furnish(client)
    await client.ask(deposit("house", 20_000))
    await client.ask(open_cup_table())
    for command in SHAKE[:-1]:
        receipt = (await client.ask(dealer(command))).receipt
        assert not any(event.HasField("draw_committed") for event in receipt.events)
    receipt = (await client.ask(dealer(SHAKE[-1]))).receipt
    kinds = [event.WhichOneof("payload") for event in receipt.events]
    assert kinds == ["handle_pressed", "draw_committed"]
    return receipt.events[1].draw_committed


async def finished(client: Client) -> list[events_pb2.Event]:
    """Go on from a shaken cup to one opened on the draw."""
    for request in (dealer(LIGHT), bet("big", 100), dealer(BELL)):
        await client.ask(request)
    return list((await client.ask(dealer(DRAW))).receipt.events)


async def findings(client: Client) -> list[str]:
    replay = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    return [finding for step in replay for finding in step.findings]


async def test_the_dice_are_those_committed_to_before_anybody_bet(serve: Serve):
    client = await (await serve()).client()
    committed = await shaken(client)
    events = await finished(client)
    nonce = events[0].draw_revealed.nonce
    assert len(nonce) == 32
    assert committed.context == f"{TABLE}/rounds/1"
    assert committed.commitment == sha256(nonce + committed.context.encode()).digest()
    assert tuple(events[1].cup_opened.dice) == dice_of(nonce, 3)
    assert events[1].cup_opened.source.kind == "service"
    assert events[2].WhichOneof("payload") == "places_lit"
    assert await findings(client) == []


async def test_a_restart_between_commitment_and_opening_changes_nothing(tmp_path: Path):
    async with serving(tmp_path / "data") as served:
        committed = await shaken(await served.client())
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        events = await finished(client)
        nonce = events[0].draw_revealed.nonce
        assert committed.commitment == sha256(nonce + committed.context.encode()).digest()
        assert await findings(client) == []


async def test_another_process_opens_what_the_first_committed_to(tmp_path: Path):
    async with serving(tmp_path / "data") as one, serving(tmp_path / "data") as other:
        committed = await shaken(await one.client())
        events = await finished(await other.client())
        nonce = events[0].draw_revealed.nonce
        assert committed.commitment == sha256(nonce + committed.context.encode()).digest()


async def test_under_another_key_the_draw_is_refused_and_the_throw_can_be_void(tmp_path: Path):
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(name.encode() * 8)
    async with serving(tmp_path / "data", draw_key=tmp_path / "first") as served:
        client = await served.client()
        await shaken(client)
        for request in (dealer(LIGHT), bet("big", 100), dealer(BELL)):
            await client.ask(request)
    assert not (tmp_path / "data" / "draw.key").exists()
    async with serving(tmp_path / "data", draw_key=tmp_path / "second") as served:
        client = await served.client()
        before = await client.evidence("casino")
        refusal = await client.refusal(dealer(DRAW))
        assert_refused(refusal, Reason.NOT_OFFERED, "open_cup.draw")
        assert await client.evidence("casino") == before
        await client.ask(dealer(play_pb2.OpenCup(void="the draw key was replaced")))
        assert await findings(client) == []


async def test_a_draw_that_is_not_used_is_never_revealed(serve: Serve):
    client = await (await serve()).client()
    await shaken(client)
    for request in (dealer(LIGHT), dealer(BELL), dealer(opened(1, 2, 3))):
        receipt = (await client.ask(request)).receipt
        assert not any(event.HasField("draw_revealed") for event in receipt.events)
    assert await findings(client) == []


async def test_each_round_has_a_draw_of_its_own(serve: Serve):
    client = await (await serve()).client()
    seen = {(await shaken(client)).commitment}
    await finished(client)
    for number in (2, 3):
        for command in SHAKE:
            receipt = (await client.ask(dealer(command, round=number))).receipt
        seen.add(receipt.events[-1].draw_committed.commitment)
        for command in (LIGHT, BELL, DRAW):
            await client.ask(dealer(command, round=number))
    assert len(seen) == 3


def test_a_key_that_cannot_be_read_starts_no_server(tmp_path: Path):
    with pytest.raises(OSError, match="absent"):
        Server(Settings(data=tmp_path / "data", draw_key=tmp_path / "absent"))
