"""`croupier demo`: a person can follow it, and it fails where anything is not as it has to be."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from rich.console import Console
from typer.testing import CliRunner

from croupier.services.cli import app
from croupier.services.client import Client
from croupier.services.commands import demo as command
from croupier.services.demo.checks import (
    EVENTS,
    PAYOUTS,
    check_metrics,
    check_replay,
    check_trial_balance,
    count,
)
from croupier.services.demo.narrate import Narrator
from croupier.services.demo.playing import compare
from croupier.services.demo.run import MATCHES, demonstrate
from croupier.services.demo.sessions import DRAWN, FADING, SESSIONS, STANDING
from croupier.v1 import accounts_pb2, audit_pb2, events_pb2, tables_pb2
from tests.support.processes import COMMAND
from tests.support.serving import serving

TIMEOUT_S = 60

KEY_LINES = (
    "seats, clockwise: anna > bert > cleo > dora > anna",
    "balances before: anna ",
    "anna banks 100.00",
    "dora fades 60.00",
    "anna throws ⚃⚄⚅ 4-5-6: four-five-six (read by dealer kim)",
    "dora loses 60.00 to the bank: the banker's automatic win, 1 to 1",
    "200.00 left in the bank; anna keeps the bank",
    "nets: anna +100.00, bert -20.00, cleo -20.00, dora -60.00 USD",
    "fading ends: 60.00 is covered, 40.00 is not",
    "anna gets back 40.00: nobody covered it",
    "the bank is broken: every bet won, so it passes to the left: bert banks",
    "anna banks 70.00 (60.00 that stood + 10.00 added)",
    "anna throws ⚀⚂⚄ 1-3-5: nothing, so again (read by dealer kim)",
    "cleo gets back 20.00: equal points, a push",
    "anna banks 30.00, with 120.00 in reserve for wins beyond it",
    "dora is paid 50.00 and his 10.00 back: triples, 5 to 1, 50.00 of it beyond the bank",
    "jens keeps the bank",
    "house banks with 1 000.00",
    "the light goes on: place your bets",
    "bert bets 2.00 on three armies 🐟 fish (bet 2)",
    "the cup opens on 🐟 fish 🔴, 🐟 fish 🔴, 🐓 rooster 🔴: total 8 (read by dealer kim)",
    "cleo is paid 20.00 and his 1.00 back: triple colour 🔴 red, 20 to 1",
    "the throw is void: a die leans on the rim; nobody wins or loses",
    "the cup is covered; these bets stand: 5, 6",
    "anna loses 3.00 on small",
    "dora is paid 6.00 and his 1.00 back: total 12, 6 to 1",
    "jens passes the bank to his left: karl banks",
    "anna antes 5.00",
    "shoot-out 1: anna, bert, cleo and dora share the best throw, point 5; only they throw again",
    "shoot-out 2: cleo and dora share the best throw, point 4; only they throw again",
    "cleo loses his ante of 5.00 to the pot",
    "dora takes 20.00 from the pot, 5.00 of it his own: the best throw",
    "nets: anna -5.00, bert +15.00, cleo -5.00, dora -5.00 EUR",
    "anna and bert are equal and throw again for the places they share",
    "the rolling order is dora, bert, anna, cleo",
    "bert throws ⚃⚄⚅ 4-5-6: High Storm (read by dealer kim)",
    "bert chooses the Death Roll",
    "Death Roll: trips of 5 or more, or a Storm above 5; who throws neither is out, bert is safe",
    "cleo is out with a Low Storm",
    "bert throws ⚅⚀⚄ 6-1-5: a Storm of 4 (read by dealer kim)",
    "bert takes 40.00 from the pot, 10.00 of it his own: the last player left in the game",
    "Royal Casino, two players: the service shuffles",
    "the service commits to a draw: ",
    "anna deals hand 1, from the deck committed to",
    "deal 6 of hand 1: bert ",
    "the draw is revealed: ",
    " wins: ",
    "anna deals hand 1, from a deck shuffled by device shuffler-1",
    "side 1 cards 3, spades 1, Big Casino 2, Little Casino 1, aces 2, from 0 to 9",
    "bert and dora win: the target is reached",
    "dora takes 10.00 from the pot, 5.00 of it his own: the target is reached",
    "nets: anna -5.00, bert +5.00, cleo -5.00, dora +5.00 EUR",
    "(drawn by the service)",
    "agrees    trial balance at position ",
    "the counters are the log's",
    "all is as it has to be",
)


def play(*flags, **how):
    return subprocess.run(
        [*COMMAND, "demo", *flags],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        **how,
    )


def until(lines, last):
    """Yield lines up to the one that holds `last`."""
    for line in lines:
        yield line
        if last in line:
            return


def test_it_plays_checks_and_goes_on_with_the_same_ledger(tmp_path):
    first = play(f"--data={tmp_path}")
    again = play(f"--data={tmp_path}")
    for run in (first, again):
        assert (run.returncode, run.stderr) == (0, "")
        assert [line for line in KEY_LINES if line not in run.stdout] == []
        assert "DISAGREES" not in run.stdout
    keys = [session.key for session in (*SESSIONS, *MATCHES, DRAWN)]
    for number, run in enumerate((first, again), start=1):
        opened = re.findall(r"table (\S+) opens", run.stdout)
        assert opened == [f"{key}-{number}" for key in keys]
    assert "ledger demo is new" in first.stdout
    assert "ledger demo goes on after position" in again.stdout
    # Who has enough brings nothing.
    assert first.stdout.count("deposits") > again.stdout.count("deposits")


def test_it_shows_digits_where_a_terminal_has_no_faces_of_dice(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    run = play()
    assert run.returncode == 0
    assert "4-5-6: four-five-six" in run.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stays_until_interrupted(tmp_path, number):
    with subprocess.Popen(
        [
            *COMMAND,
            "demo",
            "--stay",
            f"--data={tmp_path}",
            "--listen=127.0.0.1:0",
            "--metrics-listen=127.0.0.1:0",
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            said = list(until(process.stdout, "GetTrialBalance"))
            (health,) = (line for line in said if line.startswith("try"))
            probe = [*COMMAND, "health", "--address", health.split()[-1]]
            serving = subprocess.run(
                probe, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
            process.send_signal(number)
            rest, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    assert process.returncode == 0
    assert (serving.returncode, serving.stdout) == (0, "SERVING\n")
    assert "stopping" in rest
    said = [line.rstrip() for line in said]
    (metrics,) = (line for line in said if line.startswith("metrics  http://127.0.0.1:"))
    at = metrics.removeprefix("metrics  http://").removesuffix("/metrics")
    assert f"watch    make dashboards METRICS={at}" in said


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        for flag in ("--listen", "--metrics-listen"):
            run = play(f"--data={tmp_path}", f"{flag}={address}")
            assert run.returncode == 1
            assert address in run.stderr
            assert "Traceback" not in run.stderr
        assert command._free(address) == command.ANY


@pytest.mark.parametrize("address", ["0.0.0.0:0", "nowhere"])
def test_it_listens_on_loopback_only(address):
    run = play(f"--listen={address}")
    assert run.returncode == 2
    assert address in run.stderr
    assert "Traceback" not in run.stderr


# --- what has to fail ----------------------------------------------------------------------------


def tampered():
    """Return a session of which another outcome is expected than comes of it."""
    (one,) = FADING.rounds
    nets = {**one.expected.nets, "bert": -1_999}
    return replace(FADING, rounds=(replace(one, expected=replace(one.expected, nets=nets)),))


async def test_another_outcome_than_expected_is_told(tmp_path, capsys):
    async with serving(tmp_path, metrics_listen="127.0.0.1:0") as served:
        server = served.server
        addresses = (f"127.0.0.1:{port}" for port in (server.port, server.metrics_port))
        narrator = Narrator(Console(file=sys.stdout, width=100, highlight=False))
        wrong = await demonstrate(server, *addresses, narrator, [tampered()])
    (one,) = wrong
    assert "fading-1: nets is" in one
    assert "-1999" in one
    assert f"          {one}" in capsys.readouterr().out


def test_another_outcome_than_expected_is_exit_code_1(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "demonstrate", partial(demonstrate, sessions=[tampered()]))
    result = CliRunner().invoke(app, ["demo", f"--data={tmp_path}"])
    assert result.exit_code == 1
    assert "1 disagreements" in result.output


@pytest.mark.parametrize(
    "field, value",
    [
        ("nets", {"anna": 1}),
        ("bank_left", 1),
        ("next_banker", "bert"),
        ("rule", "hot"),
        ("uncovered", 1),
        ("carried", 1),
        ("beyond", 1),
        ("winner", "anna"),
        ("shoot_outs", 1),
    ],
)
def test_every_field_of_an_outcome_is_compared(field, value):
    expected = STANDING.rounds[0].expected
    assert compare(expected, expected) == []
    (wrong,) = compare(expected, replace(expected, **{field: value}))
    assert wrong.startswith(f"{field} is {value} where ")


async def replayed(tmp_path):
    """Return what is known of a played table: its replay, itself, balances before and after."""
    async with serving(tmp_path) as served:
        address = f"127.0.0.1:{served.server.port}"
        narrator = Narrator(Console(quiet=True))
        assert await demonstrate(served.server, address, "", narrator, [FADING]) == []
        async with Client(address) as client:
            name = "ledgers/demo/tables/fading-1"
            steps = [step async for step in client.audit.replay(name)]
            table = await client.tables.get(name)
    before = dict.fromkeys(FADING.seats, 20_000)
    after = {"anna": 30_000, "bert": 18_000, "cleo": 18_000, "dora": 14_000}
    return steps, table, before, after


async def test_what_differs_from_the_replay_is_told(tmp_path):
    steps, table, before, after = await replayed(tmp_path)
    assert check_replay(steps, table, before, after) == []
    assert check_replay([], table, before, after) == ["nothing was replayed"]
    other = tables_pb2.Table()
    other.CopyFrom(table)
    other.seats[0].standing = "won"
    assert check_replay(steps, other, before, after) == [
        "the state replayed is not the state served"
    ]
    assert check_replay(steps, table, before, {**after, "bert": 18_001}) == [
        "the balance of bert changed by -1999, his postings by -2000"
    ]
    found = audit_pb2.ReplayTableResponse()
    found.CopyFrom(steps[-1])
    found.findings.append("something was changed")
    assert check_replay([*steps[:-1], found], table, before, after) == [
        f"version {table.version}: something was changed"
    ]
    moved = audit_pb2.ReplayTableResponse()
    moved.CopyFrom(steps[-1])
    moved.event.postings.add(
        source="escrow:fading-1", destination="house", currency="USD", amount=5
    )
    assert check_replay([*steps[:-1], moved], table, before, after) == [
        "escrow holds -5, at risk is 0"
    ]


def test_a_trial_balance_that_is_not_0_is_told():
    balance = accounts_pb2.GetTrialBalanceResponse()
    balance.currencies.add(currency="EUR", sum=0)
    assert check_trial_balance(balance) == []
    balance.currencies.add(currency="USD", sum=-3)
    assert check_trial_balance(balance) == ["the balances in USD sum to -3, not to 0"]


def test_counters_that_are_not_the_logs_are_told():
    paid = events_pb2.Event(stream="tables/t1", paid_out={"returned": 30})
    paid.postings.add(source="escrow:t1", destination="player:anna", currency="EUR", amount=30)
    counted = count([paid], {"tables/t1": "ceelo_bank"})
    assert counted == Counter(
        {(EVENTS, ("paid_out", "ceelo_bank")): 1, (PAYOUTS, ("ceelo_bank", "EUR")): 30}
    )
    assert check_metrics(counted, dict(counted)) == []
    assert check_metrics(counted, {**counted, (EVENTS, ("paid_out", "ceelo_bank")): 2}) == [
        f"{EVENTS} of paid_out, ceelo_bank is 2, the log has 1"
    ]
    assert len(check_metrics(counted, {})) == 2
    assert len(check_metrics({}, counted)) == 2
