"""Metrics tell the truth: every counter equals what a replay of the log gives.

Calls and refusals leave nothing in the log; they equal what the caller himself has counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from croupier.services.config import Settings
from croupier.services.server import Server
from croupier.v1 import admin_pb2
from tests.support.api import LEDGER, Api, details

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
    url = f"http://127.0.0.1:{server.metrics_port}/metrics"

    def get():
        with urlopen(url) as response:
            return response.read().decode()

    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(await asyncio.to_thread(get))
        for sample in family.samples
    }


def of(samples, *names):
    """Return the samples of some metrics."""
    return {key: value for key, value in samples.items() if key[0] in names}


def replayed(log):
    """Return what the counters must be, from the log alone."""
    expected = Counter()
    commands = set()
    for event in log:
        game = GAME if event.stream.startswith("tables/") else ""
        kind = event.WhichOneof("payload")
        commands.add((event.caller, event.request_id))
        expected["croupier_events_total", ("game", game), ("kind", kind)] += 1
        expected["croupier_commit_batch_events_sum",] += 1
        for posting in event.postings:
            labels = [("currency", posting.currency)]
            if posting.destination.startswith("escrow:"):
                labels.append(("game", game))
                name = "croupier_stakes_minor_units_total"
            elif posting.source.startswith("escrow:"):
                labels.append(("game", game))
                name = "croupier_payouts_minor_units_total"
            elif posting.source == "external":
                name = "croupier_deposits_minor_units_total"
            else:
                assert posting.destination == "external"
                name = "croupier_withdrawals_minor_units_total"
            expected[name, *labels] += posting.amount
        won = event.paid_out.winnings + event.paid_out.top_up
        if won:
            labels = (("currency", event.postings[0].currency), ("game", game))
            expected["croupier_winnings_minor_units_total", *labels] += won
    expected["croupier_commands_total",] = len(commands)
    expected["croupier_commit_batch_commands_sum",] = len(commands)
    return expected


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


async def test_every_counter_equals_a_replay_of_the_log(server, api):
    expected = replayed(await api.log())
    samples = await scrape(server)
    counters = {key[0] for key in samples if key[0].endswith("_total")}
    assert samples["croupier_commit_conflicts_total",] == 0
    expected["croupier_commit_conflicts_total",] = 0
    of_calls = {"croupier_calls_total", "croupier_refusals_total"}
    assert {name for name, *_ in expected if name.endswith("_total")} == counters - of_calls
    assert of(samples, *(name for name, *_ in expected)) == dict(expected)
    # The story tells what it should: money came, was risked, lost, won, handed back and left.
    kinds = {dict(labels)["kind"] for name, *labels in expected if name == "croupier_events_total"}
    assert kinds >= {"withdrawn", "bank_posted", "faded", "rolled", "collected", "paid_out"}
    assert expected["croupier_events_total", ("game", GAME), ("kind", "round_settled")] == 6


async def test_calls_and_refusals_equal_what_the_caller_counted(server, api, tally):
    samples = await scrape(server)
    names = ("croupier_calls_total", "croupier_call_seconds_count", "croupier_refusals_total")
    assert of(samples, *names) == dict(tally.counted)
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
    samples = await scrape(server)
    log = await api.log()
    ledger = (await api.admin.GetLedger(admin_pb2.GetLedgerRequest(name=LEDGER))).ledger
    main = ("ledger", "main")
    assert samples["croupier_ledger_head_position", main] == ledger.position == len(log)
    recorded_s = samples["croupier_ledger_head_time_seconds", main]
    assert recorded_s == pytest.approx(log[-1].recorded_time.ToMicroseconds() / 1_000_000)
    balance = "croupier_ledger_trial_balance_minor_units"
    assert of(samples, balance) == {(balance, ("currency", "EUR"), main): 0}
    assert samples["croupier_ledger_fenced", main] == 0
    assert samples["croupier_queue_commands",] == 0
    assert samples["croupier_ledgers",] == 1
    assert samples["croupier_live_tables",] == 1
