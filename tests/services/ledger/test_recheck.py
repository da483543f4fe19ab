"""The background check: what a snapshot let a process skip is read after the start."""

from __future__ import annotations

import asyncio
import json
import zlib

import pytest
from eventsourcing.persistence import OperationalError

from croupier.domain.errors import Reason
from croupier.services.ledger import ledgers, recheck, tail
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.requests import Deposit
from tests.support.ledgers import LEDGER, House, refused
from tests.support.snapshots import begun, execute, forge, limits, saved

HEAD = 28
"""Where the log ends that `recorded` records."""


async def at_once(worked_s):
    """Rest as short as possible."""
    await asyncio.sleep(0)


async def recorded(folder):
    """Record a short history whose end is a snapshot of the book."""
    await (await begun(folder, throws=20)).leave()
    assert saved(folder, "book").position == HEAD


def without_triggers(folder):
    for (name,) in execute(folder, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        execute(folder, f"DROP TRIGGER {name}")


async def checked(folder):
    """Serve the folder until the check is done, and return the house."""
    house = House(folder)
    assert house.ledger.head().position >= HEAD
    await house.ledger.recheck(at_once)
    return house


async def test_a_true_book_is_found_true_and_checked_once(tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "PAGE", 10)
    await recorded(tmp_path)
    house = await checked(tmp_path)
    assert house.watcher.unchecked == [28, 18, 8, 0, 0]
    assert house.watcher.fenced == {}
    await house.ledger.recheck(at_once)
    assert len(house.watcher.unchecked) == 5
    house.close()


async def test_the_ledger_is_served_while_it_is_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "PAGE", 3)
    await recorded(tmp_path)
    house = House(tmp_path)
    house.ledger.head()

    async def deposit(worked_s):
        await house.deposit("anna", 1)

    await house.ledger.recheck(deposit)
    assert house.watcher.fenced == {}
    assert house.watcher.unchecked[-1] == 0
    assert len(house.log()) > HEAD + 10
    house.close()


def edited(folder, change):
    """Return the state of the book with one line of JSON after another given to `change`."""
    text = zlib.decompress(saved(folder, "book").state)
    lines = [json.loads(line) for line in text.splitlines()]
    change(lines)
    return zlib.compress("\n".join(map(json.dumps, lines)).encode())


def _money_moved(lines):
    balances = {account: entry for entry in lines[1] for account in [entry[0]]}
    balances["player:anna"][2] -= 1
    balances["player:bert"][2] += 1


def _account_added(lines):
    lines[0]["balances"] += 1
    lines[1].append(["player:nobody", "EUR", 0])


def _version(lines):
    lines[2][-1][1] += 1


def _requests(lines):
    lines[0]["requests"] -= 1


def _last_request(lines):
    lines[0]["last_request"] = ["desk", "another"]


FALSE = {
    _money_moved: "balance of",
    _account_added: "entries of balance",
    _version: "version of",
    _requests: "requests is",
    _last_request: "last_request is",
}


@pytest.mark.parametrize("change", FALSE)
async def test_a_false_book_with_a_digest_that_fits_is_found_and_fences(tmp_path, change):
    await recorded(tmp_path)
    forge(tmp_path, "book", state=edited(tmp_path, change))
    house = await checked(tmp_path)
    assert house.watcher.dropped == []
    assert FALSE[change] in house.watcher.fenced[LEDGER]
    await refused(house.deposit("anna", 1), Reason.LEDGER_FENCED)
    house.close()
    # Without the snapshot, the log is as good as it was.
    execute(tmp_path, "DELETE FROM snapshots")
    again = House(tmp_path)
    assert again.ledger.head().position == HEAD
    again.close()


async def test_money_that_does_not_sum_to_zero_is_no_book_from_the_start(tmp_path):
    await recorded(tmp_path)

    def change(lines):
        lines[1][0][2] += 1

    forge(tmp_path, "book", state=edited(tmp_path, change))
    house = House(tmp_path)
    house.ledger.head()
    assert house.watcher.dropped == [("book", "undecodable")]
    house.close()


async def test_a_false_table_with_a_digest_that_fits_is_found_and_fences(tmp_path):
    await recorded(tmp_path)
    state = saved(tmp_path, "tables/t1").state
    assert state.count(b'"BANKER_THROWS"') == 1
    forge(tmp_path, "tables/t1", state=state.replace(b'"BANKER_THROWS"', b'"PLAYER_THROWS"'))
    house = House(tmp_path)
    assert house.ledger.table("t1").state.phase == "PLAYER_THROWS"
    await house.ledger.recheck(at_once)
    assert "the snapshot of table t1 at version" in house.watcher.fenced[LEDGER]
    house.close()


async def test_a_table_is_replayed_once_and_only_if_its_snapshot_is_older_than_the_process(
    tmp_path, monkeypatch
):
    replayed = []

    async def recheck_table(store, table, pause):
        replayed.append(table.id)

    monkeypatch.setattr("croupier.services.ledger.ledger.recheck_table", recheck_table)
    house = await begun(tmp_path, tables=("t1", "t2"), throws=20)
    await house.leave()
    again = House(tmp_path, limits=limits(live_tables=1))
    for _ in range(3):
        for table in ("t1", "t2"):
            again.ledger.table(table)
        await again.ledger.recheck(at_once)
    assert replayed == ["t1", "t2"]
    again.close()
    fresh = await begun(tmp_path / "fresh", tables=("t1", "t2"), throws=20)
    fresh.ledger._writer.committed._live._tables.clear()
    fresh.ledger.table("t1")
    await fresh.ledger.recheck(at_once)
    assert replayed == ["t1", "t2"]
    fresh.close()


CHANGED = {
    "UPDATE stored_events SET state = CAST(replace(state, 'kim', 'kid') AS BLOB) "
    "WHERE position = 12": "an event was changed",
    "UPDATE stored_events SET state = x'ff' WHERE position = 12": "does not hold an event",
    "UPDATE stored_events SET topic = 'another' WHERE position = 12": "the columns say",
    "DELETE FROM stored_events WHERE position = 12": "position 12 is missing",
    "DELETE FROM requests WHERE last = 12": "the request of position 12",
    "UPDATE requests SET digest = zeroblob(32) WHERE last = 12": "the request of position 12",
}


@pytest.mark.parametrize("statement", CHANGED)
async def test_what_was_changed_before_the_snapshot_is_found_and_fences(
    tmp_path, statement, monkeypatch
):
    monkeypatch.setattr(tail, "TAIL", 8)  # of a longer log the start would not read so much
    await recorded(tmp_path)
    without_triggers(tmp_path)
    execute(tmp_path, statement)
    house = await checked(tmp_path)
    assert CHANGED[statement] in house.watcher.fenced[LEDGER]
    await refused(house.deposit("anna", 1), Reason.LEDGER_FENCED)
    house.close()


async def test_a_request_that_was_invented_gets_no_receipt_of_another(tmp_path):
    await recorded(tmp_path)
    execute(
        tmp_path,
        "INSERT INTO requests SELECT caller, 'invented', digest, first, last "
        "FROM requests WHERE last = 2",
    )
    house = await checked(tmp_path)
    body = Deposit("player:anna", "EUR", 1000)
    await refused(house.ask(body, "invented"), Reason.LEDGER_FENCED)
    assert "are not of request" in house.watcher.fenced[LEDGER]
    house.close()


async def test_a_store_that_does_not_answer_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "RETRY_S", 0)
    monkeypatch.setattr(recheck, "PAGE", 10)
    await recorded(tmp_path)
    house = House(tmp_path)
    ledger = house.ledger
    ledger.head()
    failing = iter([True, False, True, True] + [False] * 100)

    class Shaky:
        def __getattr__(self, name):
            if name in {"find_requests", "records"} and next(failing):
                raise OperationalError("no answer")
            return getattr(store, name)

    store, ledger._store = ledger._store, Shaky()
    await ledger.recheck(at_once)
    assert house.watcher.unchecked[-1] == 0
    assert house.watcher.fenced == {}
    house.close()


async def test_a_small_ledger_is_checked_whole_when_it_is_opened(tmp_path):
    house = House(tmp_path)
    await house.create()
    await house.deposit("anna", 1)
    await house.leave()
    without_triggers(tmp_path)
    execute(tmp_path, "UPDATE stored_events SET state = x'ff' WHERE position = 2")
    again = House(tmp_path)
    again.ledgers.recover()
    assert LEDGER in again.watcher.fenced
    again.close()


async def test_the_process_keeps_books_and_checks_every_ledger_whatever_happens(
    tmp_path, monkeypatch
):
    await recorded(tmp_path)
    monkeypatch.setattr(ledgers, "BACKGROUND_S", 0)
    house = House(tmp_path)
    house.ledger.head()
    kept, all_checked = asyncio.Event(), asyncio.Event()
    failing = iter([True])

    async def keep_book(ledger):
        if next(failing, False):
            raise ZeroDivisionError
        kept.set()

    def events_unchecked(ledger, count):
        if not count:
            all_checked.set()

    monkeypatch.setattr(Ledger, "keep_book", keep_book)
    monkeypatch.setattr(house.watcher, "events_unchecked", events_unchecked)
    background = (Ledgers.keep_books, Ledgers.recheck)
    tasks = [asyncio.create_task(run(house.ledgers)) for run in background]
    async with asyncio.timeout(20):
        await kept.wait()
        await all_checked.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert house.watcher.fenced == {}
    house.close()
