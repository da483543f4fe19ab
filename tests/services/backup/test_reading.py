"""A copy from the records alone: the same log, the same request ids, wherever pages end."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from threading import Thread

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.backup import reading
from croupier.services.backup.copying import BackupError, back_up, back_up_from
from croupier.services.backup.reading import read_out
from croupier.services.ledger.book import LogError
from croupier.services.ledger.whole import read_whole
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.sqlite_backup import opened_copy
from tests.support.ledgers import LEDGER, House, StoreEngine
from tests.support.snapshots import begun, execute

HEAD = 28


@pytest.fixture
async def data(tmp_path):
    folder = tmp_path / "data"
    await (await begun(folder, throws=20)).leave()
    return folder


def requests(path):
    return execute(path.parent, "SELECT * FROM requests ORDER BY first")


@pytest.mark.parametrize("page", [1, 2, 3, 7, 28, 1000])
async def test_it_is_the_same_log_with_the_same_requests(data, tmp_path, monkeypatch, page):
    monkeypatch.setattr(reading, "PAGE", page)
    copies = tmp_path / "copies"
    copies.mkdir()
    manifest = back_up_from(SQLiteEngine(data), LEDGER, copies)
    assert manifest.position == HEAD
    with (
        closing(SQLiteEngine(data).open(LEDGER)) as source,
        opened_copy(copies / f"{LEDGER}.db") as copy,
    ):
        assert copy.head() == source.head()
        assert copy.records(0, 100) == source.records(0, 100)
        read_whole(copy)
    assert requests(copies / f"{LEDGER}.db") == requests(data / f"{LEDGER}.db")
    other = tmp_path / "files"
    other.mkdir()
    assert back_up(data, LEDGER, other).root == manifest.root


class Growing:
    """A store to which somebody writes between two pages."""

    def __init__(self, store, grow):
        self._store = store
        self._grow = grow

    def __getattr__(self, name):
        return getattr(self._store, name)

    def records(self, after, limit):
        self._grow()
        return self._store.records(after, limit)


async def test_what_is_written_meanwhile_is_not_in_it(data, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 5)
    with closing(SQLiteEngine(data).open(LEDGER)) as source:
        head = source.head()
        growing = Growing(source, lambda: record_one_more(data))
        path = tmp_path / "copy.db"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        read_out(growing, path)
        assert source.head().position > head.position
    with opened_copy(path) as copy:
        assert read_whole(copy)[0] == head


def record_one_more(folder):
    """Record a deposit as another process does."""

    async def deposit():
        house = House(folder)
        await house.deposit("anna", 1)
        house.close()

    other = Thread(target=lambda: asyncio.run(deposit()))
    other.start()
    other.join()


@pytest.mark.parametrize(
    "change, said",
    [
        (
            "UPDATE stored_events SET state = CAST(state || 'x' AS BLOB) WHERE position = 12",
            "does not hold an event",
        ),
        ("DELETE FROM stored_events WHERE position = 12", "a position after"),
        ("DELETE FROM requests WHERE last = 12", "requests are in the log"),
    ],
)
async def test_a_log_that_is_not_whole_is_not_copied(data, tmp_path, change, said):
    for (name,) in execute(data, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        execute(data, f"DROP TRIGGER {name}")
    execute(data, change)
    copies = tmp_path / "copies"
    copies.mkdir()
    with pytest.raises((BackupError, LogError), match=said):
        back_up_from(SQLiteEngine(data), LEDGER, copies)
    assert list(copies.iterdir()) == []


async def test_an_engine_that_does_not_answer_leaves_nothing(data, tmp_path):
    class Away:
        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def records(self, after, limit):
            raise OperationalError("away")

    copies = tmp_path / "copies"
    copies.mkdir()
    engine = StoreEngine(data, Away)
    with pytest.raises(BackupError, match="main: cannot be copied: away"):
        back_up_from(engine, LEDGER, copies)
    with pytest.raises(BackupError, match="has no ledger elsewhere"):
        back_up_from(engine, "elsewhere", copies)
    assert list(copies.iterdir()) == []
