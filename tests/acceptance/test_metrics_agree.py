"""Metrics tell the truth: every counter equals what a replay of the log gives.

Calls and refusals leave nothing in the log; they equal what the caller himself has counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import grpc
import pytest

from croupier.services.config import Settings
from croupier.services.server import Server
from croupier.v1 import admin_pb2
from tests.support.api import LEDGER, Api, details
from tests.support.recount import Recount, named, samples

GAME = "ceelo_bank"


class Tally(grpc.aio.UnaryUnaryClientInterceptor):
    """Counts at the caller's end what the service counts at its own."""

    def __init__(self):
        self.counted = Counter()

    async def intercept_unary_unary(self, continuation, client_call_details, request):
        call = await continuation(client_call_details, request)
        code = await call.code()
        method = client_call_details.method
        name = (method if isinstance(method, str) else method.decode()).split("croupier.v1.")[1]
        labels = (("code", code.name), ("method", name))
        self.counted["croupier_calls_total", *labels] += 1
        self.counted["croupier_call_seconds_count", ("method", name)] += 1
        if code is not grpc.StatusCode.OK:
            error = grpc.aio.AioRpcError(
                code, await call.initial_metadata(), await call.trailing_metadata()
            )
            reason = details(error)["ErrorInfo"].reason
            self.counted["croupier_refusals_total", ("reason", reason)] += 1
        return call


async def scrape(server):
    """Return every sample of the HTTP endpoint, by name and labels."""
    return await asyncio.to_thread(samples, server.metrics_port)


async def refused(call):
    with pytest.raises(grpc.aio.AioRpcError):
        await call


async def play(api):
    """Play a round with a win, a push and money handed back; refusals and a retry between."""
    await api.create()
    for player in ("anna", "bert", "cleo", "dora"):
        await api.deposit(player, 50_000)
    await api.withdraw("dora", 123)
    await refused(api.withdraw("dora", 1_000_000))
    await refused(api.deposit("dora", -1))
    await api.open("t1", payout="multiplied")
    await refused(api.open("t1", payout="multiplied"))

    await api.post("anna", 3000, request_id="post")
    await api.post("anna", 3000, request_id="post")
    await refused(api.post("anna", 2000, request_id="post"))
    await refused(api.fade("cleo", 1))
    for player in ("bert", "cleo"):
        await api.fade(player, 1000)
    await api.decline("dora")
    await api.roll("anna", 1, 2, 4)
    await api.roll("anna", 4, 4, 2)
    await refused(api.roll("cleo", 1, 1, 1))
    await api.roll("bert", 1, 1, 1)
    await api.roll("cleo", 5, 5, 2)


async def play_on(api, rounds):
    """Play more rounds by what the table expects, with dice of a fixed sequence."""
    dice = Random(7)
    while (table := await api.table()).round <= rounds:
        player = table.to_act[0]
        expected, number = table.expects[0], table.round
        if expected == "post_bank":
            await api.post(player, 1000, round_number=number)
        elif expected == "fade":
            await api.fade(player, 300, round_number=number)
        elif expected == "roll":
            await api.roll(player, *dice.choices(range(1, 7), k=3), round_number=number)
        else:
            assert expected == "keep_bank"
            await api.play(player, keep_bank={}, round_number=number)


@pytest.fixture
async def server(tmp_path):
    settings = Settings(listen="127.0.0.1:0", metrics_listen="127.0.0.1:0", data=tmp_path)
    async with Server(settings) as server:
        yield server


@pytest.fixture
def tally():
    return Tally()


@pytest.fixture
async def api(server, tally):
    """Return the services of a server at which rounds were played and commands refused."""
    address = f"127.0.0.1:{server.port}"
    async with grpc.aio.insecure_channel(address, interceptors=[tally]) as channel:
        api = Api(channel)
        await play(api)
        await play_on(api, rounds=6)
        yield api


NOT_IN_THE_LOG = {
    "croupier_authentication_failures_total",
    "croupier_calls_total",
    "croupier_commit_conflicts_total",
    "croupier_dropped_snapshots_total",
    "croupier_rechecked_snapshots_total",
    "croupier_refusals_total",
    "croupier_saved_snapshots_total",
    "croupier_turn_requests_total",
    "croupier_turn_seconds_total",
    "croupier_turns_total",
    "process_cpu_seconds_total",
}


async def test_every_counter_equals_a_replay_of_the_log(server, api):
    recount = Recount(await api.log())
    shown = await scrape(server)
    counters = {key[0] for key in shown if key[0].endswith("_total")}
    # No round was void, and nothing else is left out.
    named_in_log = {name for name in recount.names if name.endswith("_total")}
    assert counters - NOT_IN_THE_LOG - named_in_log == {"croupier_rounds_voided_total"}
    expected = recount.exact
    expected["croupier_commit_batch_commands_sum",] = expected["croupier_commands_total",]
    assert named(shown, {name for name, *_ in expected}) == dict(expected)
    theory = {key: float(exact) for key, exact in recount.theory.items() if exact}
    assert named(shown, {name for name, *_ in theory}) == pytest.approx(theory, rel=1e-12)
    # The story tells what it should: money came, was risked, lost, won, handed back and left.
    kinds = {dict(labels)["kind"] for name, *labels in expected if name == "croupier_events_total"}
    assert kinds >= {"withdrawn", "bank_posted", "faded", "rolled", "collected", "paid_out"}
    assert expected["croupier_events_total", ("game", GAME), ("kind", "round_settled")] == 6


async def test_calls_and_refusals_equal_what_the_caller_counted(server, api, tally):
    shown = await scrape(server)
    names = ("croupier_calls_total", "croupier_call_seconds_count", "croupier_refusals_total")
    assert named(shown, names) == dict(tally.counted)
    reasons = {dict(labels)["reason"] for name, *labels in tally.counted if name == names[2]}
    assert reasons == {
        "AMOUNT_OUT_OF_RANGE",
        "INSUFFICIENT_FUNDS",
        "NOT_YOUR_TURN",
        "REQUEST_ID_REUSED",
        "TABLE_EXISTS",
    }


async def test_a_retry_is_a_call_but_no_command(server, api):
    before = await scrape(server)
    await api.post("anna", 3000, request_id="post")
    after = await scrape(server)
    labels = (("code", "OK"), ("method", "PlayService/Play"))
    changed = {key[0] for key in after if after[key] != before.get(key)}
    assert after["croupier_calls_total", *labels] == before["croupier_calls_total", *labels] + 1
    assert "croupier_commands_total" not in changed
    assert "croupier_events_total" not in changed


async def test_gauges_equal_what_the_services_say(server, api):
    server.take_gauges()
    shown = await scrape(server)
    log = await api.log()
    ledger = (await api.admin.GetLedger(admin_pb2.GetLedgerRequest(name=LEDGER))).ledger
    main = ("ledger", "main")
    assert shown["croupier_ledger_head_position", main] == ledger.position == len(log)
    recorded_s = shown["croupier_ledger_head_time_seconds", main]
    assert recorded_s == pytest.approx(log[-1].recorded_time.ToMicroseconds() / 1_000_000)
    balance = "croupier_ledger_trial_balance_minor_units"
    key = (balance, ("currency", "EUR"), main)
    assert {one: shown[one] for one in shown if one[0] == balance} == {key: 0}
    assert shown["croupier_ledger_fenced", main] == 0
    assert shown["croupier_queue_commands",] == 0
    assert shown["croupier_ledgers",] == 1
    assert shown["croupier_live_tables",] == 1


async def test_an_open_round_ages_until_it_is_void(server, api):
    main = ("ledger", "main")

    async def shown():
        server.take_gauges()
        samples = await scrape(server)
        names = ("croupier_ledger_open_rounds", "croupier_ledger_oldest_round_age_seconds")
        return tuple(samples[name, main] for name in names)

    before, _ = await shown()
    await api.open("t2")
    await api.post("anna", 1000, table="t2")
    opened, age = await shown()
    assert opened == before + 1
    assert 0 < age < (await shown())[1]
    for table_id in ("t1", "t2"):
        table = await api.table(table_id)
        if table.round_open:
            void = admin_pb2.VoidRoundRequest(
                table=table.name, round=table.round, reason="late", request_id=f"void-{table_id}"
            )
            await api.admin.VoidRound(void)
    assert await shown() == (0, 0)
