"""Watching a log: everything from a position on, without a gap or a double, live."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
from pathlib import Path

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.services.rpc import watching
from croupier.v1 import audit_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, Tokens, plain, refusal_of, serving
from tests.support.stories import (
    deposit,
    furnish,
    play_round,
    transfer_batch,
)

HERE = "ledgers/casino"


def watch(from_position: int = 0, **wanted) -> audit_pb2.WatchEventsRequest:
    return audit_pb2.WatchEventsRequest(parent=HERE, from_position=from_position, **wanted)


async def read(call, until: int) -> list:
    """Return what a watcher is sent until he has everything up to a position."""
    events, seen = [], 0
    while seen <= until:
        response = await call.read()
        assert response is not grpc.aio.EOF
        assert response.next_position >= seen
        assert all(seen <= event.position < response.next_position for event in response.events)
        seen = response.next_position
        events += response.events
    return events


async def log(client: Client, from_position: int = 1) -> list:
    events = []
    while True:
        page = await client.ask(
            audit_pb2.ListEventsRequest(parent=HERE, from_position=from_position, page_size=1000)
        )
        events += page.events
        from_position = page.next_position
        if from_position > page.head_position:
            return events


async def head(client: Client) -> int:
    page = await client.ask(audit_pb2.ListEventsRequest(parent=HERE, page_size=1))
    return page.head_position


async def casino(serve: Serve, **settings) -> Client:
    return (await casino_of(serve, 1, **settings))[0]


async def casino_of(serve: Serve, callers: int, **settings) -> list[Client]:
    """Return callers, each with a connection of his own, of one server where a round was played."""
    served = await serve(**settings)
    clients = [await served.client() for _ in range(callers)]
    await furnish(clients[0])
    await play_round(clients[0])
    return clients


async def test_a_watcher_is_sent_what_was_recorded_and_then_what_comes(serve: Serve):
    client = await casino(serve)
    call = client.listen(watch())
    before = await head(client)
    assert [plain(one) for one in await read(call, before)] == [
        plain(one) for one in await log(client)
    ]
    for _ in range(5):
        receipt = (await client.ask(deposit("player:anna", 1))).receipt
        (event,) = await read(call, receipt.position)
        assert plain(event) == plain(receipt.events[0])


@pytest.mark.parametrize("from_position", [1, 2, 5, 17, 18])
async def test_a_watcher_begins_where_he_wants(serve: Serve, from_position: int):
    client = await casino(serve)
    last = (await client.ask(deposit("player:anna", 1))).receipt.position
    call = client.listen(watch(from_position))
    positions = [event.position for event in await read(call, last)]
    assert positions == list(range(from_position, last + 1))


@pytest.mark.parametrize("near", [0, 20, 10**6], ids=["far behind", "both", "near"])
async def test_watching_and_writing_at_once_leave_no_gap_and_no_double(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, near: int
):
    monkeypatch.setattr(watching, "PAGE", 7)
    monkeypatch.setattr(watching, "PAGES", 2)
    monkeypatch.setattr(watching, "NEAR", near)
    client = await casino(serve)
    calls = [client.listen(watch(start)) for start in (1, 3, 14, 15, 16)]

    async def write():
        for _ in range(60):
            await client.ask(transfer_batch(*(deposit("player:anna", 1) for _ in range(5))))
        return await head(client)

    writing = asyncio.create_task(write())
    late = client.listen(watch(1))
    last = await writing
    everything = [plain(event) for event in await log(client)]
    for call, start in zip((*calls, late), (1, 3, 14, 15, 16, 1), strict=True):
        assert [plain(event) for event in await read(call, last)] == everything[start - 1 :]


async def test_what_another_process_records_is_seen_too(serve: Serve):
    here = await casino(serve)
    there = await (await serve()).client()
    call = here.listen(watch())
    await read(call, await head(here))
    receipt = (await there.ask(deposit("player:anna", 1))).receipt
    (event,) = await read(call, receipt.position)
    assert plain(event) == plain(receipt.events[0])


async def test_a_watcher_chooses_a_table_and_kinds(serve: Serve):
    client = await casino(serve)
    await play_round(client, "t2")
    last = await head(client)
    everything = await log(client)
    for table, kinds in itertools.product(("", "t1", "t2"), ((), ("rolled", "paid_out"))):
        wanted = [
            plain(event)
            for event in everything
            if (not table or event.stream == f"tables/{table}")
            and (not kinds or event.WhichOneof("payload") in kinds)
        ]
        named = f"{HERE}/tables/{table}" if table else ""
        call = client.listen(watch(table=named, kinds=kinds))
        receipt = (await client.ask(deposit("player:anna", 1))).receipt
        if not table and not kinds:
            continue  # everything is what the other tests are about
        seen = []
        while len(seen) < len(wanted):
            seen += (await call.read()).events
        assert [plain(event) for event in seen] == wanted
        assert receipt.position > last


async def test_who_hears_nothing_is_told_that_there_is_nothing_and_where_to_go_on(serve: Serve):
    client = await casino(serve, heartbeat_s=0.05)
    last = await head(client)
    call = client.listen(watch(kinds=["table_closed"]))
    for _ in range(3):
        response = await call.read()
        assert (list(response.events), response.next_position) == ([], last + 1)
        assert response.head_position == last
    receipt = (await client.ask(deposit("player:anna", 1))).receipt
    while (response := await call.read()).next_position <= receipt.position:
        assert not response.events
    assert response.head_position == receipt.position
    call.cancel()
    # From there nothing is missed and nothing comes twice.
    call = client.listen(watch(response.next_position))
    receipt = (await client.ask(deposit("player:anna", 1))).receipt
    assert [event.position for event in await read(call, receipt.position)] == [receipt.position]


async def test_five_hundred_watch_and_none_of_them_takes_a_thread(serve: Serve):
    client, *others = await casino_of(serve, 5)
    threads = threading.active_count()
    calls = [
        others[number % 4].listen(
            watch(table=f"{HERE}/tables/t1") if number % 5 == 0 else watch(1 + number % 17)
        )
        for number in range(500)
    ]
    first = await asyncio.gather(*(call.read() for call in calls))
    assert all(response.events for response in first)
    assert threading.active_count() <= threads + 4
    last = 0
    for _ in range(20):
        last = (await client.ask(deposit("player:anna", 1))).receipt.position
    begun = [response.next_position for response in first]
    after = await asyncio.gather(
        *(read(call, last) for number, call in enumerate(calls) if number % 5)
    )
    starts = [start for number, start in enumerate(begun) if number % 5]
    for start, events in zip(starts, after, strict=True):
        assert [event.position for event in events] == list(range(start, last + 1))
    for call in calls:
        call.cancel()


async def test_a_watcher_who_reads_nothing_keeps_nobody_waiting(serve: Serve):
    client, other = await casino_of(serve, 2)
    stuck = [other.listen(watch()) for _ in range(20)]
    wide = {"actor": "a" * 128, "correlation_id": "c" * 128}
    last = 0
    for _ in range(20):
        batch = transfer_batch(*(deposit("player:anna", 1, **wide) for _ in range(200)))
        response = await client.ask(batch)
        last = response.results[-1].receipt.position
    call = client.listen(watch(last - 10))
    assert len(await read(call, last)) == 11
    # Whenever they read, they get everything.
    assert len(await read(stuck[0], last)) == last
    for one in stuck:
        one.cancel()


async def test_what_cannot_be_watched_is_refused(serve: Serve):
    client = await casino(serve)
    last = await head(client)
    for request, reason, field in (
        (audit_pb2.WatchEventsRequest(), Reason.MISSING_FIELD, "parent"),
        (watch(-1), Reason.INVALID_POSITION, "from_position"),
        (watch(last + 2), Reason.INVALID_POSITION, "from_position"),
        (watch(kinds=["rolled", "danced"]), Reason.UNKNOWN_KIND, "kinds"),
        (watch(table="t1"), Reason.INVALID_NAME, "table"),
        (watch(table="ledgers/other/tables/t1"), Reason.INVALID_NAME, "table"),
        (watch(table=f"{HERE}/tables/none"), Reason.TABLE_NOT_FOUND, None),
        (
            audit_pb2.WatchEventsRequest(parent="ledgers/none"),
            Reason.LEDGER_NOT_FOUND,
            None,
        ),
    ):
        refusal = await client.refusal(request)
        assert_refused(refusal, reason, field)
    assert (await client.refusal(watch(last + 2))).metadata["head"] == str(last)


async def test_a_dealer_watches_tables_and_not_the_whole_log(serve: Serve, tokens: Tokens):
    token = tokens.new("pit", "dealer")
    boss = tokens.new("boss", "operator")
    served = await serve(tokens=tokens.file)
    operator = await served.client(boss)
    await furnish(operator)
    events = await play_round(operator)
    dealer = await served.client(token)
    refusal = await dealer.refusal(watch())
    assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
    assert refusal.metadata["caller"] == "pit"
    call = dealer.listen(watch(table=f"{HERE}/tables/t1"))
    assert [plain(one) for one in await read(call, events[-1].position)] == [
        plain(one) for one in events
    ]


async def test_the_number_of_watchers_is_limited(serve: Serve):
    client = await casino(serve, streams=1)
    call = client.listen(watch())
    await call.read()
    assert_refused(await client.refusal(watch()), Reason.TOO_MANY_STREAMS)


@pytest.mark.sqlite("its file is changed")
async def test_watchers_of_a_ledger_that_is_fenced_are_told(serve: Serve, tmp_path: Path):
    client = await casino(serve)
    call = client.listen(watch())
    await read(call, await head(client))
    database = sqlite3.connect(tmp_path / "data" / "casino.db", isolation_level=None)
    database.execute("UPDATE head SET frontier = x'00'")
    database.close()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert_refused(refusal_of(caught.value), Reason.LEDGER_FENCED)


async def test_watchers_are_sent_away_when_the_server_stops(tmp_path: Path):
    async with serving(tmp_path / "data", grace_s=10.0) as served:
        client = Client(f"localhost:{served.server.port}")
        await furnish(client)
        call = client.listen(watch())
        await read(call, await head(client))
        reading = asyncio.ensure_future(call.read())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await reading
    assert_refused(refusal_of(caught.value), Reason.SERVER_STOPPING)
    await client.channel.close()
