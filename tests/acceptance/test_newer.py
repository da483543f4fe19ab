"""Files that a newer program wrote, and files of something else: said clearly, left as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.services.audit.tree import leaf_hash
from croupier.services.ledger import book, deciding
from croupier.services.store.choosing import engines_of
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Commit, Head, RequestEntry
from croupier.v1 import events_pb2
from tests.support.api import Api, details
from tests.support.cli import croupier
from tests.support.engines import engine_of
from tests.support.ledgers import House, refused
from tests.support.processes import ServerProcess
from tests.support.snapshots import THROW, begun, limits


def state(folder):
    """Return every file of a folder with its bytes, but for the locks, which hold nothing."""
    locks = (".lock", ".next")
    files = (one for one in folder.iterdir() if one.is_file())
    return {one.name: one.read_bytes() for one in files if one.suffix not in locks}


async def of_format_two(folder, monkeypatch):
    """Let a program of tomorrow begin a ledger."""
    with monkeypatch.context() as tomorrow:
        for module in (deciding, book):
            tomorrow.setattr(module, "FORMAT_VERSION", 2)
        house = House(folder)
        await house.create()
        await house.deposit("anna", 1)
        house.close()


async def of_layout_one(folder, monkeypatch):
    house = House(folder)
    await house.create()
    house.close()
    with closing(sqlite3.connect(folder / "main.db")) as file:
        file.execute("PRAGMA user_version=1")


async def with_a_new_kind(folder, monkeypatch):
    """Let a program of tomorrow record an event in the table's stream."""
    await (await begun(folder, throws=300)).leave()
    levitate(SQLiteEngine(folder), "tables/t1")


def levitate(engine, stream):
    """Record an event of a kind that nobody knows today."""
    store = engine.open("main")
    head, version = store.head(), store.stream_version(stream)
    (last,) = store.records(head.position - 1, 1)
    event = events_pb2.Event(
        position=head.position + 1,
        stream=stream,
        version=version + 1,
        type="croupier.v1.Levitated",
        recorded_time=events_pb2.Event.FromString(last.state).recorded_time,
        caller="desk",
        request_id="levitate",
        request_digest=b"d" * 32,
    )
    payload = b"\xfa\x3f\x00"  # field 1023, a message without fields
    state = event.SerializeToString(deterministic=True) + payload
    record = type(last)(
        id=event.position,
        originator_id=stream,
        originator_version=event.version,
        topic=event.type,
        state=state,
    )
    request = RequestEntry("desk", "levitate", b"d" * 32, event.position, event.position)
    after = Head(head.frontier.append(leaf_hash(state)), head.recorded_us)
    store.commit([record], Commit(head, after, requests=[request]))
    store.close()


@pytest.mark.parametrize(
    "made, said",
    [
        (of_format_two, "ledger main: format 2 is newer than this program's, which is 1"),
        (of_layout_one, "ledger main: layout 1 is newer than this program's, which is 0"),
        (
            with_a_new_kind,
            "ledger main: position 309 holds 'croupier.v1.Levitated', which this program does not",
        ),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
async def test_a_newer_ledger_ends_the_start_and_is_left_as_it_is(
    tmp_path, monkeypatch, made, said, workers
):
    await made(tmp_path, monkeypatch)
    before = state(tmp_path)
    (tmp_path / "draw.key").write_bytes(b"k" * 32)
    ran = croupier(
        "serve",
        "--listen=127.0.0.1:0",
        "--metrics-listen=",
        f"--workers={workers}",
        f"--data={tmp_path}",
    )
    assert ran.returncode == 1
    assert said in ran.stderr
    assert "start the program that wrote it, or a newer one" in ran.stderr
    assert "Traceback" not in ran.stderr
    (tmp_path / "draw.key").unlink()
    assert state(tmp_path) == before


async def test_what_a_newer_process_writes_beside_this_one_fences_the_ledger(tmp_path):
    """As in a rolling upgrade that is turned back: what is served so far ends with a reason."""
    with ServerProcess(tmp_path) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            api = Api(channel)
            await api.create()
            await api.deposit("anna", 100)
            await api.open()
            with closing(engines_of(engine_of(tmp_path), {}, tmp_path)) as newer:
                levitate(newer, "tables/t1")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await api.deposit("anna", 1)
            info = details(caught.value)["ErrorInfo"]
            assert info.reason == Reason.LEDGER_FENCED
            assert (
                "'croupier.v1.Levitated', which this program does not know" in info.metadata["why"]
            )


async def looked_at(house):
    return house.ledger.table("t1")


async def listed(house):
    return house.ledger.tables("", 10)


async def played(house):
    return await house.play(THROW)


@pytest.mark.parametrize("ask", [looked_at, listed, played])
async def test_a_table_that_cannot_be_read_fences_and_is_no_fault_of_the_caller(tmp_path, ask):
    """From a snapshot a process begins without reading what was before."""
    await (await begun(tmp_path)).leave()
    levitate(SQLiteEngine(tmp_path), "tables/t1")
    with pytest.MonkeyPatch.context() as tomorrow:
        tomorrow.setattr(book, "kind_known", lambda event: True)
        house = House(tmp_path, limits=limits())
        for _ in range(400):
            await house.deposit("anna", 1)
        await house.leave()
    house = House(tmp_path)
    assert house.ledger.balance("player:anna", "EUR") > 400
    assert house.watcher.fenced == {}
    await refused(ask(house), Reason.LEDGER_FENCED)
    assert "does not know" in house.watcher.fenced["main"]
    house.close()


@pytest.mark.sqlite("its folder has the file")
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_something_else_is_not_made_a_ledger(tmp_path, mode):
    with closing(sqlite3.connect(tmp_path / "songs.db")) as file:
        file.execute(f"PRAGMA journal_mode={mode}")
        file.execute("CREATE TABLE songs (title TEXT)")
        file.commit()
    before = (tmp_path / "songs.db").read_bytes()
    with ServerProcess(tmp_path) as server:
        said = "".join(server.said)
        assert "NOT SERVED: songs: not a ledger: a database of songs" in said
        assert server.stop() == 0
    assert (tmp_path / "songs.db").read_bytes() == before
