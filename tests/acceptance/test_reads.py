"""What can be read: pages, replays, sums, and what the server says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from croupier.services.server import SERVICES
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, play_pb2, tables_pb2
from tests.support.serving import Client, Serve, plain
from tests.support.stories import (
    create_ledger,
    deposit,
    fade,
    furnish,
    open_table,
    play_round,
    post_bank,
    roll,
)


async def all_pages(client: Client, make: Callable[..., Message], items: str) -> list[list[Any]]:
    """Return the pages of a list, followed to its end."""
    pages, token = [], ""
    while True:
        page = await client.ask(make(page_token=token))
        pages.append(list(getattr(page, items)))
        token = page.next_page_token
        if not token:
            return pages


async def log(client: Client, ledger: str = "casino") -> list[Any]:
    """Return a whole log."""
    request = audit_pb2.ListEventsRequest(parent=f"ledgers/{ledger}", page_size=1000)
    return list((await client.ask(request)).events)


# --- pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 1000])
async def test_pages_together_are_the_whole_list_in_order(serve: Serve, size: int):
    client = await (await serve()).client()
    for ledger in ("beta", "alpha", "gamma", "casino"):
        await client.ask(create_ledger(ledger))
    for table in ("t2", "T1", "t1", "t.9", "t-9"):
        await client.ask(open_table(table))
    for account in ("player:b", "house", "player:a"):
        await client.ask(deposit(account, 5))
        await client.ask(deposit(account, 7, currency="USD"))
    lists = {
        "ledgers": (
            lambda **more: admin_pb2.ListLedgersRequest(page_size=size, **more),
            sorted(f"ledgers/{one}" for one in ("beta", "alpha", "gamma", "casino")),
        ),
        "tables": (
            lambda **more: tables_pb2.ListTablesRequest(
                parent="ledgers/casino", page_size=size, **more
            ),
            sorted(f"ledgers/casino/tables/{one}" for one in ("t2", "T1", "t1", "t.9", "t-9")),
        ),
        "accounts": (
            lambda **more: accounts_pb2.ListAccountsRequest(
                parent="ledgers/casino", page_size=size, **more
            ),
            sorted(
                f"ledgers/casino/accounts/{one}"
                for one in ("external", "house", "player:a", "player:b")
                for _ in range(2)
            ),
        ),
    }
    for items, (make, expected) in lists.items():
        pages = await all_pages(client, make, items)
        assert [one.name for page in pages for one in page] == expected
        assert all(len(page) == size for page in pages[:-1])
        assert 0 < len(pages[-1]) <= size


async def test_a_new_item_does_not_disturb_pages_already_read(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    for table in ("b", "d", "f"):
        await client.ask(open_table(table))
    request = tables_pb2.ListTablesRequest(parent="ledgers/casino", page_size=2)
    first = await client.ask(request)
    for table in ("a", "e"):
        await client.ask(open_table(table))
    request.page_token = first.next_page_token
    second = await client.ask(request)
    names = [one.name[-1] for page in (first, second) for one in page.tables]
    assert names == ["b", "d", "e", "f"]


async def test_pages_are_bounded_in_bytes_below_what_clients_accept(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    seats = [f"{n:064}" for n in range(64)]
    opening = [open_table(f"t{n:03}", seats=seats, banker=seats[0]) for n in range(450)]
    await asyncio.gather(*map(client.ask, opening))
    pages = await all_pages(
        client,
        lambda **more: tables_pb2.ListTablesRequest(
            parent="ledgers/casino", page_size=1000, **more
        ),
        "tables",
    )
    assert len(pages) > 1
    assert [one.name[-4:] for page in pages for one in page] == [f"t{n:03}" for n in range(450)]
    position, positions, sizes = 0, [], []
    while True:
        page = await client.ask(
            audit_pb2.ListEventsRequest(
                parent="ledgers/casino", page_size=1000, from_position=position
            )
        )
        if not page.events:
            break
        positions += [event.position for event in page.events]
        sizes.append(page.ByteSize())
        position = page.next_position
    assert positions == list(range(1, 455))
    assert len(sizes) > 1
    assert max(sizes) < 2_100_000


async def test_the_log_is_listed_from_any_position(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    whole = await log(client)
    for first in (0, 1, 3, 4, 5, 100, 2**63 - 1):
        page = await client.ask(
            audit_pb2.ListEventsRequest(parent="ledgers/casino", from_position=first, page_size=2)
        )
        start = max(first, 1)
        assert list(page.events) == whole[start - 1 : start + 1]
        assert page.next_position == start + len(page.events)
        assert page.head_position == 4


# --- replay -------------------------------------------------------------------------------------


async def replayed(client: Client, **more: Any) -> list[audit_pb2.ReplayTableResponse]:
    """Return the steps of a replay of table t1."""
    return await client.ask(audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1", **more))


async def test_a_replay_shows_every_event_with_the_table_after_it(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    events = await play_round(client)
    shown = (await client.ask(tables_pb2.GetTableRequest(name="ledgers/casino/tables/t1"))).table
    steps = await replayed(client)
    assert [plain(step.event) for step in steps] == [plain(event) for event in events]
    assert [step.table.version for step in steps] == list(range(1, len(events) + 1))
    assert all(not step.findings for step in steps)
    assert steps[-1].table == shown
    posted = next(step for step in steps if step.event.HasField("bank_posted"))
    assert (posted.table.phase, posted.table.at_risk) == ("FADING", 1000)


async def test_a_replay_stops_at_a_version(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    count = len(await play_round(client))
    for version in (1, 2, count - 1, count, count + 1, 2**63 - 1):
        assert len(await replayed(client, to_version=version)) == min(version, count)
    assert len(await replayed(client, to_version=0)) == count


async def test_a_replay_stops_at_a_time(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    events = await play_round(client)
    times = [event.recorded_time.ToMicroseconds() for event in events]
    assert times == sorted(times)
    for event in events:
        until = event.recorded_time.ToMicroseconds()
        steps = await replayed(client, to_time=event.recorded_time)
        assert len(steps) == sum(time <= until for time in times)
    assert await replayed(client, to_time=Timestamp(seconds=1)) == []
    assert len(await replayed(client, to_time=Timestamp(seconds=253_402_300_799))) == len(events)


async def test_what_happens_at_other_tables_is_in_no_replay(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    for request in (
        open_table("t1"),
        open_table("t10"),
        post_bank("t10", 100),
        post_bank("t1", 50),
        fade("t10", 100),
        fade("t1", 50),
        roll("t1", "anna", 4, 5, 6),
        roll("t10", "anna", 1, 2, 3),
    ):
        await client.ask(request)
    assert {step.event.stream for step in await replayed(client)} == {"tables/t1"}


# --- sums ---------------------------------------------------------------------------------------


async def test_the_trial_balance_adds_up_and_says_what_is_owed(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    for request in (
        deposit("house", 5_000),
        deposit("player:anna", 70, currency="JPY"),
        open_table("t1"),
        post_bank("t1", 1000),
        fade("t1", 600),
    ):
        await client.ask(request)
    summed = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    head = (await client.ask(admin_pb2.GetLedgerRequest(name="ledgers/casino"))).ledger
    assert summed.position == head.position
    euros, yen = summed.currencies
    assert (euros.currency, euros.currency_exponent) == ("EUR", 2)
    assert (euros.players, euros.escrow, euros.house) == (200_000 - 1600, 1600, 5_000)
    assert (euros.external, euros.bankrolls, euros.sum) == (-205_000, 0, 0)
    assert euros.liability == 200_000
    assert (yen.currency, yen.currency_exponent, yen.players) == ("JPY", 0, 70)
    assert (yen.external, yen.sum) == (-70, 0)
    accounts = await client.ask(accounts_pb2.ListAccountsRequest(parent="ledgers/casino"))
    assert sum(one.balance for one in accounts.accounts if one.currency == "EUR") == 0
    escrow = await client.ask(
        accounts_pb2.GetAccountRequest(name="ledgers/casino/accounts/escrow:t1", currency="EUR")
    )
    table = await client.ask(tables_pb2.GetTableRequest(name="ledgers/casino/tables/t1"))
    assert escrow.account.balance == table.table.at_risk == 1600


# --- the server ---------------------------------------------------------------------------------


async def test_the_server_says_what_it_is_and_which_games_it_knows(serve: Serve, engine: str):
    client = await (await serve()).client()
    info = await client.ask(admin_pb2.GetServerInfoRequest())
    assert (info.engine, info.durability) == (engine, "fsync")
    assert info.version
    assert info.start_time.seconds > 0
    game = next(game for game in info.games if game.code == "ceelo_bank")
    assert list(game.presets) == ["finnish", "german"]
    options = {option.name: option for option in game.options}
    assert [one.string_value for one in options["payout"].choices] == ["even", "multiplied"]
    assert options["factor_111"].default_value.int_value == 5
    assert (options["factor_111"].least, options["factor_111"].most) == (1, 1000)
    assert not options["triples_lose"].default_value.bool_value
    assert all(option.meaning and option.HasField("default_value") for option in options.values())
    await furnish(client)
    # Every default and every choice it names is one that it takes.
    for number, preset in enumerate(game.presets):
        await client.ask(open_table(f"preset-{number}", options={"preset": preset}))
    for option in options.values():
        for choice in option.choices:
            value = getattr(choice, choice.WhichOneof("kind"))
            table = f"{option.name}-{value}"
            await client.ask(open_table(table, options={option.name: value}))


async def test_health_is_asked_and_watched_without_a_token(serve: Serve, tokens):
    tokens.new("olga", "operator")
    served = await serve(tokens=tokens.file, grace_s=10.0)
    client = await served.client()
    health = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", *SERVICES):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await health.Check(health_pb2.HealthCheckRequest(service="nothing"))
    assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
    watch = health.Watch(health_pb2.HealthCheckRequest())
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
    stopping = asyncio.ensure_future(served.server.__aexit__(None, None, None))
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
    watch.cancel()
    await stopping


async def test_reflection_lists_every_service(serve: Serve):
    client = await (await serve()).client()
    stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="croupier.v1.PlayService"),
    ]
    listed, file = [answer async for answer in stub.ServerReflectionInfo(iter(asked))]
    names = {service.name for service in listed.list_services_response.service}
    assert names >= {*SERVICES, "grpc.health.v1.Health"}
    assert file.file_descriptor_response.file_descriptor_proto
    assert play_pb2.DESCRIPTOR.serialized_pb in (
        file.file_descriptor_response.file_descriptor_proto
    )


async def test_channelz_answers(serve: Serve):
    client = await (await serve()).client()
    await client.ask(admin_pb2.GetServerInfoRequest())
    stub = channelz_pb2_grpc.ChannelzStub(client.channel)
    servers = await stub.GetServers(channelz_pb2.GetServersRequest())
    assert any(server.data.calls_started for server in servers.server)
