"""The client's batches, streams and watches: cuts are mended, refusals stay with their command."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import grpc
import pytest

from croupier.services.client import (
    CallRefused,
    Client,
    Opening,
    Patience,
    Turn,
    account_name,
    deposit,
    table_name,
    withdraw,
)
from croupier.services.client.stream import AHEAD, results_of
from croupier.services.client.watch import watch
from croupier.v1 import audit_pb2, play_pb2
from croupier.v1.audit_pb2_grpc import AuditServiceServicer, add_AuditServiceServicer_to_server
from croupier.v1.errors_pb2 import Refusal
from croupier.v1.play_pb2_grpc import PlayServiceServicer, add_PlayServiceServicer_to_server
from croupier.v1.receipts_pb2 import CommandResult, Receipt
from tests.support.serving import serving

QUICK = Patience(deadline_s=20.0, attempt_s=10.0, pause_s=0.001, pause_max_s=0.001)
HASTY = Patience(deadline_s=0.2, attempt_s=0.1, pause_s=0.001, pause_max_s=0.001)
TABLE = table_name("casino", "t1")
ANNA, BERT = Turn(TABLE, 1, "anna"), Turn(TABLE, 1, "bert")
PURSES = [account_name("casino", f"player:{who}") for who in ("anna", "bert")]
DEALER = ("dealer", "kim")


@pytest.fixture
async def client(tmp_path):
    async with (
        serving(tmp_path) as served,
        Client(f"127.0.0.1:{served.server.port}", patience=QUICK) as client,
    ):
        await client.admin.create_ledger("casino")
        await client.accounts.transfer("casino", [deposit(one, "EUR", 1_000) for one in PURSES])
        await client.tables.open("casino", "t1", Opening("ceelo_bank", ("anna", "bert"), "EUR"))
        yield client


class Cutting(PlayServiceServicer):
    """Answers so many messages of each stream, then cuts it; remembers what it was sent."""

    def __init__(self, *answered):
        self._answered = list(answered)
        self.streams = []

    async def PlayStream(self, requests, context):
        most = self._answered.pop(0) if self._answered else 1_000_000
        seen = []
        self.streams.append(seen)
        async for request in requests:
            if len(seen) == most:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")
            ids = [command.request_id for command in request.commands]
            seen.append(ids)
            yield play_pb2.PlayStreamResponse(
                results=[
                    CommandResult(receipt=Receipt(position=1 + int(one.split()[-1]))) for one in ids
                ]
            )


class Falling(AuditServiceServicer):
    """Sends what it is told on each call: positions of events, a cut, an end, or silence."""

    def __init__(self, *scripts):
        self._scripts = list(scripts)
        self.asked = []

    async def WatchEvents(self, request, context):
        self.asked.append(request.from_position)
        for said in self._scripts.pop(0):
            match said:
                case "cut":
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")
                case "silence":
                    await asyncio.Event().wait()
                case position:
                    yield audit_pb2.WatchEventsResponse(
                        events=[{"position": position}], next_position=position + 1
                    )


async def served_by(servicer, add, patience=QUICK):
    server = grpc.aio.server()
    add(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, Client(f"127.0.0.1:{port}", patience=patience)


async def test_a_batch_has_a_receipt_or_a_refusal_for_each_command(client):
    posted, faded, refused = await client.play.batch(
        "casino", [ANNA.post_bank(100), BERT.fade(60), BERT.fade(60)]
    )
    assert [posted.events[0].request_id != "", faded.position > posted.position] == [True, True]
    assert isinstance(refused, CallRefused)
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WRONG_PHASE")
    assert refused.metadata["phase"] == "BANKER_THROWS"
    assert not refused.retryable


async def test_an_atomic_batch_raises_the_refusal_that_ended_it(client):
    with pytest.raises(CallRefused) as caught:
        await client.play.batch("casino", [ANNA.post_bank(100), BERT.fade(101)], atomic=True)
    assert (caught.value.reason, caught.value.field) == (
        "STAKE_ABOVE_LIMIT",
        "commands[1].fade.stake",
    )
    assert (await client.tables.get(TABLE)).version == 1
    with pytest.raises(CallRefused) as caught:
        await client.accounts.transfer("casino", [withdraw(PURSES[0], "EUR", 1_001)], atomic=True)
    assert caught.value.reason == "INSUFFICIENT_FUNDS"
    await client.accounts.transfer(
        "casino",
        [withdraw(PURSES[0], "EUR", 1_000), deposit(PURSES[1], "EUR", 1_000)],
        atomic=True,
    )
    balances = [(await client.accounts.get(purse, "EUR")).balance for purse in PURSES]
    assert balances == [0, 2_000]


async def test_a_stream_plays_a_round(client):
    async with client.play.stream("casino") as stream:
        posted, faded = await stream.send(ANNA.post_bank(100), BERT.fade(60))
        assert [posted.events[-1].WhichOneof("payload")] == ["bank_posted"]
        assert faded.events[0].faded.stake == 60
        pushed = [
            await stream.push(ANNA.roll((1, 2, 4), DEALER)),
            await stream.push(BERT.roll((1, 1, 2), DEALER)),
            await stream.push(ANNA.roll((4, 5, 6), DEALER)),
        ]
        (first,), (refused,), (last,) = await asyncio.gather(*pushed)
    assert first.position < last.position
    assert refused.reason == "NOT_YOUR_TURN"
    assert last.events[-1].WhichOneof("payload") == "round_settled"


async def test_a_message_that_is_refused_as_a_whole_does_not_end_the_others(client):
    async with client.play.stream("casino") as stream:
        pushed = [
            await stream.push(ANNA.post_bank(100)),
            await stream.push(),
            await stream.push(BERT.fade(60)),
        ]
        answers = await asyncio.gather(*pushed, return_exceptions=True)
    assert [type(one).__name__ for one in answers] == ["list", "CallRefused", "list"]
    assert answers[1].reason == "INVALID_BATCH"
    assert answers[2][0].events[0].faded.stake == 60


async def test_what_a_cut_stream_did_not_answer_is_sent_again_with_the_same_ids():
    servicer = Cutting(3, 0, 5)
    server, client = await served_by(servicer, add_PlayServiceServicer_to_server)
    async with client, client.play.stream("casino") as stream:
        pushed = [
            await stream.push(ANNA.draw(request_id=f"throw {number}")) for number in range(AHEAD)
        ]
        answers = await asyncio.gather(*pushed)
    await server.stop(None)
    assert [one.position for (one,) in answers] == list(range(1, AHEAD + 1))
    answered = [one for stream in servicer.streams for (one,) in stream]
    assert answered == [f"throw {number}" for number in range(AHEAD)]
    assert [len(stream) for stream in servicer.streams] == [3, 0, 5, AHEAD - 8]


async def test_a_stream_lets_so_many_messages_wait_and_no_more():
    servicer = Cutting(0, 0)
    server, client = await served_by(servicer, add_PlayServiceServicer_to_server)
    async with client, client.play.stream("casino") as stream:
        for number in range(AHEAD):
            await stream.push(ANNA.draw(request_id=f"throw {number}"))
        more = asyncio.ensure_future(stream.push(ANNA.draw(request_id=f"throw {AHEAD}")))
        assert not more.done()
        (answer,) = await (await more)
        assert answer.position == AHEAD + 1
    await server.stop(None)


async def test_when_nobody_answers_in_time_whoever_sent_is_told():
    server, client = await served_by(Cutting(), add_PlayServiceServicer_to_server, HASTY)
    await server.stop(None)
    async with client, client.play.stream("casino") as stream:
        with pytest.raises(CallRefused) as caught:
            await stream.send(ANNA.draw())
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


async def test_a_stream_is_used_as_a_context(client):
    with pytest.raises(RuntimeError):
        await client.play.stream("casino").send(ANNA.draw())


async def test_leaving_a_stream_cancels_what_was_not_answered():
    server, client = await served_by(Cutting(*[0] * 1000), add_PlayServiceServicer_to_server)
    async with client:
        async with client.play.stream("casino") as stream:
            pushed = await stream.push(ANNA.draw(request_id="throw 1"))
        assert pushed.cancelled()
    await server.stop(None)


async def test_watching_goes_from_what_was_to_what_comes(client):
    seen = []
    async with aclosing(client.audit.watch("casino")) as events:
        async for event in events:
            seen.append(event.position)
            if event.position == 4:
                await client.play.post_bank(ANNA, 100)
            if event.HasField("bank_posted"):
                break
    assert seen == list(range(1, len(seen) + 1))


async def test_watching_a_table_gives_its_events_only(client):
    await client.play.batch("casino", [ANNA.post_bank(100), BERT.fade(60)])
    kinds = []
    wanted = client.audit.watch("casino", table=TABLE, kinds=("table_opened", "faded"))
    async with aclosing(wanted) as events:
        async for event in events:
            kinds.append(event.WhichOneof("payload"))
            if len(kinds) == 2:
                break
    assert kinds == ["table_opened", "faded"]


async def test_watching_goes_on_where_it_was_after_cuts_ends_and_silences():
    servicer = Falling([1, 2, "cut"], ["cut"], [3], [4, "silence"], [5, 6, "silence"])
    server, client = await served_by(servicer, add_AuditServiceServicer_to_server)
    request = audit_pb2.WatchEventsRequest(from_position=1)
    seen = []
    async with (
        client,
        aclosing(
            watch(client.audit._calls, client.audit._stub.WatchEvents, request, silence_s=0.05)
        ) as events,
    ):
        async for event in events:
            seen.append(event.position)
            if event.position == 6:
                break
    await server.stop(None)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert servicer.asked == [1, 3, 3, 4, 5]


async def test_watching_what_cannot_be_watched_is_refused(client):
    with pytest.raises(CallRefused) as caught:
        await anext(client.audit.watch("casino", kinds=["danced"]))
    assert caught.value.reason == "UNKNOWN_KIND"


async def test_watching_gives_up_when_nobody_answers():
    server, client = await served_by(Falling(), add_AuditServiceServicer_to_server, HASTY)
    await server.stop(None)
    async with client:
        with pytest.raises(CallRefused) as caught:
            await anext(client.audit.watch("casino"))
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


async def test_when_the_client_is_closed_nobody_is_left_waiting():
    server, client = await served_by(Cutting(*[0] * 1000), add_PlayServiceServicer_to_server)
    async with client.play.stream("casino") as stream:
        pushed = await stream.push(ANNA.draw(request_id="throw 1"))
        await client.close()
        async with asyncio.timeout(10):
            with pytest.raises(asyncio.CancelledError):
                await pushed
    await server.stop(None)


def test_what_a_newer_server_says_is_passed_on_as_far_as_it_is_understood():
    (refused,) = results_of([CommandResult(refusal=Refusal(reason=999, code=99, message="new"))])
    assert (refused.code, refused.reason, refused.message) == (
        grpc.StatusCode.UNKNOWN,
        "",
        "new",
    )
