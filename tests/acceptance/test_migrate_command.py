"""`croupier migrate`: a ledger moves to another engine, and is the same there."""

from __future__ import annotations

import pytest

from croupier.services.client import Client, account_name
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.serving import Client as Caller
from tests.support.stories import furnish, play_round

pytestmark = pytest.mark.sqlite("it moves between folders")


@pytest.fixture
async def left(tmp_path):
    """A ledger that was played and is served no more: what it said of itself at the end."""
    with ServerProcess(tmp_path / "old") as server:
        caller = Caller(server.address)
        await furnish(caller)
        await play_round(caller)
        await caller.channel.close()
        async with Client(server.address) as client:
            said = await client.admin.get_ledger("casino")
        assert server.stop() == 0
    return said


def migrate(tmp_path, **changes):
    words = {"from": f"sqlite:{tmp_path / 'old'}", "ledger": "casino"}
    words |= {"to": f"sqlite:{tmp_path / 'new'}"} | changes
    return croupier("migrate", *(word for one, of in words.items() for word in (f"--{one}", of)))


async def test_a_ledger_moves_with_its_root_and_its_money(tmp_path, left):
    run = migrate(tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    events, requests, root = (line.split() for line in run.stdout.splitlines())
    assert events == ["events", str(left.position)]
    assert int(requests[-1]) > 0
    assert root == ["root", f"{left.root.hex()},", "recomputed", "on", "both", "sides"]
    with ServerProcess(tmp_path / "new") as server:
        async with Client(server.address) as client:
            assert await client.admin.get_ledger("casino") == left
            account = account_name("casino", "player:bela")
            await client.accounts.deposit(account, "EUR", 5)


async def test_what_is_there_already_is_left_alone(tmp_path, left):
    assert migrate(tmp_path).returncode == 0
    run = migrate(tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert "ledger casino was not copied: the target has this ledger already" in run.stderr


@pytest.mark.parametrize(
    "changes, code, said",
    [
        ({"ledger": "../casino"}, 2, "'../casino' is no ledger's id"),
        ({"from": "nowhere"}, 2, "--from: an engine is sqlite:PATH"),
        ({"from": "sqlite:"}, 2, "--from: sqlite:PATH names a folder"),
        ({"to": "paper:x"}, 2, "--to: an engine is sqlite:PATH"),
        ({"from": "sqlite:no/such/folder"}, 2, "no/such/folder is no folder"),
        ({"ledger": "another"}, 1, "ledger another was not copied: the source has no such ledger"),
    ],
)
async def test_what_cannot_be_copied_is_said_and_nothing_is_made(
    tmp_path, left, changes, code, said
):
    run = migrate(tmp_path, **changes)
    assert (run.returncode, run.stdout) == (code, "")
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert not list((tmp_path / "old").glob("another*"))
    assert not list(tmp_path.glob("new/*.db"))
