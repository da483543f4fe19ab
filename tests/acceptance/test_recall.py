"""A round of any game is recalled as it was: what it was to everybody, and all that happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from google.protobuf.json_format import ParseDict

from croupier.domain.errors import Reason
from croupier.domain.games import GAMES
from croupier.services.client import Client as PythonClient
from croupier.services.rpc.views import page_token
from croupier.v1 import admin_pb2, audit_pb2, events_pb2, tables_pb2
from tests.acceptance.test_replay_command import croupier
from tests.long_play import SEATS, play_all
from tests.support.processes import ServerProcess
from tests.support.refusals import MODULE, assert_refused
from tests.support.serving import Client, Serve
from tests.support.stories import (
    close_table,
    deposit,
    fade,
    furnish,
    open_table,
    play_round,
    post_bank,
)

LEDGER = "ledgers/casino"


class Past:
    """A ledger in which all games were played, and all that can be read of it otherwise."""

    def __init__(self, address: str, events: list[events_pb2.Event]) -> None:
        self.address = address
        self.events = events
        self.balances: list[Counter[str]] = [Counter()]
        for event in events:
            after = self.balances[-1].copy()
            for posting in event.postings:
                after[posting.source] -= posting.amount
                after[posting.destination] += posting.amount
            self.balances.append(after)

    def of(self, game: str, number: int) -> list[events_pb2.Event]:
        stream = f"tables/{game}"
        return [one for one in self.events if (one.stream, one.round) == (stream, number)]

    def rounds(self, game: str) -> list[int]:
        return sorted({one.round for one in self.events if one.stream == f"tables/{game}"} - {0})


async def log(client: Client) -> list[events_pb2.Event]:
    events, first = [], 1
    while True:
        request = audit_pb2.ListEventsRequest(parent=LEDGER, from_position=first, page_size=1000)
        page = await client.ask(request)
        events += page.events
        first = page.next_position
        if first > page.head_position:
            return events


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def past(tmp_path_factory: pytest.TempPathFactory, engine: str) -> AsyncIterator[Past]:
    with ServerProcess(tmp_path_factory.mktemp("past") / "data") as server:
        await play_all(server.address, rounds=12, seed=3, say=lambda *_, **__: None)
        client = Client(server.address)
        events = await log(client)
        await client.channel.close()
        yield Past(server.address, events)


def asked(game: str, number: int, **more) -> audit_pb2.GetRoundRequest:
    return audit_pb2.GetRoundRequest(table=f"{LEDGER}/tables/{game}", round=number, **more)


every_game = pytest.mark.parametrize("game", list(GAMES))


@MODULE
@every_game
async def test_every_round_is_what_its_events_and_the_books_say(past: Past, game: str):
    client = Client(past.address)
    steps = await client.ask(audit_pb2.ReplayTableRequest(name=f"{LEDGER}/tables/{game}"))
    held = [Counter({one.player: one.at_risk for one in step.table.seats}) for step in steps]
    assert past.rounds(game)
    for number in past.rounds(game):
        events = past.of(game, number)
        answer = await client.ask(asked(game, number))
        recalled, first, last = answer.round, events[0], events[-1]
        assert (recalled.first_position, recalled.last_position) == (first.position, last.position)
        assert (recalled.first_version, recalled.last_version) == (first.version, last.version)
        assert recalled.start_time == first.recorded_time
        if last.HasField("round_settled"):
            assert recalled.status == audit_pb2.ROUND_STATUS_SETTLED
            assert recalled.end_time == last.recorded_time
        else:  # only the newest may be
            assert number == past.rounds(game)[-1]
            assert recalled.status == audit_pb2.ROUND_STATUS_OPEN
            assert not recalled.HasField("end_time")
        assert recalled.paytable_digest == first.round_started.paytable_digest
        assert recalled.options == steps[0].table.options
        assert recalled.carried == last.round_settled.carried
        if not answer.next_page_token:
            assert list(answer.events) == events
        before, after = past.balances[first.position - 1], past.balances[last.position]
        for row in answer.players:
            house = row.player == "house"
            account = f"bankroll:{game}" if house else f"player:{row.player}"
            assert (row.balance_before, row.balance_after) == (before[account], after[account])
            paid = row.returned + row.winnings
            # Nobody did anything elsewhere meanwhile.
            assert after[account] - before[account] == paid - row.staked
            if not house:
                assert row.carried_in == held[first.version - 2][row.player]
                assert row.carried_out == held[last.version - 1][row.player]
            assert row.net == paid + row.carried_out - row.staked - row.carried_in
        assert sum(row.net for row in answer.players) == 0
        assert {row.player for row in answer.players} >= set(SEATS)
        assert any(row.staked for row in answer.players) or recalled.carried
    await client.channel.close()


@MODULE
@every_game
async def test_rounds_are_listed_newest_first_in_pages(past: Past, game: str):
    client = Client(past.address)
    numbers = past.rounds(game)
    for size in (1, 7, 1000):
        listed: list[audit_pb2.Round] = []
        token = ""
        while True:
            request = audit_pb2.ListRoundsRequest(
                table=f"{LEDGER}/tables/{game}", page_size=size, page_token=token
            )
            page = await client.ask(request)
            assert 0 < len(page.rounds) <= size
            listed += page.rounds
            token = page.next_page_token
            if not token:
                break
        assert [one.round for one in listed] == numbers[::-1]
        for one in listed[:3]:
            whole = (await client.ask(asked(game, one.round, brief=True))).round
            for name in ("callers", "actors", "sources"):
                whole.ClearField(name)
            assert one == whole
    await client.channel.close()


@MODULE
@every_game
async def test_pages_of_events_together_are_the_round(past: Past, game: str):
    client = Client(past.address)
    number = past.rounds(game)[-1]
    for size in (1, 9, 1000):
        events, token, pages = [], "", 0
        while pages < 20:
            request = asked(game, number, page_size=size, page_token=token, brief=True)
            page = await client.ask(request)
            events += page.events
            token, pages = page.next_page_token, pages + 1
            if not token:
                break
        assert events == past.of(game, number)[: len(events)]
        assert len(events) == len(past.of(game, number)) or pages == 20
    async with PythonClient(past.address) as python:
        recalled = await python.audit.round(f"{LEDGER}/tables/{game}", number)
        assert list(recalled.events) == past.of(game, number)
        listed = [one.round async for one in python.audit.rounds(f"{LEDGER}/tables/{game}")]
        assert listed == past.rounds(game)[::-1]
    await client.channel.close()


@MODULE
async def test_who_acted_and_where_chance_came_from_are_told(past: Past):
    client = Client(past.address)
    sources = {}
    for game in GAMES:
        recalled = (await client.ask(asked(game, 1, brief=True))).round
        assert list(recalled.callers) == ["local"]
        sources[game] = {(one.kind, one.id) for one in recalled.sources}
    dealer = {("dealer", "chance")}
    dice = [game for game in GAMES if game not in ("royal_casino", "fish_prawn_crab")]
    assert all(sources[game] == dealer for game in dice)
    assert sources["royal_casino"] <= dealer | {("service", "hmac-sha256")}
    assert sources["royal_casino"]
    await client.channel.close()


# --- what is open, void, carried -----------------------------------------------------------------


async def test_a_round_that_is_open_is_recalled_as_it_stands(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    assert_refused(await client.refusal(asked("t1", 1)), Reason.ROUND_NOT_OPEN, "round")
    listing = audit_pb2.ListRoundsRequest(table=f"{LEDGER}/tables/t1")
    assert not (await client.ask(listing)).rounds
    await client.ask(post_bank("t1", 1000, actor="dora"))
    await client.ask(fade("t1", 600, actor="kim"))
    await client.ask(deposit("player:bela", 77))
    answer = await client.ask(asked("t1", 1))
    assert answer.round.status == audit_pb2.ROUND_STATUS_OPEN
    assert not answer.round.HasField("end_time")
    assert list(answer.round.actors) == ["dora", "kim"]
    rows = {row.player: row for row in answer.players}
    assert (rows["anna"].staked, rows["anna"].carried_out, rows["anna"].net) == (1000, 1000, 0)
    assert (rows["bela"].staked, rows["bela"].carried_out, rows["bela"].net) == (600, 600, 0)
    # To the round's last event: what came after it is not in it.
    assert rows["bela"].balance_after == 50_000 - 600
    assert (await client.ask(listing)).rounds[0].round == 1


async def test_a_void_round_says_why_and_moved_nothing(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    await client.ask(post_bank("t1", 1000))
    await client.ask(fade("t1", 600))
    void = admin_pb2.VoidRoundRequest(
        table=f"{LEDGER}/tables/t1", round=1, reason="a die fell", request_id="void"
    )
    await client.ask(void)
    answer = await client.ask(asked("t1", 1))
    assert answer.round.status == audit_pb2.ROUND_STATUS_VOIDED
    assert answer.round.void_reason == "a die fell"
    assert [(row.net, row.carried_out) for row in answer.players] == [(0, 0)] * 3
    assert {row.balance_after for row in answer.players} == {100_000, 50_000}


async def test_a_bank_that_is_carried_is_whose_it_was(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await play_round(client)  # anna's bank: bela wins 600 of it by a triple, carl loses 300
    first = await client.ask(asked("t1", 1))
    nets = {row.player: row.net for row in first.players}
    assert sum(nets.values()) == 0
    assert nets["bela"] == 600
    assert nets["carl"] == -300
    carried = {row.player: row.carried_out for row in first.players}
    table = (await client.ask(tables_pb2.GetTableRequest(name=f"{LEDGER}/tables/t1"))).table
    assert carried == {seat.player: seat.at_risk for seat in table.seats}
    await client.ask(post_bank("t1", 500, table.to_act[0], round=2))
    second = await client.ask(asked("t1", 2))
    assert {row.player: row.carried_in for row in second.players} == carried


async def test_what_cannot_be_recalled_is_refused(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await play_round(client)
    await client.ask(close_table("t1"))
    table = f"{LEDGER}/tables/t1"
    for request, reason, field in (
        (audit_pb2.GetRoundRequest(), Reason.MISSING_FIELD, "table"),
        (asked("t1", 0), Reason.MISSING_FIELD, "round"),
        (asked("t1", -1), Reason.INVALID_POSITION, "round"),
        (asked("t1", 2), Reason.ROUND_NOT_OPEN, "round"),
        (asked("t1", 2**63 - 1), Reason.ROUND_NOT_OPEN, "round"),
        (asked("none", 1), Reason.TABLE_NOT_FOUND, None),
        (asked("t1", 1, page_size=-1), Reason.INVALID_PAGE_SIZE, "page_size"),
        (asked("t1", 1, page_size=1001), Reason.INVALID_PAGE_SIZE, "page_size"),
        *(
            (asked("t1", 1, page_token=token), Reason.INVALID_PAGE_TOKEN, "page_token")
            for token in (
                "garbled",
                page_token("round", table, "1"),
                page_token("round", table, "2", "3"),
                page_token("round", table, "1", "0"),
                page_token("round", table, "1", "999"),
                page_token("round", table, "1", "-3"),
                page_token("round", f"{LEDGER}/tables/t2", "1", "3"),
            )
        ),
        (audit_pb2.ListRoundsRequest(), Reason.MISSING_FIELD, "table"),
        (
            audit_pb2.ListRoundsRequest(table=f"{LEDGER}/tables/none"),
            Reason.TABLE_NOT_FOUND,
            None,
        ),
        (
            audit_pb2.ListRoundsRequest(table=table, page_size=1001),
            Reason.INVALID_PAGE_SIZE,
            "page_size",
        ),
        *(
            (
                audit_pb2.ListRoundsRequest(table=table, page_token=token),
                Reason.INVALID_PAGE_TOKEN,
                "page_token",
            )
            for token in (
                "garbled",
                page_token("rounds", table, "2"),
                page_token("rounds", table, "0"),
                page_token("round", table, "1"),
            )
        ),
    ):
        assert_refused(await client.refusal(request), reason, field)


# --- the command line ---------------------------------------------------------------------------


async def test_the_command_line_tells_a_round_in_words_and_in_json(tmp_path: Path):
    with ServerProcess(tmp_path / "data") as server:
        client = Client(server.address)
        await furnish(client)
        await play_round(client)
        recalled = await client.ask(asked("t1", 1))
        words = croupier("recall", "casino", "t1", "1", "--address", server.address)
        assert (words.returncode, words.stderr) == (0, "")
        for line in (
            "round    1  settled",
            "ceelo_bank, edition 1",
            "bela is paid 6.00 and his 6.00 back",
            "[local]",
            "balance before",
        ):
            assert line in words.stdout, words.stdout
        (carl,) = [line.split() for line in words.stdout.splitlines() if line.startswith(" carl ")]
        assert carl == ["carl", "500.00", "0.00", "3.00", "0.00", "0.00", "0.00", "-3.00", "497.00"]
        brief = croupier("recall", "casino", "t1", "1", "--brief", "--address", server.address)
        assert "balance" not in brief.stdout
        form = ("--json", "--address", server.address)
        told = json.loads(croupier("recall", "casino", "t1", "1", *form).stdout)
        assert ParseDict(told, audit_pb2.GetRoundResponse()) == recalled
        listed = croupier("recall", "casino", "t1", "--address", server.address)
        assert listed.stdout.startswith("round    1  settled")
        assert json.loads(croupier("recall", "casino", "t1", *form).stdout)["round"] == "1"
        wrong = croupier("recall", "casino", "t1", "9", "--address", server.address)
        assert wrong.returncode == 1
        assert "ROUND_NOT_OPEN" in wrong.stderr
        await client.channel.close()
