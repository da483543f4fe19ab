"""A caller that is a player's plays for its own players, and does nothing that is the dealer's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from croupier.domain.errors import Reason
from croupier.services.rpc.permissions import PLAYERS
from croupier.v1 import accounts_pb2, audit_pb2, odds_pb2, play_pb2, tables_pb2
from tests.acceptance.test_callers import new_token
from tests.support.processes import ServerProcess
from tests.support.refusals import MODULE, assert_refused
from tests.support.serving import Client, Tokens, refusal_of, serving
from tests.support.stories import (
    close_table,
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

DEALERS = {
    "cover",
    "press_handle",
    "light_on",
    "ring_bell",
    "open_cup",
    "shuffle",
    "deal",
}
DRAW = play_pb2.Roll(draw=play_pb2.Draw())


@dataclass(slots=True)
class House:
    """A server with an operator, the terminal of anna and bela, and the one of carl."""

    operator: Client
    anna_bela: Client
    carl: Client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory, engine: str) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("house")
    tokens = Tokens(folder / "tokens.json")
    held = (
        tokens.new("boss", "operator"),
        tokens.new("east", "player", players=("anna", "bela")),
        tokens.new("west", "player", players=("carl",)),
    )
    async with serving(folder / "data", tokens=tokens.file) as served:
        house = House(*[await served.client(token) for token in held])
        await furnish(house.operator)
        for table in ("t1", "t2", "t3", "t4"):
            await house.operator.ask(open_table(table))
        yield house


async def evidence(house: House) -> list[bytes]:
    return await house.operator.evidence("casino")


def test_every_command_is_a_players_or_the_dealers():
    commands = {
        one.name for one in play_pb2.PlayRequest.DESCRIPTOR.oneofs_by_name["command"].fields
    }
    assert commands == PLAYERS | DEALERS
    assert not PLAYERS & DEALERS


@MODULE
async def test_a_terminal_plays_for_its_own_players(house: House):
    await house.anna_bela.ask(post_bank("t1", 1000))
    await house.anna_bela.ask(fade("t1", 600))
    await house.carl.ask(fade("t1", 400, "carl"))
    receipt = (await house.anna_bela.ask(play("t1", "anna", DRAW))).receipt
    assert receipt.events[0].rolled.source.kind == "service"
    assert receipt.events[0].caller == "east"


@MODULE
async def test_a_terminal_plays_for_nobody_else(house: House):
    await house.anna_bela.ask(post_bank("t2", 1000))
    before = await evidence(house)
    refusal = await house.carl.refusal(fade("t2", 600, "bela"))
    assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
    assert (refusal.metadata["caller"], refusal.metadata["player"]) == ("west", "bela")
    # Among several, one is enough: nothing of the message is done.
    both = (fade("t2", 600, "bela"), fade("t2", 400, "carl"))
    for atomic in (False, True):
        refusal = await house.carl.refusal(play_batch(*both, atomic=atomic))
        assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
        stream = house.carl.talk()
        await stream.write(stream_message(*reversed(both), atomic=atomic))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
        assert_refused(refusal_of(caught.value), Reason.ROLE_NOT_ALLOWED)
    # What another recorded is not his either, though he knows its request id.
    taken = fade("t2", 600)
    await house.anna_bela.ask(taken)
    assert_refused(await house.carl.refusal(taken), Reason.ROLE_NOT_ALLOWED)
    await house.operator.ask(deposit("player:anna", 1))
    assert await evidence(house) != before


@MODULE
async def test_whoever_plays_does_not_say_what_chance_does(house: House):
    await house.anna_bela.ask(post_bank("t3", 1000))
    await house.anna_bela.ask(fade("t3", 1000))
    before = await evidence(house)
    brought = await house.anna_bela.refusal(roll("t3", "anna", 6, 6, 6))
    assert_refused(brought, Reason.ROLE_NOT_ALLOWED)
    assert brought.metadata["command"] == "roll"
    for name in sorted(DEALERS):
        kind = play_pb2.PlayRequest.DESCRIPTOR.fields_by_name[name].message_type.name
        refusal = await house.anna_bela.refusal(play("t3", "anna", getattr(play_pb2, kind)()))
        assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
        assert refusal.metadata["command"] == name
    assert await evidence(house) == before


def account(name: str) -> accounts_pb2.GetAccountRequest:
    return accounts_pb2.GetAccountRequest(name=f"ledgers/casino/accounts/{name}", currency="EUR")


@MODULE
async def test_a_terminal_reads_its_own_players_accounts(house: House):
    for client, names in ((house.anna_bela, ("anna", "bela")), (house.carl, ("carl",))):
        for name in names:
            seen = await client.ask(account(f"player:{name}"))
            assert seen == await house.operator.ask(account(f"player:{name}"))
    for name in ("player:anna", "player:none", "house", "external", "escrow:t1"):
        assert_refused(await house.carl.refusal(account(name)), Reason.ROLE_NOT_ALLOWED)


@MODULE
@pytest.mark.parametrize(
    "make",
    [
        lambda: tables_pb2.GetTableRequest(name="ledgers/casino/tables/t4"),
        lambda: tables_pb2.ListTablesRequest(parent="ledgers/casino"),
        lambda: odds_pb2.GetPaytableRequest(table="ledgers/casino/tables/t4"),
    ],
    ids=lambda make: make().DESCRIPTOR.name,
)
async def test_what_lies_open_a_terminal_sees_at_every_table(
    house: House, make: Callable[[], Message]
):
    assert await house.carl.ask(make()) == await house.operator.ask(make())


@MODULE
async def test_a_terminal_watches_tables_and_not_the_whole_log(house: House):
    parent = "ledgers/casino"
    refusal = await house.carl.refusal(audit_pb2.WatchEventsRequest(parent=parent))
    assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
    call = house.carl.listen(
        audit_pb2.WatchEventsRequest(parent=parent, table=f"{parent}/tables/t4")
    )
    (opened,) = (await call.read()).events
    assert opened.HasField("table_opened")


@MODULE
@pytest.mark.parametrize(
    "make",
    [
        lambda: open_table("own"),
        lambda: close_table("t4"),
        lambda: deposit("player:carl", 1),
        lambda: audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t4"),
        lambda: audit_pb2.ListEventsRequest(parent="ledgers/casino"),
        lambda: accounts_pb2.ListAccountsRequest(parent="ledgers/casino"),
        lambda: accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"),
    ],
    ids=lambda make: make().DESCRIPTOR.name,
)
async def test_all_else_is_for_others(house: House, make: Callable[[], Message]):
    before = await evidence(house)
    assert_refused(await house.carl.refusal(make()), Reason.ROLE_NOT_ALLOWED)
    assert await evidence(house) == before


@MODULE
async def test_with_several_roles_a_caller_may_what_any_of_them_may(tmp_path: Path):
    tokens = Tokens(tmp_path / "tokens.json")
    both = tokens.new("pit", "player", "dealer", players=("carl",))
    books = tokens.new("books", "player", "auditor", players=("carl",))
    boss = tokens.new("boss", "operator")
    async with serving(tmp_path / "data", tokens=tokens.file) as served:
        pit, auditor = await served.client(both), await served.client(books)
        await furnish(await served.client(boss))
        await pit.ask(open_table("t1"))
        await pit.ask(post_bank("t1", 1000))
        assert_refused(await auditor.refusal(fade("t1", 1)), Reason.ROLE_NOT_ALLOWED)
        assert (await auditor.ask(account("player:anna"))).account.balance == 99_000


async def test_the_command_line_makes_a_terminals_token(tmp_path: Path):
    file = tmp_path / "tokens.json"
    boss = new_token(file, "boss", "operator")
    east = new_token(file, "east", "player", players=("anna", "bela"))
    with ServerProcess(tmp_path / "data", f"--tokens={file}") as process:
        operator, terminal = Client(process.address, boss), Client(process.address, east)
        await furnish(operator)
        await operator.ask(open_table("t1"))
        await terminal.ask(post_bank("t1", 1000))
        assert_refused(await terminal.refusal(fade("t1", 1, "carl")), Reason.ROLE_NOT_ALLOWED)
        for client in (operator, terminal):
            await client.channel.close()
