"""A request happens once, however often it is sent."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain.errors import Reason
from croupier.v1 import admin_pb2, play_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Serve, Tokens, plain, serving
from tests.support.stories import (
    close_table,
    create_ledger,
    deposit,
    fade,
    furnish,
    open_table,
    play,
    post_bank,
    withdraw,
)


async def test_the_same_request_again_gets_the_original_receipt(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    requests = [
        create_ledger("second"),
        deposit("player:anna", 10),
        withdraw("player:anna", 10),
        open_table("t1"),
        post_bank("t1", 1000),
        fade("t1", 1000),
        play("t1", "anna", play_pb2.Roll(draw=play_pb2.Draw())),
        open_table("t2"),
        close_table("t2"),
    ]
    for request in requests:
        first = await client.ask(request)
        before = await client.evidence("casino", "second")
        again = await client.ask(request)
        assert plain(again.receipt) == plain(first.receipt)
        assert await client.evidence("casino", "second") == before


async def test_the_receipt_outlives_a_restart(serve: Serve, tmp_path: Path):
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        await furnish(client)
        opening = open_table("t1")
        posting = post_bank("t1", 1000)
        first = [await client.ask(opening), await client.ask(posting)]
    client = await (await serve()).client()
    again = [await client.ask(opening), await client.ask(posting)]
    assert [plain(one.receipt) for one in again] == [plain(one.receipt) for one in first]


async def test_a_request_id_used_for_another_body_is_refused(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    done = deposit("player:anna", 10, actor="dora")
    await client.ask(done)
    others = [
        deposit("player:anna", 11, actor="dora"),
        deposit("player:bela", 10, actor="dora"),
        deposit("player:anna", 10, currency="USD", actor="dora"),
        deposit("player:anna", 10, actor="dana"),
        deposit("player:anna", 10, actor="dora", expected_version=0),
        deposit("player:anna", 10, actor="dora", correlation_id="c"),
        deposit("player:anna", 10, actor="dora", occurred_time=Timestamp(seconds=1)),
        deposit("player:anna", 10, actor="dora", not_after=Timestamp(seconds=1)),
        # The same fields, another method.
        withdraw("player:anna", 10, actor="dora"),
        open_table("t1"),
    ]
    before = await client.evidence("casino")
    for other in others:
        other.request_id = done.request_id
        assert_refused(await client.refusal(other), Reason.REQUEST_ID_REUSED)
    assert await client.evidence("casino") == before


async def test_another_callers_same_request_id_is_another_request(serve: Serve, tokens: Tokens):
    names = {name: tokens.new(name, "operator") for name in ("olga", "oscar")}
    served = await serve(tokens=tokens.file)
    olga, oscar = [await served.client(token) for token in names.values()]
    await furnish(olga)
    request = deposit("player:anna", 10)
    first = await olga.ask(request)
    other = await oscar.ask(request)
    assert other.receipt.position == first.receipt.position + 1
    assert other.account.balance == 100_020
    for client, answer in ((olga, first), (oscar, other)):
        assert plain((await client.ask(request)).receipt) == plain(answer.receipt)
    request.amount = 11
    for client in (olga, oscar):
        assert_refused(await client.refusal(request), Reason.REQUEST_ID_REUSED)


async def test_a_request_id_is_refused_for_a_ledger_that_exists(serve: Serve):
    client = await (await serve()).client()
    await client.ask(create_ledger("one", request_id="same"))
    # A request id belongs to a ledger: the same one creates another ledger.
    await client.ask(create_ledger("two", request_id="same"))
    again = create_ledger("one", request_id="same", actor="other")
    assert_refused(await client.refusal(again), Reason.REQUEST_ID_REUSED)


async def test_a_retry_after_not_after_still_gets_the_receipt(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    soon = Timestamp()
    soon.FromNanoseconds(time.time_ns() + 3_000_000_000)
    requests = [
        create_ledger("second", not_after=soon),
        deposit("player:anna", 10, not_after=soon),
        open_table("t1", not_after=soon),
    ]
    first = [await client.ask(request) for request in requests]
    while time.time_ns() <= soon.ToNanoseconds():
        await client.ask(admin_pb2.GetServerInfoRequest())
    again = [await client.ask(request) for request in requests]
    assert [plain(one.receipt) for one in again] == [plain(one.receipt) for one in first]
    late = [
        create_ledger("third", not_after=soon),
        deposit("player:anna", 10, not_after=soon),
    ]
    before = await client.evidence("casino")
    for request in late:
        assert_refused(await client.refusal(request), Reason.REQUEST_EXPIRED, "not_after")
    assert await client.evidence("casino") == before


async def test_two_uses_at_once_are_one_command(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    request = deposit("player:anna", 10)
    answers = await asyncio.gather(*(client.ask(request) for _ in range(20)))
    assert len({plain(answer.receipt) for answer in answers}) == 1
    assert {answer.account.balance for answer in answers} == {100_010}


async def test_a_retry_gets_its_receipt_after_the_table_closed(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    resigning = play("t1", "anna", play_pb2.ResignBank(), expected_version=1)
    first = await client.ask(resigning)
    await client.ask(close_table("t1"))
    assert plain((await client.ask(resigning)).receipt) == plain(first.receipt)
