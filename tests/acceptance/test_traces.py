"""Traces: from a call to its commit, in the trace of whoever calls; nothing where they are off."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from croupier.services import config, traces
from croupier.services.client import Client
from croupier.services.store.lock import FileLock
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, play_pb2
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.serving import Serve, refused

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
CALLERS_TRACE = (("traceparent", f"00-{TRACE}-{PARENT}-01"),)
DEPOSIT = "croupier.v1.AccountService/Deposit"


@pytest.fixture
def spans(monkeypatch):
    """Every span that ended, of a server whose traces go to memory."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(traces, "_provider", lambda where: provider)
    return exporter.get_finished_spans


def deposit(request_id, player="anna"):
    return accounts_pb2.DepositRequest(
        account=f"ledgers/main/accounts/player:{player}",
        currency="EUR",
        amount=1,
        request_id=request_id,
    )


async def begun(serve):
    served = await serve(trace="console")
    client = await served.client()
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
    return served, client


async def named(spans, name, count=1):
    """Return the spans of a name once there are so many: a call ends after its answer."""

    async def ended():
        await asyncio.sleep(0)
        return [one for one in spans() if one.name == name]

    async with asyncio.timeout(20):
        while len(found := await ended()) < count:
            pass
    assert len(found) == count
    return found


async def queued(served):
    """Return how many commands wait for a turn."""
    await asyncio.sleep(0)
    return served.server.ledgers.get("main")._writer._admission.waiting


def hex_of(span):
    return f"{span.context.trace_id:032x}"


async def test_a_call_is_followed_from_its_caller_to_its_commit(serve: Serve, spans):
    _, client = await begun(serve)
    await client.ask(deposit("one"), metadata=CALLERS_TRACE)
    (call,) = await named(spans, DEPOSIT)
    assert (hex_of(call), f"{call.parent.span_id:016x}") == (TRACE, PARENT)
    tree = {one.name: one for one in spans() if one.context.trace_id == call.context.trace_id}
    parents = {
        name: next((p.name for p in spans() if p.context.span_id == one.parent.span_id), None)
        for name, one in tree.items()
    }
    assert parents == {
        DEPOSIT: None,  # it is the caller's
        "queue": DEPOSIT,
        "turn": "queue",
        "decide": "turn",
        "commit": "turn",
    }
    assert call.kind is SpanKind.SERVER
    assert dict(call.attributes) == {
        "rpc.system": "grpc",
        "rpc.service": "croupier.v1.AccountService",
        "rpc.method": "Deposit",
        "rpc.grpc.status_code": 0,
        "croupier.caller": "local",
        "croupier.ledger": "main",
        "croupier.request_id": "one",
        "croupier.position": 2,
    }
    assert dict(tree["commit"].attributes) == {"croupier.events": 1, "croupier.position": 2}
    starts = [tree[name].start_time for name in (DEPOSIT, "queue", "turn", "decide", "commit")]
    assert starts == sorted(starts)
    assert tree["commit"].end_time <= tree["turn"].end_time <= call.end_time


@pytest.mark.sqlite("its lock is held")
async def test_calls_of_one_commit_are_linked_with_its_turn(serve: Serve, spans, tmp_path):
    served, client = await begun(serve)
    held = FileLock(tmp_path / "data" / "main.db")
    held.acquire()
    waiting = [asyncio.ensure_future(client.ask(deposit(f"ask-{n}"))) for n in range(5)]
    async with asyncio.timeout(20):
        while await queued(served) < 5:
            pass
    held.release()
    held.close()
    await asyncio.gather(*waiting)
    calls = await named(spans, DEPOSIT, 5)
    assert len({hex_of(one) for one in calls}) == 5
    turn = next(one for one in spans() if one.name == "turn" and one.links)
    queues = [one for one in spans() if one.name == "queue" and one.attributes]
    queues = [one for one in queues if hex_of(one) in {hex_of(call) for call in calls}]
    own = next(one for one in queues if one.context.span_id == turn.parent.span_id)
    others = [one for one in queues if one is not own]
    assert {link.context.span_id for link in turn.links} == {o.context.span_id for o in others}
    assert [[link.context.span_id for link in one.links] for one in others] == [
        [turn.context.span_id]
    ] * 4
    assert turn.attributes["croupier.commands"] == 5


async def test_a_measurement_is_taken_while_its_trace_is_the_current_one(
    serve: Serve, spans, monkeypatch
):
    """So that a histogram can keep the trace of a slow call as its exemplar."""
    served, client = await begun(serve)
    seen = {}

    def current():
        return f"{trace.get_current_span().get_span_context().trace_id:032x}"

    metrics = served.server.metrics
    finished, committed = metrics.call_finished, metrics.committed
    monkeypatch.setattr(
        metrics, "call_finished", lambda *said: seen.update(call=current()) or finished(*said)
    )
    monkeypatch.setattr(
        metrics, "committed", lambda *said: seen.update(commit=current()) or committed(*said)
    )
    await client.ask(deposit("one"), metadata=CALLERS_TRACE)
    await named(spans, DEPOSIT)
    assert seen == {"call": TRACE, "commit": TRACE}


async def test_a_refusal_is_no_fault_and_a_fault_is(serve: Serve, spans, monkeypatch):
    served, client = await begun(serve)
    illegal = deposit("one")
    illegal.amount = -1
    await client.refusal(illegal)
    (refusal,) = await named(spans, DEPOSIT)
    assert refusal.attributes["rpc.grpc.status_code"] == 3
    assert refusal.status.status_code is StatusCode.UNSET
    monkeypatch.setattr(served.server.ledgers, "get", lambda ledger: 1 / 0)
    await client.refusal(deposit("two"))
    _, fault = await named(spans, DEPOSIT, 2)
    assert fault.attributes["rpc.grpc.status_code"] == 13
    assert fault.status.status_code is StatusCode.ERROR


async def test_streams_are_spans_too_and_their_commands_part_of_them(serve: Serve, spans):
    _, client = await begun(serve)
    talk = client.talk(metadata=CALLERS_TRACE)
    command = play_pb2.PlayRequest(
        table="ledgers/main/tables/none", round=1, player="anna", request_id="one"
    )
    command.decline.SetInParent()
    await talk.write(play_pb2.PlayStreamRequest(parent="ledgers/main", commands=[command]))
    await talk.read()
    await talk.done_writing()
    assert await talk.read() is grpc.aio.EOF
    (stream,) = await named(spans, "croupier.v1.PlayService/PlayStream")
    ours = [one.name for one in spans() if hex_of(one) == TRACE]
    assert sorted(ours) == sorted([stream.name, "queue", "turn", "decide"])
    watch = client.listen(audit_pb2.WatchEventsRequest(parent="ledgers/main"))
    await watch.read()
    watch.cancel()
    (watched,) = await named(spans, "croupier.v1.AuditService/WatchEvents")
    assert watched.attributes["rpc.grpc.status_code"] == 1


async def test_what_strangers_send_as_their_trace_breaks_nothing_and_makes_no_new_names(
    serve: Serve, spans
):
    _, client = await begun(serve)
    for sent in ("", "00-xyz", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "a" * 4000):
        await client.ask(deposit("one"), metadata=(("traceparent", sent),))
    await refused(client.raw("/croupier.v1.PlayService/NoSuchMethod", b""))
    await refused(client.raw("/elsewhere.Service/Method", b""))
    calls = await named(spans, DEPOSIT, 4)
    assert all(one.parent is None for one in calls)
    assert {one.name for one in spans()} == {
        DEPOSIT,
        "croupier.v1.AdminService/CreateLedger",
        "queue",
        "turn",
        "decide",
        "commit",
    }


async def test_a_call_that_the_caller_does_not_sample_is_not_recorded(serve: Serve, spans):
    _, client = await begun(serve)
    before = len(spans())
    not_sampled = (("traceparent", f"00-{TRACE}-{PARENT}-00"),)
    await client.ask(deposit("one"), metadata=not_sampled)
    await client.ask(deposit("two"), metadata=CALLERS_TRACE)
    await named(spans, DEPOSIT)
    assert len(spans()) == before + 5


# --- where they go --------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["on", "127.0.0.1:4317", "ftp://a:1", "http://a", "http://a b:1"])
def test_where_traces_cannot_go_is_refused(where):
    with pytest.raises(config.ConfigError, match="is not off, console, or http"):
        config.load({"trace": where}, None)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(config, "find_spec", lambda name: None)
    with pytest.raises(config.ConfigError, match=r"pip install 'croupier\[otel\]'"):
        config.load({"trace": "console"}, None)
    assert config.load({}, None).trace == "off"


def test_where_they_are_off_nothing_that_makes_spans_is_imported():
    # The client of Redis imports some of the library wherever it is installed.
    program = (
        "import sys; from croupier.services import cli, server, traces; traces.begin('off'); "
        "of_spans = ('opentelemetry.sdk.trace', 'opentelemetry.exporter', '.traced'); "
        "print(sorted(name for name in sys.modules if any(one in name for one in of_spans)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "[]"


async def test_on_the_console_a_span_is_a_line_among_the_log_lines(tmp_path):
    log = tmp_path / "log"
    with ServerProcess(tmp_path / "data", "--trace=console", log=log) as server:
        async with Client(server.address) as client:
            await client.admin.create_ledger("main")
        assert server.stop() == 0
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert {"croupier.v1.AdminService/CreateLedger", "commit"} <= {one["name"] for one in lines}


async def test_a_collector_that_is_away_is_a_line_and_keeps_nobody_waiting(tmp_path):
    log = tmp_path / "log"
    flags = ("--trace=http://127.0.0.1:9", "--grace-s=3", "--log-format=json")
    with ServerProcess(tmp_path / "data", *flags, log=log) as server:
        async with Client(server.address) as client:
            await client.admin.create_ledger("main")
            assert (await client.admin.get_ledger("main")).position == 1
        assert await asyncio.to_thread(server.stop) == 0
    (line, *_) = [json.loads(one) for one in log.read_text().splitlines() if one[:1] == "{"]
    assert line["event"] == "traces not sent"
    assert "127.0.0.1:9" in line["error"]


def test_the_setting_has_a_flag():
    assert "--trace" in croupier("serve", "--help", COLUMNS="200").stdout
