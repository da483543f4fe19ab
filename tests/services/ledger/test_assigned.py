"""What is assigned to a process stays open in it; of what is not, it keeps no more than needed."""

from __future__ import annotations

import asyncio
import gc
import shutil
from pathlib import Path

import psutil
import pytest

from croupier.domain.commands import PostBank
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import CreateLedger, Deposit
from croupier.services.store.lock import FileLock
from croupier.services.store.sqlite import SQLiteEngine
from tests.support.ledgers import LEDGER, House

OTHERS = [f"other-{number:02}" for number in range(20)]


class Process(House):
    """A process to which only `own` is assigned."""

    def __init__(self, folder: Path, *own: str):
        super().__init__(folder)
        self.ledgers.close()
        self.ledgers = Ledgers(
            SQLiteEngine(folder), self.watcher, self.clock, Limits(), lambda one: one in own
        )

    async def begin(self, ledger: str) -> None:
        await self.ledgers.create(ledger, self.request(CreateLedger(ledger)))

    def open(self) -> set[str]:
        return {ledger.id for ledger in self.ledgers}

    async def listed(self) -> list[str]:
        summaries, more = await self.ledgers.page("", 1000, None)
        assert not more
        return [one.id for one in summaries]


def open_files() -> int:
    """Return how many files this process has open, but for those that nobody holds any more."""
    gc.collect()
    return psutil.Process().num_fds()


@pytest.fixture
async def house(tmp_path):
    """A process that has `main`, in a folder with `main` and others."""
    first = Process(tmp_path)
    for ledger in (LEDGER, *OTHERS):
        await first.begin(ledger)
    first.close()
    process = Process(tmp_path, LEDGER)
    yield process
    process.close()


async def test_only_what_is_assigned_is_recovered(house):
    house.ledgers.recover()
    assert house.open() == {LEDGER}


async def test_what_is_not_assigned_is_opened_when_needed_and_closed_when_idle(house):
    house.ledgers.recover()
    before = open_files()
    for ledger in OTHERS:
        await house.ledgers.get(ledger).submit(house.request(Deposit("player:a", "EUR", 5)))
    await house.ledgers.drain()
    assert house.open() == {LEDGER, *OTHERS}
    assert house.ledgers.release_idle(60.0) == []
    assert house.ledgers.release_idle(0.0) == OTHERS
    assert house.open() == {LEDGER}
    assert open_files() <= before
    assert house.ledgers.get(OTHERS[0]).balance("player:a", "EUR") == 5


async def test_a_ledger_takes_seven_open_files(house):
    """As the guide to operations says."""
    before = open_files()
    for ledger in OTHERS:
        await house.ledgers.get(ledger).submit(house.request(Deposit("player:a", "EUR", 5)))
    assert open_files() - before <= 7 * len(OTHERS)


async def test_what_is_in_use_is_not_idle(house):
    other = house.ledgers.get(OTHERS[0])
    with other.in_use():
        assert house.ledgers.release_idle(0.0) == []
    assert house.ledgers.release_idle(0.0) == [OTHERS[0]]


async def test_what_waits_for_its_turn_is_not_idle_even_if_its_caller_left(tmp_path, house):
    other = house.ledgers.get(OTHERS[0])
    held = FileLock(tmp_path / f"{OTHERS[0]}.db")
    held.acquire()
    asked = asyncio.ensure_future(other.submit(house.request(Deposit("player:a", "EUR", 5))))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert house.ledgers.release_idle(0.0) == []
    held.release()
    held.close()
    await other.drain()
    assert house.ledgers.release_idle(0.0) == [OTHERS[0]]


async def test_a_replay_that_somebody_reads_slowly_keeps_its_ledger_open(tmp_path, house):
    house.ledgers.is_assigned = lambda one: False
    await house.deposit("anna", 100)
    await house.open_table()
    await house.play(PostBank("anna", 100))
    await house.ledgers.drain()
    events = house.ledger.table_events("t1")
    first = next(events)
    assert house.ledgers.release_idle(0.0) == []
    assert [first, *events] == list(house.ledger.table_events("t1"))
    assert house.ledgers.release_idle(0.0) == [LEDGER]


async def test_a_list_shows_what_is_not_assigned_and_leaves_none_of_it_open(house, monkeypatch):
    house.ledgers.recover()
    engine, opened = house.ledgers.engine, []
    monkeypatch.setattr(
        engine,
        "open",
        lambda ledger: opened.append(SQLiteEngine.open(engine, ledger)) or opened[-1],
    )
    before = open_files()
    assert await house.listed() == [LEDGER, *OTHERS]
    assert house.open() == {LEDGER}
    assert len(opened) == len(OTHERS)
    assert all(store.datastore.pool.closed for store in opened)
    assert open_files() <= before


async def test_a_list_says_the_same_of_a_ledger_that_is_open_and_one_that_is_not(house):
    closed, _ = await house.ledgers.page("", 1000, frozenset(OTHERS))
    opened = [house.ledgers.get(ledger).summary() for ledger in OTHERS]
    assert closed == opened
    assert (await house.ledgers.page("", 1000, frozenset(OTHERS)))[0] == opened
    assert {(one.head.position, one.format_version) for one in opened} == {(1, 1)}


async def test_a_list_has_pages_whoever_the_ledgers_are_assigned_to(house):
    first, more = await house.ledgers.page("", 5, None)
    assert ([one.id for one in first], more) == ([LEDGER, *OTHERS[:4]], True)
    rest, more = await house.ledgers.page(first[-1].id, 1000, None)
    assert ([one.id for one in rest], more) == (OTHERS[4:], False)


async def test_a_list_lets_others_have_their_turns(house):
    turns = []

    async def other():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    task = asyncio.ensure_future(other())
    await house.listed()
    task.cancel()
    assert len(turns) >= len(OTHERS)


async def test_a_list_leaves_out_what_has_not_begun_and_what_is_away(tmp_path, house):
    SQLiteEngine(tmp_path).open("empty").close()
    (tmp_path / "broken.db").write_bytes(b"this is no database, whatever its name says" * 100)
    assert await house.listed() == [LEDGER, *OTHERS]
    assert set(house.ledgers.not_served()) == {"broken"}


async def test_a_list_shows_why_a_ledger_of_another_process_does_not_look_right(tmp_path, house):
    store = SQLiteEngine(tmp_path).open(OTHERS[0])
    with store.datastore.transaction(commit=True) as cursor:
        cursor.execute("UPDATE head SET frontier = x''")
    store.close()
    summaries, _ = await house.ledgers.page("", 1, frozenset(OTHERS))
    assert [one.id for one in summaries] == [OTHERS[0]]
    assert summaries[0].fenced
    # What it has seen it does not forget.
    assert house.ledgers.release_idle(0.0) == []


async def test_what_was_created_through_another_process_is_recovered_later(tmp_path, house):
    house.ledgers.recover()
    other = Process(tmp_path)
    house.ledgers.is_assigned = lambda one: one in (LEDGER, "new")
    assert house.ledgers.not_recovered() == []
    await other.begin("new")
    assert house.ledgers.not_recovered() == ["new"]
    house.ledgers.recover_one("new")
    assert house.open() == {LEDGER, "new"}
    assert house.ledgers.not_recovered() == []
    other.close()


async def test_an_older_copy_is_noticed_although_the_ledger_was_closed_meanwhile(tmp_path, house):
    older = tmp_path / "older"
    shutil.copyfile(tmp_path / f"{OTHERS[0]}.db", older)
    ledger = house.ledgers.get(OTHERS[0])
    await ledger.submit(house.request(Deposit("player:a", "EUR", 5)))
    await ledger.drain()
    assert house.ledgers.release_idle(0.0) == [OTHERS[0]]
    for file in tmp_path.glob(f"{OTHERS[0]}.db*"):
        file.unlink()
    older.rename(tmp_path / f"{OTHERS[0]}.db")
    with pytest.raises(Refused) as caught:
        house.ledgers.get(OTHERS[0])
    assert caught.value.reason is Reason.LEDGER_FENCED
    assert house.ledgers.get(OTHERS[0]).fenced == "the head went back from 2 to 1"
