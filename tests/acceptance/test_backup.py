"""The drill: copied while it is played, put back elsewhere, replayed whole, and played on."""

from __future__ import annotations

import asyncio
import json

import pytest

from croupier.services.client import CallRefused, Client, Opening, Turn, account_name, table_name
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.redis_server import redis_server
from tests.support.workers import Load

LEDGER = "casino"
TABLES = ("t1", "t2")
BACKUPS = 3
BETWEEN = 200


def manifest(folder, ledger):
    return json.loads((folder / f"{ledger}.manifest.json").read_text())


async def run(*words):
    ran = await asyncio.to_thread(croupier, *words)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


async def furnish(client):
    """Open tables at which the banker throws without end."""
    await client.admin.create_ledger(LEDGER)
    for table in TABLES:
        seats = (f"anna-{table}", f"bert-{table}")
        for player in seats:
            await client.accounts.deposit(account_name(LEDGER, f"player:{player}"), "EUR", 1000)
        await client.tables.open(LEDGER, table, Opening("ceelo_bank", seats, "EUR"))
        name = table_name(LEDGER, table)
        await client.play.post_bank(Turn(name, 1, seats[0]), 100)
        await client.play.fade(Turn(name, 1, seats[1]), 100)


def asking(client):
    """Return what asks for what a request id says, always the same."""

    async def ask(request_id):
        *_, member, number = request_id.split(".")
        table = TABLES[int(member) % 2]
        if int(number) % 4 == 0:
            account = account_name(LEDGER, f"player:bert-{table}")
            deposited = await client.accounts.deposit(account, "EUR", 7, request_id=request_id)
            return deposited.receipt
        turn = Turn(table_name(LEDGER, table), 1, f"anna-{table}")
        dealt = ("dealer", "kim")
        return await client.play.roll(turn, (1, 2, 4), dealt, request_id=request_id)

    return ask


async def replayed(client, ledger):
    """Replay every table of a ledger and return how many there are."""
    count = 0
    async for table in client.tables.list(ledger):
        findings = [one async for step in client.audit.replay(table.name) for one in step.findings]
        assert findings == []
        count += 1
    books = await client.accounts.trial_balance(ledger)
    assert {currency.sum for currency in books.currencies} == {0}
    return count


@pytest.fixture
def data(tmp_path):
    """A folder with a ledger in which every game was played."""
    folder = tmp_path / "data"
    assert croupier("demo", f"--data={folder}").returncode == 0
    return folder


@pytest.mark.sqlite("its files are copied")
async def test_the_drill(data, tmp_path):
    copies = [tmp_path / f"backup-{number}" for number in range(BACKUPS)]
    acknowledged_before = []
    with ServerProcess(data) as server:
        async with Client(server.address) as client:
            await furnish(client)
            load = Load("load", asking(client))
            for folder in copies:
                await load.answers(BETWEEN)
                acknowledged_before.append(dict(load.acknowledged))
                await run("backup", f"--data={data}", f"--to={folder}")
            await load.answers(BETWEEN)
            await load.stop()
            assert load.ends == []
            log = [event async for event in client.audit.events(LEDGER)]
        assert server.stop() == 0

    positions = [manifest(folder, LEDGER)["position"] for folder in copies]
    assert positions == sorted(set(positions))
    assert positions[-1] < len(log)
    for folder, acknowledged, position in zip(copies, acknowledged_before, positions, strict=True):
        assert not (folder / "draw.key").exists()
        # What was acknowledged before it began is in it.
        assert max(one.position for one in acknowledged.values()) <= position

    fresh, newest = tmp_path / "fresh", copies[-1]
    said = await run("restore", f"--from={newest}", f"--data={fresh}")
    assert manifest(newest, LEDGER)["recorded_time"] in said
    assert "no draw.key came with it" in said
    with ServerProcess(fresh) as server:
        async with Client(server.address) as client:
            for ledger in ("demo", LEDGER):
                shown, told = await client.admin.get_ledger(ledger), manifest(newest, ledger)
                assert (shown.position, shown.root.hex()) == (told["position"], told["root"])
            assert await replayed(client, "demo") >= 5
            assert await replayed(client, LEDGER) == len(TABLES)
            assert [e async for e in client.audit.events(LEDGER)] == log[: positions[-1]]
            await played_on(client, load.acknowledged, positions[-1])
            assert await replayed(client, LEDGER) == len(TABLES)
        assert server.stop() == 0


async def played_on(client, acknowledged, position):
    """Ask for everything once more: what the copy has keeps its receipt, the rest is new."""
    ask, new = asking(client), 0
    for request_id, receipt in acknowledged.items():
        again = await ask(request_id)
        if receipt.position <= position:
            assert again == receipt
        else:
            new += 1
            assert again.position == position + new
    assert new > 0
    assert (await client.admin.get_ledger(LEDGER)).position == position + new


@pytest.mark.sqlite("its file is replaced")
async def test_a_process_that_saw_the_newer_log_fences_an_older_copy_put_in_its_place(tmp_path):
    data, copies = tmp_path / "data", tmp_path / "copies"
    with ServerProcess(data) as server:
        async with Client(server.address) as client:
            await client.admin.create_ledger(LEDGER)
            account = account_name(LEDGER, "player:anna")
            await client.accounts.deposit(account, "EUR", 5, request_id="before")
            await run("backup", f"--data={data}", f"--to={copies}")
            await client.accounts.deposit(account, "EUR", 7, request_id="after")
            for path in data.glob(f"{LEDGER}.db*"):
                path.unlink()
            await run("restore", f"--from={copies}", f"--data={data}")
            with pytest.raises(CallRefused) as caught:
                await client.accounts.deposit(account, "EUR", 7, request_id="next")
            assert caught.value.reason == "LEDGER_FENCED"
            ledger = await client.admin.get_ledger(LEDGER)
            assert "another was put in its place" in ledger.fenced
    # So does every process that starts on the folder, until an operator accepts what is lost.
    with ServerProcess(data) as server:
        async with Client(server.address) as client:
            ledger = await client.admin.get_ledger(LEDGER)
            assert "the head went back from 3 to 2" in ledger.fenced
            words = ("--accept=2", "--reason=the disk died", f"--address={server.address}")
            await run("unfence", LEDGER, *words)
            again = await client.accounts.deposit(account, "EUR", 7, request_id="after")
            assert again.account.balance == 12
    # One that never saw the ledger cannot know: position and root tell whoever wrote them down.
    elsewhere = tmp_path / "elsewhere"
    await run("restore", f"--from={copies}", f"--data={elsewhere}")
    with ServerProcess(elsewhere) as server:
        async with Client(server.address) as client:
            ledger = await client.admin.get_ledger(LEDGER)
            said = manifest(copies, LEDGER)
            assert (ledger.fenced, ledger.position, ledger.root.hex()) == ("", 2, said["root"])
            log = [event.request_id async for event in client.audit.events(LEDGER)]
            assert "before" in log
            assert "after" not in log


@pytest.mark.sqlite("what is put back is its file")
async def test_a_ledger_in_redis_is_copied_while_it_is_played_and_put_back_as_a_file(tmp_path):
    copies, fresh = tmp_path / "copies", tmp_path / "fresh"
    with redis_server() as redis:
        engine = f"--engine={redis.url}"
        with ServerProcess(tmp_path / "data", engine) as server:
            async with Client(server.address) as client:
                await furnish(client)
                load = Load("load", asking(client))
                await load.answers(BETWEEN)
                before = dict(load.acknowledged)
                said = await run("backup", engine, f"--data={tmp_path / 'data'}", f"--to={copies}")
                assert f"ledger {LEDGER} to position" in said
                await load.answers(BETWEEN)
                await load.stop()
                assert load.ends == []
                log = [event async for event in client.audit.events(LEDGER)]
            assert server.stop() == 0
    position = manifest(copies, LEDGER)["position"]
    assert manifest(copies, LEDGER)["engine"] == "redis"
    assert max(one.position for one in before.values()) <= position < len(log)
    await run("restore", f"--from={copies}", f"--data={fresh}")
    with ServerProcess(fresh) as server:
        async with Client(server.address) as client:
            shown = await client.admin.get_ledger(LEDGER)
            assert shown.root.hex() == manifest(copies, LEDGER)["root"]
            assert [e async for e in client.audit.events(LEDGER)] == log[:position]
            assert await replayed(client, LEDGER) == len(TABLES)
            ask = asking(client)
            for request_id, receipt in before.items():
                again = await ask(request_id)
                assert list(again.events) == list(receipt.events)
            assert (await client.admin.get_ledger(LEDGER)).position == position


async def test_the_draw_key_goes_along_when_asked_for(data, tmp_path):
    copies, fresh = tmp_path / "copies", tmp_path / "fresh"
    said = await run("backup", f"--data={data}", f"--to={copies}", "--include-draw-key")
    assert "who can read it knows the dice" in said
    await run("restore", f"--from={copies}", f"--data={fresh}")
    assert (fresh / "draw.key").read_bytes() == (data / "draw.key").read_bytes()


def test_one_ledger_that_cannot_be_copied_keeps_no_other_from_it(data, tmp_path):
    (data / "broken.db").write_bytes(b"no database" * 1000)
    ran = croupier("backup", f"--data={data}", f"--to={tmp_path / 'copies'}")
    assert ran.returncode == 1
    assert "broken: cannot be copied: file is not a database" in ran.stderr
    assert "ledger demo to position" in ran.stdout
    assert sorted(path.name for path in (tmp_path / "copies").iterdir()) == [
        "demo.db",
        "demo.manifest.json",
    ]


@pytest.mark.parametrize(
    "words, said",
    [
        (("backup", "--data=nowhere", "--to=copies"), "nowhere is no folder"),
        (("backup", "--data=.", "--to=copies"), ". has no ledgers"),
        (("backup", "--data=.", "--to=copies", "--ledger=x"), ". has no ledger x"),
        (("backup", "--engine=paper:x", "--to=copies"), "--engine: an engine is sqlite:PATH"),
        (("backup", "--engine=sqlite:nowhere", "--to=copies"), "nowhere is no folder"),
        (("restore", "--from=nowhere", "--data=fresh"), "nowhere is no folder"),
        (("restore", "--from=.", "--data=fresh"), ". has no copy of a ledger"),
        (("restore", "--from=.", "--data=fresh", "--ledger=x"), ". has no copy of x"),
    ],
)
def test_what_is_not_there_is_said_and_nothing_is_made(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    ran = croupier(*words)
    assert ran.returncode == (2 if said.startswith("--engine") else 1)
    assert ran.stderr.startswith(said)
    assert not list(tmp_path.glob("*/*"))
