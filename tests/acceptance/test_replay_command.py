"""`croupier replay` and `croupier health`, as processes that ask a server over the wire."""

from __future__ import annotations

import json
import subprocess

import pytest
from typer.testing import CliRunner

from croupier.services.cli import app
from croupier.services.client import Client, Opening, Turn, account_name, table_name
from croupier.services.rpc.callers import Role, new_token
from croupier.v1 import audit_pb2
from tests.support.processes import COMMAND, ServerProcess

TIMEOUT_S = 60
TABLE = table_name("casino", "t1")
NOBODY = "127.0.0.1:1"


def croupier(*words, **how):
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **how
    )


async def furnish(address, token=None):
    """Play a round in which bert wins by a triple."""
    async with Client(address, token) as client:
        await client.admin.create_ledger("casino")
        for player in ("anna", "bert"):
            account = account_name("casino", f"player:{player}")
            await client.accounts.deposit(account, "EUR", 20_000)
        await client.tables.open("casino", "t1", Opening("ceelo_bank", ("anna", "bert"), "EUR"))
        await client.play.post_bank(Turn(TABLE, 1, "anna"), 1_000)
        await client.play.fade(Turn(TABLE, 1, "bert"), 600)
        await client.play.roll(Turn(TABLE, 1, "anna"), (3, 3, 4), ("dealer", "kim"))
        await client.play.roll(Turn(TABLE, 1, "bert"), (2, 2, 2), ("dealer", "kim"))


@pytest.fixture
async def address(tmp_path):
    with ServerProcess(tmp_path / "data") as server:
        await furnish(server.address)
        yield server.address


async def test_it_tells_a_table_in_words(address):
    run = croupier("replay", "casino", "t1", "--address", address)
    assert (run.returncode, run.stderr) == (0, "")
    for line in (
        "table t1 opens: ceelo_bank (finnish) in EUR; seats clockwise anna, bert; anna banks",
        "bert fades 6.00",
        "posting  player:bert -> escrow:t1  6.00 EUR",
        "anna gets back 4.00: nobody covered it",
        "anna throws ⚂⚂⚃ 3-3-4: point 4 (read by dealer kim)",
        "bert throws ⚁⚁⚁ 2-2-2: three 2s (read by dealer kim)",
        "bert is paid 6.00 and his 6.00 back: triples, 1 to 1",
        "state    BANK_OPEN, round 2 not begun, at risk 0.00 EUR; next: bert",
        " events replayed, no findings",
    ):
        assert line in run.stdout
    assert "FINDING" not in run.stdout


async def test_it_stops_after_a_version(address):
    run = croupier("replay", "casino", "t1", "--address", address, "--to-version", "3")
    assert run.returncode == 0
    assert run.stdout.splitlines()[-1] == "3 events replayed, no findings"
    assert "anna banks 10.00" in run.stdout
    assert "bert fades" not in run.stdout


async def test_it_gives_json_a_line_for_each_event(address):
    run = croupier("replay", "casino", "t1", "--address", address, "--json")
    assert run.returncode == 0
    steps = [json.loads(line) for line in run.stdout.splitlines()]
    assert [step["event"]["version"] for step in steps] == [
        str(version) for version in range(1, len(steps) + 1)
    ]
    assert steps[0]["event"]["table_opened"]["seats"] == ["anna", "bert"]
    assert steps[-1]["table"]["phase"] == "BANK_OPEN"


@pytest.mark.parametrize(
    "ledger, table, said",
    [
        ("casino", "nope", "TABLE_NOT_FOUND: table 'nope' does not exist"),
        ("nope", "t1", "LEDGER_NOT_FOUND: ledger 'nope' does not exist"),
        ("casino", "no pe", "INVALID_ID: 'no pe' is not an id of a table"),
    ],
)
async def test_what_does_not_exist_is_told_without_a_traceback(address, ledger, table, said):
    run = croupier("replay", ledger, table, "--address", address)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(said)
    assert len(run.stderr.splitlines()) == 1


async def test_it_carries_a_token(tmp_path):
    tokens = tmp_path / "tokens.json"
    operator = new_token(tokens, "floor", [Role.OPERATOR], None)
    auditor = new_token(tokens, "books", [Role.AUDITOR], None)
    with ServerProcess(tmp_path / "data", f"--tokens={tokens}") as server:
        await furnish(server.address, operator)
        words = ("replay", "casino", "t1", "--address", server.address)
        allowed = croupier(*words, "--token", auditor)
        by_environment = croupier(*words, env={"CROUPIER_TOKEN": auditor, "PYTHONUTF8": "1"})
        stranger = croupier(*words)
        health = croupier("health", "--address", server.address)
    assert (allowed.returncode, by_environment.returncode) == (0, 0)
    assert allowed.stdout == by_environment.stdout
    assert stranger.returncode == 1
    assert stranger.stderr.startswith("TOKEN_MISSING: ")
    assert health.returncode == 0


def test_a_finding_is_exit_code_1(monkeypatch):
    async def replay(self, table, *, to_version=0, to_time=None):
        step = audit_pb2.ReplayTableResponse(findings=["recorded 5 where settlement gives 6"])
        step.event.version = 1
        step.event.table_closed.table = "t1"
        step.table.currency = "EUR"
        yield step

    monkeypatch.setattr("croupier.services.client.audit.Audit.replay", replay)
    words = CliRunner().invoke(app, ["replay", "casino", "t1", "--address", NOBODY])
    assert words.exit_code == 1
    assert "FINDING  recorded 5 where settlement gives 6" in words.output
    assert "1 events replayed, 1 findings" in words.output
    as_json = CliRunner().invoke(app, ["replay", "casino", "t1", "--address", NOBODY, "--json"])
    assert as_json.exit_code == 1
    assert json.loads(as_json.output)["findings"] == ["recorded 5 where settlement gives 6"]


async def test_health_is_0_only_where_it_serves(address):
    served = croupier("health", "--address", address)
    assert (served.returncode, served.stdout) == (0, "SERVING\n")
    service = croupier("health", "--address", address, "--service", "croupier.v1.PlayService")
    assert service.returncode == 0
    unknown = croupier("health", "--address", address, "--service", "nope")
    nobody = croupier("health", "--address", NOBODY)
    for run in (unknown, nobody):
        assert (run.returncode, run.stdout) == (1, "")
        assert len(run.stderr.splitlines()) == 1
        assert "Traceback" not in run.stderr


def test_roots_that_cannot_be_read_are_told(tmp_path):
    run = croupier("health", "--root-certificates", str(tmp_path / "nope.pem"))
    assert run.returncode == 2
    assert run.stderr.startswith("root certificates: ")
