"""Snapshots: loading is as fast as ever, and no state is ever another than the log's."""

from __future__ import annotations

import pytest

from croupier.domain.commands import Fade, PostBank
from croupier.services.ledger.requests import Withdraw
from croupier.services.ledger.snapshots import PER_COMMIT, Policy
from croupier.services.store import snapshots as codec
from tests.support.ledgers import Clock, Faulty, House
from tests.support.snapshots import (
    NEVER,
    THROW,
    Counting,
    begun,
    execute,
    forge,
    limits,
    names,
    saved,
    state_of,
    throw,
)

# --- tables ---------------------------------------------------------------------------------------


async def test_a_table_in_memory_is_saved_every_so_many_events(tmp_path):
    house = await begun(tmp_path, throws=3)
    assert house.watcher.saved == ["table"]
    assert saved(tmp_path, "tables/t1").position == 8
    await throw(house, 6)
    assert house.watcher.saved == ["table", "table"]
    assert names(tmp_path) == ["tables/t1"]
    house.close()


async def test_a_table_that_leaves_the_memory_is_saved_if_it_moved_on(tmp_path):
    house = House(tmp_path, limits=limits(Policy(1_000, 3), live_tables=1))
    await house.create()
    await house.deposit("anna", 1000)
    await house.open_table("still")
    await house.open_table("moved")
    await house.play(PostBank("anna", 10), table="moved")
    await house.open_table("last")
    await house.deposit("anna", 1)
    assert names(tmp_path) == ["tables/moved"]
    # It has not moved since, however often it comes and goes.
    house.watcher.saved.clear()
    for table in ("moved", "still", "moved", "last"):
        house.ledger.table(table)
    await house.deposit("anna", 1)
    assert house.watcher.saved == []
    house.close()


async def test_a_cold_load_reads_the_event_of_the_snapshot_and_those_after_it(tmp_path):
    house = await begun(tmp_path, throws=40)
    house.close()
    version = 45
    position = saved(tmp_path, "tables/t1").position
    (after,) = execute(
        tmp_path,
        "SELECT originator_version FROM stored_events WHERE position = ?",
        position,
    )[0]
    assert version - 5 <= after < version
    stores = []
    again = House(tmp_path, wrap=lambda store: stores.append(Counting(store)) or stores[0])
    again.ledger.head()
    stores[0].asked.clear()
    assert again.ledger.table("t1").version == version
    assert stores[0].asked == list(range(after, version + 1))
    assert again.watcher.dropped == []
    books = again.books()
    again.close()
    assert books == state_of(tmp_path)


async def test_a_table_loaded_from_its_stream_is_saved_so_that_it_need_not_be_again(tmp_path):
    house = await begun(tmp_path, throws=40, policy=NEVER)
    house.close()
    assert names(tmp_path) == []
    again = House(tmp_path, limits=limits())
    again.ledger.table("t1")
    await again.deposit("anna", 1)
    assert names(tmp_path) == ["tables/t1"]
    again.close()


async def test_many_tables_that_wait_go_along_with_several_commits(tmp_path):
    tables = [f"t{number}" for number in range(PER_COMMIT + 4)]
    house = await begun(tmp_path, tables=tables, policy=NEVER)
    house.close()
    again = House(tmp_path, limits=limits(Policy(table_events=3)))
    again.ledger.tables("", 100)
    await again.deposit("anna", 1)
    assert len(names(tmp_path)) == PER_COMMIT
    await again.deposit("anna", 1)
    assert sorted(names(tmp_path)) == sorted(f"tables/{table}" for table in tables)
    again.close()


def flipped(state):
    return state[:-9] + bytes([state[-9] ^ 1]) + state[-8:]


SPOILED = {
    "a bit flipped": ("UPDATE snapshots SET state = ?", flipped, "changed"),
    "cut short": ("UPDATE snapshots SET state = ?", lambda state: state[:-1], "changed"),
    "text": ("UPDATE snapshots SET state = ?", lambda state: state.decode("latin-1"), "changed"),
    "another digest": ("UPDATE snapshots SET digest = ?", lambda state: bytes(32), "changed"),
    "another position": ("UPDATE snapshots SET position = ?", lambda state: 7, "changed"),
    "another stamp": ("UPDATE snapshots SET stamp = ?", lambda state: "book 1 ", "changed"),
    "no such column": ("ALTER TABLE snapshots DROP COLUMN digest", None, "unreadable"),
}


@pytest.mark.parametrize("name, kind", [("tables/t1", "table"), ("book", "book")])
@pytest.mark.parametrize("how", SPOILED)
async def test_a_spoiled_snapshot_is_counted_and_the_log_is_read_instead(tmp_path, name, kind, how):
    await (await begun(tmp_path, throws=40)).leave()
    assert names(tmp_path) == ["book", "tables/t1"]
    statement, change, reason = SPOILED[how]
    values = [] if change is None else [change(saved(tmp_path, name).state), name]
    execute(tmp_path, statement + (" WHERE name = ?" if values else ""), *values)
    house = House(tmp_path)
    books = house.books()
    assert (kind, reason) in house.watcher.dropped
    house.close()
    assert books == state_of(tmp_path)


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"stamp": "table 1 of other rules"}, "stamp"),
        ({"position": 10**6}, "ahead"),
        ({"state": b"{}"}, "undecodable"),
        ({"state": b"[1"}, "undecodable"),
        ({"position": 5}, "other_log"),
    ],
)
async def test_a_table_of_which_there_is_any_doubt_is_replayed(tmp_path, fields, reason):
    await (await begun(tmp_path, throws=40)).leave()
    forge(tmp_path, "tables/t1", **fields)
    house = House(tmp_path)
    books = house.books()
    assert house.watcher.dropped == [("table", reason)]
    house.close()
    assert books == state_of(tmp_path)


async def test_a_snapshot_of_another_table_is_not_used(tmp_path):
    await (await begun(tmp_path, tables=("t1", "t2"), throws=40)).leave()
    state = saved(tmp_path, "tables/t1").state
    forge(tmp_path, "tables/t1", name="tables/t2")
    assert saved(tmp_path, "tables/t2").state == state
    house = House(tmp_path)
    books = house.books()
    assert house.watcher.dropped == [("table", "undecodable")]
    house.close()
    assert books == state_of(tmp_path)


async def test_a_table_that_holds_other_money_than_its_escrow_is_replayed(tmp_path):
    await (await begun(tmp_path, throws=40)).leave()
    state = saved(tmp_path, "tables/t1").state
    bank = b'"BANKER_THROWS",true,10,'
    assert bank in state
    forge(tmp_path, "tables/t1", state=state.replace(bank, bank.replace(b"10", b"11")))
    house = House(tmp_path)
    assert house.ledger.table("t1").at_risk == 20
    assert house.watcher.dropped == [("table", "other_log")]
    house.close()


async def test_a_snapshot_of_other_rules_is_not_even_read(tmp_path, monkeypatch):
    await (await begun(tmp_path, throws=40)).leave()
    books = House(tmp_path).books()

    def unread(values):
        raise AssertionError

    monkeypatch.setattr(codec, "_RULES", b"tomorrow's rules")
    monkeypatch.setattr("croupier.services.ledger.snapshots.table_from_json", unread)
    codec.table_stamp.cache_clear()
    try:
        house = House(tmp_path)
        assert house.books() == books
        # The book comes from postings: no rule touches it.
        assert house.watcher.dropped == [("table", "stamp")]
        assert house.watcher.unchecked[0] > 0
        house.close()
    finally:
        codec.table_stamp.cache_clear()


async def test_a_snapshot_of_another_history_is_not_used(tmp_path):
    """A copy of the log was put back and went another way; the snapshots stayed."""
    one, other = tmp_path / "one", tmp_path / "other"
    house = await begun(one, throws=40)
    await house.leave()
    house = House(other, limits=limits(), clock=Clock(1_700_000_000_000_001))
    await house.create()
    for player in ("anna", "bert"):
        await house.deposit(player, 1000)
    await house.open_table()
    await house.play(PostBank("anna", 10))
    await house.play(Fade("bert", 10))
    await throw(house, 60)
    house.close()
    for name in ("book", "tables/t1"):
        row = execute(one, "SELECT * FROM snapshots WHERE name = ?", name)[0]
        execute(other, "INSERT OR REPLACE INTO snapshots VALUES (?,?,?,?,?)", *row)
    again = House(other)
    books = again.books()
    assert again.watcher.dropped == [("book", "other_log"), ("table", "other_log")]
    again.close()
    assert books == state_of(other)


# --- never an error -------------------------------------------------------------------------------


async def test_a_commit_that_its_snapshots_make_fail_is_recorded_without_them(tmp_path):
    house = await begun(tmp_path, throws=2)
    execute(tmp_path, "ALTER TABLE snapshots DROP COLUMN digest")
    before = len(house.log())
    await throw(house, 20)
    assert len(house.log()) == before + 20
    assert set(house.watcher.dropped) == {("table", "not_saved")}
    await house.leave()
    assert ("book", "not_saved") in house.watcher.dropped
    assert House(tmp_path).books() == state_of(tmp_path)


@pytest.mark.parametrize("fault", ["fails", "fails_but_persisted"])
async def test_a_commit_with_snapshots_that_failed_is_recorded_once(tmp_path, fault):
    stores = []
    house = await begun(tmp_path, wrap=lambda store: stores.append(Faulty(store)) or stores[0])
    assert house.ledger._writer.snapshots.waits
    stores[0].fault = fault
    receipt = await house.play(THROW, request_id="once")
    assert await house.play(THROW, request_id="once") == receipt
    assert (house.watcher.dropped == []) == (fault == "fails_but_persisted")
    assert names(tmp_path) == (["tables/t1"] if fault == "fails_but_persisted" else [])
    house.close()
    assert House(tmp_path).books() == state_of(tmp_path)


async def test_a_watcher_that_fails_keeps_no_snapshot_and_no_caller(tmp_path, monkeypatch):
    house = await begun(tmp_path)

    def broken(*args):
        raise ZeroDivisionError

    for name in ("snapshots_saved", "snapshot_dropped", "events_unchecked"):
        monkeypatch.setattr(house.watcher, name, broken)
    await throw(house, 10)
    assert names(tmp_path) == ["tables/t1"]
    house.close()


async def test_a_book_is_not_saved_by_a_process_that_another_keeps_from_the_lock(tmp_path):
    house, other = await begun(tmp_path), House(tmp_path)
    store = other.ledger._store
    store.lock()
    await house.ledger.leave_book()
    assert names(tmp_path) == []
    store.unlock()
    await house.ledger.leave_book()
    assert names(tmp_path) == ["book", "tables/t1"]
    house.close()
    other.close()


async def test_two_processes_may_both_save_and_each_goes_on_from_either(tmp_path):
    one, other = await begun(tmp_path), House(tmp_path, limits=limits())
    for _ in range(5):
        await throw(one, 3)
        await throw(other, 3)
        await other.ledger.leave_book()
        await one.ledger.leave_book()
    await other.ask(Withdraw("player:bert", "EUR", 1))
    assert one.books() == other.books()
    one.close()
    other.close()
    again = House(tmp_path)
    books = again.books()
    assert again.watcher.dropped == []
    again.close()
    assert books == state_of(tmp_path)
