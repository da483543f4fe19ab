"""What is particular to the engine in Redis: its keys, and what may happen to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eventsourcing.persistence import (
    DataError,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    OperationalError,
    PersistenceError,
    ProgrammingError,
    StoredEvent,
)
from redis.crc import key_slot

from croupier.services.store.redis import committing
from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis_address import parse
from croupier.services.store.store import Commit, Head
from tests.services.store.logs import EMPTY, add, draft, snapshot

ALL = 1_000_000
KEYS = Keys("croupier", "main")


@pytest.fixture
def engine(redis):
    made = RedisEngine(parse(f"{redis.url}?timeout_ms=20000"))
    yield made
    made.close()


@pytest.fixture
def store(engine):
    return engine.open("main")


@pytest.fixture
def raw(redis):
    """Somebody with a shell."""
    with redis.client() as client:
        yield client


def plain(stream, version, state=b"state"):
    return StoredEvent(stream, version, "test.Happened", state)


# --- which ledgers there are ------------------------------------------------------------------


def test_an_engines_ledgers_are_found_again_by_its_ids(engine, redis):
    assert engine.ledgers() == []
    assert not engine.exists("b")
    for ledger in ("b", "a", "c.db"):
        add(engine.open(ledger), (f"of {ledger}", 1))
    assert engine.ledgers() == ["a", "b", "c.db"]
    assert engine.exists("b")
    assert list(engine.open("b").streams("", "", ALL)) == ["of b"]


def test_deployments_with_other_prefixes_do_not_see_each_other(engine, redis):
    add(engine.open("main"), ("ledger", 1))
    other = RedisEngine(parse(f"{redis.url}?prefix=croupier-2"))
    assert other.ledgers() == []
    assert not other.exists("main")
    assert other.open("main").head() == EMPTY
    other.close()


def test_all_keys_of_a_ledger_are_in_one_slot(engine, raw):
    store = engine.open("main")
    add(store, ("ledger", 1), requests=[("desk", "1")], snapshots=[snapshot("book", 1)])
    keys = set(raw.scan_iter("*{main}*"))
    assert len(keys) == 6
    assert {key_slot(key) for key in keys} == {key_slot(b"main")}


def test_a_ledger_that_is_not_in_the_directory_exists_and_comes_back_into_it(engine, raw):
    head = add(engine.open("main"), ("ledger", 1))
    raw.delete("croupier:ledgers")
    assert engine.exists("main")
    assert engine.open("main").head() == head
    assert engine.ledgers() == ["main"]


def test_keys_of_a_later_format_are_not_opened(engine, store, raw):
    add(store, ("ledger", 1))
    raw.hset(KEYS.head, "format", "2")
    before = raw.dump(KEYS.log)
    with pytest.raises(NotSupportedError, match="a later version"):
        engine.open("main")
    with pytest.raises(DataError):
        add(store, ("ledger", 2))
    assert raw.dump(KEYS.log) == before


@pytest.mark.parametrize("key", [KEYS.log, KEYS.requests, KEYS.streams])
def test_a_ledger_without_its_head_is_not_made_anew(engine, store, raw, key):
    add(store, ("ledger", 1), requests=[("desk", "1")])
    for other in {KEYS.head, KEYS.log, KEYS.requests, KEYS.streams} - {key}:
        raw.delete(other)
    with pytest.raises(DataError, match="is not there"):
        engine.open("main")
    assert raw.exists(key)


# --- commits ----------------------------------------------------------------------------------


def test_a_batch_of_thousands_of_records_and_megabytes_is_one_commit(store):
    events = [(f"tables/{number % 1_500}", 1 + number // 1_500) for number in range(12_000)]
    requests = [("desk", str(number)) for number in range(12_000)]
    records, commit = draft(EMPTY, *events, requests=requests)
    # The store does not read them: as large as those of a round with many payouts.
    records = [replace(one, state=one.state * 25) for one in records]
    assert sum(len(one.state) for one in records) > 5_000_000
    store.commit(records, commit)
    assert store.head() == commit.head
    assert list(store.records(0, ALL)) == records
    assert len(store.find_requests(requests)) == len(requests)
    assert store.count_requests(12_000) == 12_000
    assert [one.id for one in store.stream("tables/7", 0, ALL)] == list(range(8, 12_001, 1_500))
    assert len(store.streams("tables/", "", ALL)) == 1_500


def test_the_last_wrong_record_of_thousands_refuses_all(store, raw):
    head = add(store, ("tables/last", 1))
    before = {key: raw.dump(key) for key in raw.scan_iter()}
    events = [("ledger", version) for version in range(1, 5_001)]
    with pytest.raises(IntegrityError, match="tables/last"):
        store.commit(*draft(head, *events, ("tables/last", 1)))
    assert {key: raw.dump(key) for key in raw.scan_iter()} == before


@pytest.mark.parametrize("limit", ["RECORDS_MAX", "BYTES_MAX"])
def test_a_commit_that_would_keep_the_server_for_too_long_is_not_sent(store, monkeypatch, limit):
    monkeypatch.setattr(committing, limit, 2)
    with pytest.raises(ProgrammingError, match="most"):
        add(store, ("ledger", 1), ("ledger", 2), ("ledger", 3))
    assert store.head() == EMPTY


@pytest.mark.parametrize(
    "events",
    [
        [("tables/a", 2)],
        [("tables/a", 0)],
        [("tables/a", 1), ("tables/a", 1)],
        [("tables/a", 1), ("tables/a", 3)],
        [("tables/a", 2), ("tables/a", 1)],
    ],
)
def test_versions_of_a_stream_follow_each_other(store, events):
    with pytest.raises(IntegrityError, match="version"):
        add(store, *events)
    assert store.head() == EMPTY


def test_a_request_id_twice_in_a_commit_refuses_all_of_it(store):
    with pytest.raises(IntegrityError, match="twice"):
        add(store, ("ledger", 1), requests=[("desk", "1"), ("desk", "1")])
    assert store.head() == EMPTY


def test_a_request_of_which_caller_and_id_run_together_is_another(store):
    add(store, ("ledger", 1), requests=[("ab", "c"), ("a", "bc")])
    assert store.find_requests([("a", "bc"), ("abc", ""), ("ab", "c")]).keys() == {
        ("ab", "c"),
        ("a", "bc"),
    }


@pytest.mark.parametrize("of", ["log", "requests", "streams", "index", "snapshot"])
def test_a_key_of_another_type_refuses_a_commit_as_a_whole(store, raw, of):
    head = add(store, ("ledger", 1))
    key = {
        "index": KEYS.index("tables/a"),
        "snapshot": KEYS.snapshot("book"),
        "log": KEYS.log,
        "requests": KEYS.requests,
        "streams": KEYS.streams,
    }[of]
    raw.delete(key)
    raw.set(key, "of somebody else")
    before = {one: raw.dump(one) for one in raw.scan_iter()}
    records, commit = draft(
        head, ("tables/a", 1), requests=[("desk", "1")], snapshots=[snapshot("book", 1)]
    )
    with pytest.raises(DataError):
        store.commit(records, commit)
    assert {one: raw.dump(one) for one in raw.scan_iter()} == before


def test_a_server_without_memory_for_more_takes_nothing_and_says_so(store, raw):
    head = add(store, ("ledger", 1))
    raw.config_set("maxmemory", 1)
    try:
        with pytest.raises(OperationalError, match=r"maxmemory|OOM"):
            add(store, ("ledger", 2))
        assert store.head() == head
        assert len(store.records(0, ALL)) == 1
    finally:
        raw.config_set("maxmemory", 0)
    add(store, ("ledger", 2))


# --- who may not do all of it ---------------------------------------------------------------


@pytest.mark.parametrize(
    "right", ["xadd", "rpush", "zadd", "hset", "hdel", "lpop", "time", "hmget"]
)
def test_a_user_who_loses_a_right_meanwhile_records_all_or_nothing(redis, raw, right):
    raw.execute_command("ACL", "SETUSER", "cage", "on", ">pw", "~*", "+@all")
    try:
        engine = RedisEngine(parse(f"redis://cage:pw@{redis.address}"))
        store = engine.open("main")
        head = add(store, ("ledger", 1))
        before = {key: raw.dump(key) for key in raw.scan_iter()}
        raw.execute_command("ACL", "SETUSER", "cage", f"-{right}")
        records, commit = draft(head, ("tables/a", 1), requests=[("desk", "1")])
        with pytest.raises(PersistenceError):
            store.commit(records, commit)
        assert {key: raw.dump(key) for key in raw.scan_iter()} == before
        raw.execute_command("ACL", "SETUSER", "cage", f"+{right}")
        assert store.head() == head
        store.commit(records, commit)
        engine.close()
    finally:
        raw.acl_deluser("cage")


@pytest.mark.parametrize("right", ["xadd", "rpush", "linsert", "zadd", "hset"])
def test_without_a_right_plain_events_are_all_recorded_or_none(redis, raw, right):
    raw.execute_command("ACL", "SETUSER", "cage", "on", ">pw", "~*", "+@all")
    try:
        engine = RedisEngine(parse(f"redis://cage:pw@{redis.address}"))
        store = engine.open("main")
        before = {key: raw.dump(key) for key in raw.scan_iter()}
        raw.execute_command("ACL", "SETUSER", "cage", f"-{right}")
        with pytest.raises(InterfaceError, match=right.upper()):
            store.insert_events([plain("a", 1)])
        assert {key: raw.dump(key) for key in raw.scan_iter()} == before
        engine.close()
    finally:
        raw.acl_deluser("cage")


# --- the library's way ------------------------------------------------------------------------


def test_a_log_with_a_head_takes_no_events_without_one(store):
    add(store, ("ledger", 1))
    with pytest.raises(IntegrityError, match="has a head"):
        store.insert_events([plain("ledger", 2)])


def test_records_with_their_commit_are_inserted_as_the_library_does(store):
    records, commit = draft(EMPTY, ("ledger", 1), ("tables/a", 1))
    assert store.insert_events(records, commit=commit) == [1, 2]
    assert store.head() == commit.head


def test_a_log_of_plain_events_takes_no_commit(store):
    store.insert_events([plain("a", 1)])
    with pytest.raises(DataError):
        store.commit(*draft(Head(), ("ledger", 1)))


def test_versions_may_have_gaps_and_come_late_where_positions_are_allotted(store):
    for version in (5, 9, 2, 7, 100, 1):
        store.insert_events([plain("a", version)])
    versions = [1, 2, 5, 7, 9, 100]
    assert [one.originator_version for one in store.select_events("a")] == versions
    for gt in (None, 0, 1, 4, 5, 9, 100):
        for lte in (None, 0, 2, 6, 9, 200):
            for desc in (False, True):
                found = store.select_events("a", gt=gt, lte=lte, desc=desc, limit=2)
                wanted = [
                    v for v in versions if v > (gt or 0) and v <= (lte or (lte is None) * 999)
                ]
                wanted = wanted[::-1] if desc else wanted
                assert [one.originator_version for one in found] == wanted[:2]
    with pytest.raises(IntegrityError, match="version 7 of a exists"):
        store.insert_events([plain("b", 1), plain("a", 7)])
    assert store.select_events("b") == []
    assert store.max_notification_id() == 6


def test_pages_do_not_change_what_is_read(store, monkeypatch):
    monkeypatch.setattr("croupier.services.store.redis.log.PAGE", 3)
    monkeypatch.setattr("croupier.services.store.redis.recorder.PAGE", 3)
    requests = [("desk", str(number)) for number in range(10)]
    add(store, *[("tables/a", version) for version in range(1, 11)], requests=requests)
    add(store, *[(f"tables/{letter}", 1) for letter in "bcdefgh"])
    assert [one.id for one in store.records(0, 8)] == list(range(1, 9))
    assert len(store.records(0, ALL)) == 17
    assert [one.id for one in store.stream("tables/a", 1, 8)] == list(range(2, 10))
    backwards = store.select_events("tables/a", desc=True, limit=7)
    assert [one.originator_version for one in backwards] == list(range(10, 3, -1))
    assert list(store.streams("tables/", "", 7)) == [f"tables/{letter}" for letter in "abcdefg"]
    assert len(store.streams("", "", ALL)) == 8
    assert len(store.find_requests(requests)) == 10
    assert store.count_requests(5) == 0
    topics = ["test.Happened"]
    assert len(store.select_notifications(2, 9, topics=topics)) == 9
    assert store.select_notifications(2, 9, topics=["other"]) == []


def test_nobody_is_told_of_events_by_a_subscription(store):
    with pytest.raises(NotImplementedError):
        store.subscribe()


# --- letting go -------------------------------------------------------------------------------


def test_a_closed_store_asks_nobody(engine, store):
    add(store, ("ledger", 1))
    store.close()
    for ask in (
        store.head,
        store.changed,
        lambda: store.records(0, 1),
        lambda: store.snapshot("a"),
    ):
        with pytest.raises(InterfaceError, match="closed"):
            ask()
    store.unlock()
    assert engine.open("main").head().position == 1


def test_a_commit_that_leaves_the_head_saves_snapshots_alone(store):
    head = add(store, ("ledger", 1))
    store.commit([], Commit(head, head, snapshots=[snapshot("book", 1)]))
    assert not store.changed()
    assert store.snapshot("book") == snapshot("book", 1)
