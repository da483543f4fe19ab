"""A game is one folder: put in place, it is found, and works through the whole API."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.v1 import admin_pb2, audit_pb2, play_pb2, tables_pb2
from tests.support.processes import ServerProcess
from tests.support.serving import Client
from tests.support.stories import furnish, play, thrown

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/fixtures/games/high_die"
SEATS = ("anna", "bela", "carl")


@pytest.fixture
def with_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The domain as it is, with one folder more."""
    domain = tmp_path / "domain"
    shutil.copytree(ROOT / "domain", domain, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FOLDER, domain / "croupier/domain/games/high_die")
    path = [str(domain), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    return domain


async def test_a_game_in_a_folder_of_its_own_is_played_settled_and_replayed(
    with_the_game: Path, tmp_path: Path
):
    with ServerProcess(tmp_path / "data") as server:
        client = Client(server.address)
        games = (await client.ask(admin_pb2.GetServerInfoRequest())).games
        assert "high_die" in {one.code for one in games}
        await furnish(client)
        opening = tables_pb2.OpenTableRequest(
            parent="ledgers/casino",
            table_id="t1",
            game="high_die",
            options={"ante": {"int_value": 500}},
            seats=SEATS,
            currency="EUR",
            request_id="open",
        )
        table = (await client.ask(opening)).table
        allowed = {(one.player, one.command, one.least, one.most) for one in table.allowed}
        assert allowed == {(seat, "ante", 500, 500) for seat in SEATS}
        commands = [play("t1", seat, play_pb2.Ante(amount=500)) for seat in SEATS]
        dice = zip(("anna", "bela", "carl", "anna", "carl"), (6, 2, 6, 1, 3), strict=True)
        commands += [play("t1", player, thrown(die)) for player, die in dice]
        receipts = [(await client.ask(command)).receipt for command in commands]
        last = receipts[-1].events
        (paid,) = [one.paid_out for one in last if one.HasField("paid_out")]
        assert (paid.player, paid.returned, paid.winnings) == ("carl", 500, 1_000)
        assert last[-1].HasField("round_settled")
        steps = await client.ask(audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"))
        assert [finding for step in steps for finding in step.findings] == []
        await client.channel.close()
    # After a restart the table is there, from its events.
    with ServerProcess(tmp_path / "data") as server:
        client = Client(server.address)
        request = tables_pb2.GetTableRequest(name="ledgers/casino/tables/t1")
        assert (await client.ask(request)).table.round == 2
        await client.channel.close()


def test_what_every_game_owes_the_table_is_tried_on_it_too(with_the_game: Path):
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            "high_die",
            "tests/domain/test_every_game.py",
            "tests/services/store/test_snapshots.py",
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
