"""The log in SQLite: it only grows, it is on disk, and its errors are the library's."""

import gc
import sqlite3
import warnings

import pytest
from eventsourcing.persistence import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    PersistenceError,
    StoredEvent,
)

from croupier.services.store.sqlite import Datastore, Recorder, SQLiteEngine
from croupier.services.store.store import HeadMovedError, SnapshotError
from tests.services.store.logs import EMPTY, add, draft, snapshot

ALL = 1_000_000


@pytest.fixture
def engine(tmp_path):
    return SQLiteEngine(tmp_path)


@pytest.fixture
def store(engine):
    store = engine.open("main")
    yield store
    store.close()


@pytest.fixture
def raw(tmp_path, store):
    """A connection that knows nothing of us, as a tool or an intruder has it."""
    connection = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
    yield connection
    connection.close()


def plain(stream, version):
    return StoredEvent(
        originator_id=stream, originator_version=version, topic="test.Happened", state=b"state"
    )


# --- the log only grows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stored_events SET state = x'00' WHERE position = 2",
        "UPDATE OR REPLACE stored_events SET position = 1 WHERE position = 2",
        "DELETE FROM stored_events WHERE position = 2",
        "DELETE FROM stored_events",
        "INSERT INTO stored_events VALUES (2, 'tables/b', 1, 't', x'00')",
        "INSERT OR REPLACE INTO stored_events VALUES (2, 'tables/b', 1, 't', x'00')",
        "INSERT OR REPLACE INTO stored_events VALUES (3, 'tables/a', 1, 't', x'00')",
        "REPLACE INTO stored_events VALUES (1, 'tables/a', 1, 't', x'00')",
        "INSERT OR IGNORE INTO stored_events VALUES (2, 'tables/b', 1, 't', x'00')",
        "INSERT INTO stored_events VALUES (2, 'b', 1, 't', x'00') ON CONFLICT DO NOTHING",
        "INSERT INTO stored_events VALUES (4, 'tables/b', 1, 't', x'00')",
        "INSERT INTO stored_events VALUES (0, 'tables/b', 1, 't', x'00')",
        "INSERT INTO stored_events VALUES (NULL, 'tables/b', 1, 't', x'00')",
        "UPDATE requests SET digest = x'00'",
        "DELETE FROM requests",
        "INSERT OR REPLACE INTO requests VALUES ('desk', '1', x'00', 1, 1)",
        "DELETE FROM head",
    ],
)
def test_no_statement_changes_what_is_recorded_or_leaves_a_gap(store, raw, statement):
    head = add(store, ("ledger", 1), ("tables/a", 1), requests=[("desk", "1")])
    before = list(raw.iterdump())
    with pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)
    assert list(raw.iterdump()) == before
    assert store.head() == head


def test_plain_inserts_get_dense_positions(store):
    assert store.insert_events([plain("a", 1), plain("b", 1)]) == [1, 2]
    with pytest.raises(IntegrityError):
        store.insert_events([plain("c", 1), plain("a", 1)])
    assert store.insert_events([plain("c", 1)]) == [3]
    assert [record.id for record in store.select_notifications(None, ALL)] == [1, 2, 3]


def test_a_log_with_a_head_refuses_plain_inserts(store):
    head = add(store, ("ledger", 1))
    with pytest.raises(IntegrityError, match="has a head"):
        store.insert_events([plain("tables/a", 1)])
    assert store.head() == head
    assert len(store.records(0, ALL)) == 1


def test_a_commit_through_the_library_moves_the_same_head(store):
    records, commit = draft(EMPTY, ("ledger", 1), ("tables/a", 1), requests=[("desk", "1")])
    assert store.insert_events(records, commit=commit) == [1, 2]
    assert store.head() == commit.head
    assert store.find_requests([("desk", "1")]).keys() == {("desk", "1")}
    records_on_it, on_it = draft(commit.head, ("tables/a", 3))
    add(store, ("tables/a", 2))
    with pytest.raises(HeadMovedError):
        store.insert_events(records_on_it, commit=on_it)


# --- it is on disk ----------------------------------------------------------------------------


def pragmas(connection):
    names = ("synchronous", "journal_mode")
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def test_every_connection_waits_for_the_disk_and_writes_ahead(store):
    durable = [2, "wal"]
    assert pragmas(store._connection) == durable
    pool = store.datastore.pool
    pooled = [pool.get_connection() for _ in range(pool.pool_size + pool.max_overflow)]
    try:
        assert [pragmas(one._sqlite_conn) for one in pooled] == [durable] * len(pooled)
    finally:
        for one in pooled:
            pool.put_connection(one)


def test_a_log_is_found_again_by_its_id(engine):
    assert engine.ledgers() == []
    assert not engine.exists("b")
    for ledger in ("b", "a", "c.db"):
        store = engine.open(ledger)
        add(store, (f"of {ledger}", 1))
        store.close()
    assert engine.ledgers() == ["a", "b", "c.db"]
    assert engine.exists("b")
    again = engine.open("b")
    assert list(again.streams("", "", ALL)) == ["of b"]
    again.close()


@pytest.mark.parametrize(
    "name", ["per%20cent", "a?mode=memory", "a#b", "two words", "file:a", ":memory:", "ü'\"&;"]
)
def test_a_folder_may_have_any_name(tmp_path, name):
    folder = tmp_path / name
    store = SQLiteEngine(folder).open("main")
    head = add(store, ("ledger", 1))
    assert pragmas(store._connection) == [2, "wal"]
    assert store.try_lock()
    store.close()
    assert (folder / "main.db").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {name}
    again = SQLiteEngine(folder).open("main")
    assert again.head() == head
    again.close()


# --- whether somebody else committed ----------------------------------------------------------


def test_our_own_commits_are_no_change(store):
    store.head()
    for version in range(1, 4):
        records, commit = draft(store.head(), ("ledger", version))
        store.commit(records, commit)
        assert not store.changed()


def test_a_change_by_a_foreign_tool_is_noticed(store, raw):
    store.head()
    raw.execute("UPDATE head SET recorded_us = 5")
    assert store.changed()
    assert store.head().recorded_us == 5


# --- when something fails ---------------------------------------------------------------------


def test_a_commit_that_fails_at_its_very_end_is_not_read_as_recorded(store, raw):
    raw.executescript(
        """
        CREATE TABLE one (id INTEGER PRIMARY KEY);
        CREATE TABLE two (id INTEGER REFERENCES one DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER fails AFTER INSERT ON requests BEGIN INSERT INTO two VALUES (1); END;
        """
    )
    store._connection.execute("PRAGMA foreign_keys = ON")
    records, commit = draft(EMPTY, ("ledger", 1), requests=[("desk", "1")])
    with pytest.raises(IntegrityError):
        store.commit(records, commit)
    assert store.head() == EMPTY
    assert list(store.records(0, ALL)) == []
    raw.execute("DROP TRIGGER fails")
    store.commit(records, commit)
    assert store.head() == commit.head


def test_a_commit_that_meets_a_foreign_writer_records_nothing_and_may_be_repeated(tmp_path):
    store = Recorder(Datastore(str(tmp_path / "main.db")))
    store.create_table()
    store._connection.execute("PRAGMA busy_timeout = 0")
    raw = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
    records, commit = draft(EMPTY, ("ledger", 1))
    raw.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        store.commit(records, commit)
    assert store.head() == EMPTY
    raw.execute("ROLLBACK")
    store.commit(records, commit)
    assert store.head() == commit.head
    raw.close()
    store.close()


@pytest.mark.parametrize(
    "corruption",
    [
        "UPDATE head SET frontier = x'00'",
        "UPDATE head SET frontier = x''",
        "UPDATE head SET frontier = 'text'",
        "UPDATE head SET frontier = printf('%32s', 'text')",
        "UPDATE head SET position = 3",
        "UPDATE head SET position = -1",
        "UPDATE head SET position = 'text'",
        "UPDATE head SET recorded_us = 'text'",
        "UPDATE head SET recorded_us = 1.5",
        "UPDATE head SET position = 1.5",
        "UPDATE head SET position = x'01'",
        "UPDATE head SET frontier = 32",
        "UPDATE head SET frontier = 100000000000000",
        "DROP TRIGGER head_not_deleted; DELETE FROM head",
    ],
)
def test_a_corrupt_head_is_an_error_of_the_data(store, raw, corruption):
    add(store, ("ledger", 1))
    raw.executescript(corruption)
    with pytest.raises(DataError, match="head"):
        store.head()


def test_a_new_file_that_somebody_reads_without_end_is_an_error_after_the_timeout(tmp_path):
    raw = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
    raw.execute("CREATE TABLE foreign_table (one)")
    raw.execute("BEGIN")
    raw.execute("SELECT * FROM foreign_table").fetchall()
    refused = Recorder(Datastore(str(tmp_path / "main.db"), lock_timeout=0.01))
    with pytest.raises(OperationalError, match="locked"):
        refused.create_table()
    refused.close()
    raw.execute("ROLLBACK")
    with pytest.raises(DataError, match="not a ledger: a database of foreign_table"):
        SQLiteEngine(tmp_path).open("main")
    raw.execute("DROP TABLE foreign_table")
    raw.close()
    store = SQLiteEngine(tmp_path).open("main")
    assert store.head() == EMPTY
    store.close()


def test_a_file_that_is_no_database_is_refused(engine, tmp_path):
    (tmp_path / "main.db").write_bytes(b"no database " * 1000)
    with pytest.raises(DatabaseError, match="not a database"):
        engine.open("main")


def test_a_folder_in_the_place_of_the_file_is_refused(engine, tmp_path):
    (tmp_path / "main.db").mkdir()
    with pytest.raises(OperationalError):
        engine.open("main")


def test_a_table_that_is_not_there_is_an_error_of_the_library(tmp_path):
    store = Recorder(Datastore(str(tmp_path / "main.db")))
    for ask in (
        store.head,
        lambda: store.records(0, 1),
        lambda: store.stream("a", 0, 1),
        lambda: store.stream_version("a"),
        lambda: store.streams("a", "", 1),
        lambda: store.find_requests([("desk", "1")]),
        lambda: store.commit(*draft(EMPTY, ("ledger", 1))),
        lambda: store.insert_events([plain("a", 1)]),
        lambda: store.select_notifications(None, 1),
    ):
        with pytest.raises(PersistenceError, match="no such table"):
            ask()
    store.close()


# --- snapshots may go -------------------------------------------------------------------------


def test_snapshots_may_be_changed_and_deleted_by_anybody(store, raw):
    add(store, ("ledger", 1), snapshots=[snapshot("book", 1)])
    raw.execute("UPDATE snapshots SET state = 'text'")
    with pytest.raises(SnapshotError, match="another type"):
        store.snapshot("book")
    raw.execute("DELETE FROM snapshots")
    assert store.snapshot("book") is None


def test_a_file_made_before_there_were_snapshots_gets_their_table(engine, store, raw):
    add(store, ("ledger", 1))
    raw.execute("DROP TABLE snapshots")
    add(store, ("ledger", 2))
    with pytest.raises(PersistenceError, match="no such table"):
        store.snapshot("book")
    reopened = engine.open("main")
    add(reopened, ("ledger", 3), snapshots=[snapshot("book", 1)])
    assert reopened.snapshot("book") == snapshot("book", 1)
    reopened.close()


def test_a_file_whose_table_of_snapshots_cannot_be_made_is_opened_all_the_same(engine, store, raw):
    head = add(store, ("ledger", 1))
    raw.execute("DROP TABLE snapshots")
    raw.execute("BEGIN IMMEDIATE")
    reopened = engine.open("main")
    assert reopened.head() == head
    raw.execute("ROLLBACK")
    reopened.close()


# --- letting go -------------------------------------------------------------------------------


def test_a_closed_store_opens_nothing_again(engine, tmp_path):
    store = engine.open("main")
    store.lock()
    add(store, ("ledger", 1))
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"main.db", "main.db.next", "main.db.lock"}
    with pytest.raises(InterfaceError, match="closed"):
        store.head()
    store.unlock()
    store.close()
    other = engine.open("main")
    assert other.try_lock()
    other.close()


def test_a_forgotten_datastore_closes_its_connections(tmp_path):
    recorder = Recorder(Datastore(str(tmp_path / "main.db")))
    recorder.create_table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del recorder
        gc.collect()
    assert {path.name for path in tmp_path.iterdir()} == {"main.db"}


def test_a_ledgers_files_are_for_the_services_user_alone(tmp_path):
    store = SQLiteEngine(tmp_path).open("main")
    try:
        store.head()
        assert store.try_lock()
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        assert set(modes) == {f"main.db{end}" for end in ("", "-wal", "-shm", ".lock", ".next")}
        assert set(modes.values()) == {0o600}
    finally:
        store.close()
