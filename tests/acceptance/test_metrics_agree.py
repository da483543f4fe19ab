"""Metrics tell the truth: every counter equals what a replay of the log gives."""

from __future__ import annotations

import asyncio
from collections import Counter
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from croupier.services.config import Settings
from croupier.services.server import Server
from croupier.v1 import admin_pb2
from tests.support.api import LEDGER, Api

GAME = "ceelo_bank"


async def scrape(server):
    """Return every sample of the HTTP endpoint, by name and labels."""
    url = f"http://127.0.0.1:{server.metrics_port}/metrics"
    text = await asyncio.to_thread(lambda: urlopen(url).read().decode())
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def replayed(log):
    """Return what the counters must be, from the log alone."""
    expected = Counter()
    commands = set()
    for event in log:
        game = GAME if event.stream.startswith("tables/") else ""
        kind = event.WhichOneof("payload")
        commands.add((event.caller, event.request_id))
        expected["croupier_events_total", ("game", game), ("kind", kind)] += 1
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
                name = "croupier_withdrawals_minor_units_total"
            expected[name, *labels] += posting.amount
        won = event.paid_out.winnings + event.paid_out.top_up
        if won:
            labels = (("currency", event.postings[0].currency), ("game", game))
            expected["croupier_winnings_minor_units_total", *labels] += won
    expected["croupier_commands_total",] = len(commands)
    return expected


async def play(api):
    """Play rounds of which every kind of event comes, with refusals and a retry in between."""
    await api.create()
    for player in ("anna", "bert", "cleo", "dora"):
        await api.deposit(player, 50_000)
    await api.withdraw("dora", 123)
    await api.open("t1", payout="multiplied")
    await api.post("anna", 3000, request_id="post")
    await api.post("anna", 3000, request_id="post")
    with pytest.raises(grpc.aio.AioRpcError):
        await api.fade("cleo", 1)
    for player in ("bert", "cleo"):
        await api.fade(player, 1000)
    await api.decline("dora")
    await api.roll("anna", 1, 2, 4)
    await api.roll("anna", 4, 4, 2)
    await api.roll("bert", 1, 1, 1)
    await api.roll("cleo", 5, 5, 2)


async def test_every_counter_equals_a_replay_of_the_log(tmp_path):
    settings = Settings(listen="127.0.0.1:0", metrics_listen="127.0.0.1:0", data=tmp_path)
    async with (
        Server(settings) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        api = Api(channel)
        await play(api)
        log = await api.log()
        server.take_gauges()
        samples = await scrape(server)
        counted = {
            key: value
            for key, value in samples.items()
            if key[0].endswith("_total")
            and key[0].removeprefix("croupier_").split("_")[0]
            in ("events", "stakes", "payouts", "winnings", "deposits", "withdrawals", "commands")
        }
        assert counted == dict(replayed(log))
        head = await api.admin.GetLedger(admin_pb2.GetLedgerRequest(name=LEDGER))
        in_ledger = ("ledger", "main")
        assert samples["croupier_ledger_head_position", in_ledger] == head.ledger.position
        balance = ("croupier_ledger_trial_balance_minor_units", ("currency", "EUR"), in_ledger)
        assert samples[balance] == 0
        assert samples["croupier_queue_commands",] == 0
        refused = [("code", "FAILED_PRECONDITION"), ("method", "PlayService/Play")]
        assert samples["croupier_calls_total", *refused] == 1
        assert samples["croupier_refusals_total", ("reason", "NOT_YOUR_TURN")] == 1
        played = [("code", "OK"), ("method", "PlayService/Play")]
        rounds = sum(event.stream == "tables/t1" for event in log)
        commands = {event.request_id for event in log if event.stream == "tables/t1"}
        # Every command of the table but its opening came by Play, and one of them twice.
        assert samples["croupier_calls_total", *played] == len(commands) - 1 + 1
        assert rounds > len(commands)
