"""A stream of commands: answers in order, and nothing lost or doubled by a cut."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.v1 import audit_pb2, errors_pb2, play_pb2
from tests.acceptance.test_refusals import locked
from tests.support.processes import ServerProcess
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, plain, refusal_of, serving
from tests.support.stories import (
    fade,
    furnish,
    open_table,
    post_bank,
    roll,
    stream_message,
)


async def table(serve: Serve, **settings) -> Client:
    client = await (await serve(**settings)).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    return client


async def throwing(client: Client, table: str = "t1") -> None:
    """Bring a table to where anna may throw for ever without deciding anything."""
    await client.ask(post_bank(table, 100))
    await client.ask(fade(table, 100))


def throw(number: int, table: str = "t1", **more) -> play_pb2.PlayRequest:
    return roll(table, "anna", 1, 2, 4, request_id=f"throw {number}", **more)


def names(response: play_pb2.PlayStreamResponse) -> list[str]:
    return [
        errors_pb2.Reason.Name(one.refusal.reason).removeprefix("REASON_")
        if one.WhichOneof("result") == "refusal"
        else ""
        for one in response.results
    ]


async def ended(call) -> grpc.aio.AioRpcError:
    """Return how a stream ends that ends with a refusal."""
    try:
        while await call.read() is not grpc.aio.EOF:
            pass
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the stream ended well")


async def log(client: Client) -> list:
    request = audit_pb2.ListEventsRequest(parent="ledgers/casino", page_size=1000)
    return list((await client.ask(request)).events)


async def test_every_message_is_answered_in_order(serve: Serve):
    client = await table(serve)
    await throwing(client)
    call = client.talk()
    sent = [[throw(10 * message + item) for item in range(4)] for message in range(40)]

    async def send():
        for commands in sent:
            await call.write(stream_message(*commands))
        await call.done_writing()

    sending = asyncio.create_task(send())
    answers = [answer async for answer in call]
    await sending
    ids = [[result.receipt.events[0].request_id for result in answer.results] for answer in answers]
    assert ids == [[command.request_id for command in commands] for commands in sent]
    positions = [result.receipt.position for answer in answers for result in answer.results]
    assert positions == list(range(positions[0], positions[0] + 160))


async def test_commands_of_a_stream_build_on_each_other(serve: Serve):
    client = await table(serve)
    call = client.talk()
    await call.write(stream_message(post_bank("t1", 1000), fade("t1", 600)))
    await call.write(stream_message(fade("t1", 500, "carl"), fade("t1", 400, "carl")))
    await call.write(stream_message(roll("t1", "anna", 4, 5, 6)))
    await call.done_writing()
    answers = [names(answer) async for answer in call]
    assert answers == [["", ""], ["STAKE_ABOVE_LIMIT", ""], [""]]


async def test_an_atomic_message_is_done_whole_or_not_at_all_and_the_stream_goes_on(serve: Serve):
    client = await table(serve)
    before = await client.evidence("casino")
    call = client.talk()
    bank = post_bank("t1", 1000)
    await call.write(stream_message(bank, fade("t1", 1001), fade("t1", 1), atomic=True))
    answer = await call.read()
    assert names(answer) == ["BATCH_REFUSED", "STAKE_ABOVE_LIMIT", "BATCH_REFUSED"]
    assert answer.results[0].refusal.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
    assert Reason.BATCH_REFUSED.kind is Reason.STAKE_ABOVE_LIMIT.kind
    assert await client.evidence("casino") == before
    await call.write(stream_message(bank, fade("t1", 0, request_id=""), atomic=True))
    answer = await call.read()
    assert names(answer) == ["BATCH_REFUSED", "MISSING_FIELD"]
    assert answer.results[0].refusal.metadata["item"] == "1"
    assert answer.results[1].refusal.field == "request_id"
    assert await client.evidence("casino") == before
    await call.write(stream_message(bank, fade("t1", 1000), atomic=True))
    assert names(await call.read()) == ["", ""]
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF


@pytest.mark.parametrize(
    "message, reason",
    [
        (play_pb2.PlayStreamRequest(), Reason.MISSING_FIELD),
        (stream_message(), Reason.INVALID_BATCH),
        (stream_message(post_bank("t1", 1), ledger="none"), Reason.LEDGER_NOT_FOUND),
    ],
)
async def test_a_message_that_is_wrong_ends_the_stream_after_the_answers_before_it(
    serve: Serve, message: play_pb2.PlayStreamRequest, reason: Reason
):
    client = await table(serve)
    call = client.talk()
    await call.write(stream_message(post_bank("t1", 1000)))
    await call.write(message)
    await call.write(stream_message(fade("t1", 600)))
    assert names(await call.read()) == [""]
    assert_refused(refusal_of(await ended(call)), reason)
    assert (await log(client))[-1].type == "croupier.v1.BankPosted"


async def test_bytes_that_are_no_message_end_the_stream_after_the_answers_before_it(serve: Serve):
    client = await table(serve)
    call = client.channel.stream_stream("/croupier.v1.PlayService/PlayStream")()
    await call.write(stream_message(post_bank("t1", 1000)).SerializeToString())
    await call.write(b"\x0a\xff")
    answer = play_pb2.PlayStreamResponse.FromString(await call.read())
    assert names(answer) == [""]
    assert_refused(refusal_of(await ended(call)), Reason.MALFORMED_MESSAGE)


@pytest.mark.sqlite("its lock is held")
async def test_what_a_cut_stream_had_not_begun_is_not_done(serve: Serve, tmp_path: Path):
    client = await table(serve)
    await throwing(client)
    before = await client.evidence("casino")
    async with locked(tmp_path / "data"):
        call = client.talk()
        for number in range(5):
            await call.write(stream_message(throw(number)))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call.read()
        # The cut is seen by the server before anything that is asked after it.
        await client.evidence("casino")
    assert await client.evidence("casino") == before


async def test_after_a_kill_what_was_not_answered_is_sent_again_and_nothing_is_doubled(
    tmp_path: Path,
):
    messages = [[throw(100 * m + item) for item in range(16)] for m in range(60)]
    with ServerProcess(tmp_path / "data") as server:
        channel = grpc.aio.insecure_channel(server.address)
        client = Client(server.address)
        await furnish(client)
        await client.ask(open_table("t1"))
        await throwing(client)
        call = client.talk()
        answered = []

        async def send():
            for commands in messages:
                await call.write(stream_message(*commands))

        sending = asyncio.create_task(send())
        with contextlib.suppress(grpc.aio.AioRpcError):
            while (answer := await call.read()) is not grpc.aio.EOF:
                answered.append(answer)
                if len(answered) == 7:
                    server.kill()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await channel.close()
        await client.channel.close()
    assert 7 <= len(answered) < len(messages)
    async with serving(tmp_path / "data") as served:
        client = await served.client()
        call = client.talk()

        async def resend():
            for commands in messages:
                await call.write(stream_message(*commands))
            await call.done_writing()

        sending = asyncio.create_task(resend())
        again = [answer async for answer in call]
        await sending
        for first, second in zip(answered, again, strict=False):
            assert plain(first) == plain(second)
        thrown = [event.request_id for event in await _all(client) if event.HasField("rolled")]
        assert thrown == [command.request_id for commands in messages for command in commands]


async def _all(client: Client) -> list:
    events, position = [], 1
    while True:
        page = await client.ask(
            audit_pb2.ListEventsRequest(
                parent="ledgers/casino", from_position=position, page_size=1000
            )
        )
        events += page.events
        position = page.next_position
        if position > page.head_position:
            return events


@pytest.mark.sqlite("its lock is held")
async def test_a_full_queue_refuses_commands_of_a_stream_and_says_how_long_to_wait(
    serve: Serve, tmp_path: Path
):
    client = await table(serve, queue=2)
    await throwing(client)
    async with locked(tmp_path / "data"):
        call = client.talk()
        await call.write(stream_message(throw(1), throw(2)))
        await call.write(stream_message(throw(3)))
        other = client.talk()
        await other.write(stream_message(throw(4)))
        answer = await other.read()
        assert names(answer) == ["QUEUE_FULL"]
        assert answer.results[0].refusal.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert answer.results[0].refusal.retry_delay.ToMilliseconds() >= 20
    assert names(await call.read()) == ["", ""]
    assert names(await call.read()) == ["QUEUE_FULL"]
    await call.write(stream_message(throw(3)))
    assert names(await call.read()) == [""]


async def test_a_server_has_so_many_streams_and_no_more(serve: Serve):
    client = await table(serve, streams=2)
    await throwing(client)
    calls = [client.talk() for _ in range(2)]
    for number, call in enumerate(calls):
        await call.write(stream_message(throw(number)))
        await call.read()
    third = client.talk()
    refusal = refusal_of(await ended(third))
    assert_refused(refusal, Reason.TOO_MANY_STREAMS)
    assert refusal.metadata["most"] == "2"
    assert refusal.retry_ms
    await calls[0].done_writing()
    assert await calls[0].read() is grpc.aio.EOF
    again = client.talk()
    await again.write(stream_message(throw(9)))
    assert names(await again.read()) == [""]


async def test_a_server_that_stops_answers_what_it_took_and_sends_its_streams_away(tmp_path: Path):
    async with serving(tmp_path / "data", grace_s=10.0) as served:
        client = Client(f"localhost:{served.server.port}")
        await furnish(client)
        await client.ask(open_table("t1"))
        await throwing(client)
        call = client.talk()
        await call.write(stream_message(throw(1)))
        assert names(await call.read()) == [""]
        started = os.times().elapsed
        reading = asyncio.create_task(ended(call))
    refusal = refusal_of(await reading)
    assert_refused(refusal, Reason.SERVER_STOPPING)
    assert os.times().elapsed - started < 10.0, "it waited for its grace to pass"
    await client.channel.close()
