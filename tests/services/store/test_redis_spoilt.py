"""What is found wrong in a log in Redis: heads, entries, indexes, requests that were changed."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import DataError

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis_address import parse
from croupier.services.store.store import SnapshotError
from tests.services.store.logs import add, draft, snapshot

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


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.hset(KEYS.head, "frontier", b"\0"),
        lambda raw: raw.hset(KEYS.head, "frontier", ""),
        lambda raw: raw.hset(KEYS.head, "position", "3"),
        lambda raw: raw.hset(KEYS.head, "position", "-1"),
        lambda raw: raw.hset(KEYS.head, "position", "text"),
        lambda raw: raw.hset(KEYS.head, "position", "1.5"),
        lambda raw: raw.hset(KEYS.head, "recorded_us", "text"),
        lambda raw: raw.hdel(KEYS.head, "frontier"),
        lambda raw: raw.hdel(KEYS.head, "recorded_us"),
        lambda raw: raw.hdel(KEYS.head, "format"),
        lambda raw: raw.hdel(KEYS.head, "epoch"),
        lambda raw: raw.delete(KEYS.head),
        lambda raw: raw.set(KEYS.head, "text"),
        lambda raw: raw.delete(KEYS.log),
        lambda raw: raw.set(KEYS.log, "text"),
        lambda raw: raw.xdel(KEYS.log, "1-0"),
        lambda raw: raw.xdel(KEYS.log, "2-0"),
        lambda raw: raw.xadd(KEYS.log, {"a": "b"}),
        lambda raw: raw.xadd(KEYS.log, {"a": "b"}, id="3-0"),
        lambda raw: raw.flushall(),
    ],
)
def test_a_head_that_does_not_fit_the_log_is_an_error_of_the_data(store, raw, spoil):
    add(store, ("ledger", 1), ("ledger", 2))
    spoil(raw)
    with pytest.raises(DataError):
        store.head()


def test_a_commit_onto_a_log_that_does_not_end_at_the_head_is_refused(store, raw):
    head = add(store, ("ledger", 1))
    raw.xadd(KEYS.log, {"a": "b"}, id="2-0")
    records, commit = draft(head, ("ledger", 2))
    with pytest.raises(DataError, match="ends at 2-0"):
        store.commit(records, commit)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.hdel(KEYS.head, "requests"),
        lambda raw: raw.hset(KEYS.head, "requests", "text"),
        lambda raw: raw.hdel(KEYS.requests, "4:desk1"),
    ],
)
def test_where_a_request_may_have_been_lost_nothing_is_recorded(store, raw, spoil):
    head = add(store, ("ledger", 1), requests=[("desk", "1")])
    spoil(raw)
    with pytest.raises(DataError, match="requests were accepted"):
        store.commit(*draft(head, ("ledger", 2), requests=[("desk", "2")]))
    assert len(store.records(0, ALL)) == 1


def test_a_log_takes_no_position_before_its_last(store, raw):
    add(store, ("ledger", 1), ("ledger", 2))
    for position in ("1-0", "2-0", "1-5"):
        with pytest.raises(Exception, match="equal or smaller"):
            raw.xadd(KEYS.log, {"s": "ledger"}, id=position)


@pytest.mark.parametrize(
    "fields",
    [
        {"a": "b"},
        {"s": "ledger", "v": "2", "t": "test", "x": "state"},
        {"s": "ledger", "v": "two", "t": "test", "b": "state"},
        {"s": b"\xff", "v": "2", "t": "test", "b": "state"},
    ],
)
def test_an_entry_of_the_log_that_is_no_record_is_an_error_of_the_data(store, raw, fields):
    add(store, ("ledger", 1))
    raw.xadd(KEYS.log, fields, id="2-0")
    with pytest.raises(DataError, match="no record"):
        store.records(1, ALL)


def test_an_index_that_names_records_of_another_stream_is_noticed(store, raw):
    add(store, ("tables/a", 1), ("tables/b", 1))
    raw.lset(KEYS.index("tables/a"), 0, "2")
    with pytest.raises(DataError, match="another stream"):
        store.stream("tables/a", 0, ALL)


def test_an_index_that_names_no_record_is_noticed(store, raw):
    add(store, ("tables/a", 1), ("tables/a", 2))
    raw.lset(KEYS.index("tables/a"), 1, "7")
    with pytest.raises(DataError, match="no record"):
        store.stream("tables/a", 0, ALL)


def test_a_request_that_was_changed_is_an_error_of_the_data(store, raw):
    add(store, ("ledger", 1), requests=[("desk", "1")])
    raw.hset(KEYS.requests, "4:desk1", "text")
    with pytest.raises(DataError, match="entry of 4 bytes"):
        store.find_requests([("desk", "1")])


def test_requests_of_later_events_are_not_counted(store, raw):
    for number in range(1, 8):
        add(store, ("ledger", number), requests=[("desk", str(number)), ("floor", str(number))])
    assert [store.count_requests(last) for last in (0, 3, 7, 9)] == [0, 6, 14, 14]
    raw.hdel(KEYS.requests, "4:desk2")
    assert [store.count_requests(last) for last in (3, 7)] == [5, 13]


@pytest.mark.parametrize("field", ["position", "stamp", "digest", "state"])
def test_a_snapshot_without_one_of_its_fields_is_none(store, raw, field):
    add(store, ("ledger", 1), snapshots=[snapshot("book", 1)])
    raw.hdel(KEYS.snapshot("book"), field)
    with pytest.raises(SnapshotError):
        store.snapshot("book")
    raw.delete(KEYS.snapshot("book"))
    assert store.snapshot("book") is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.rpop(KEYS.index("tables/a")),
        lambda raw: raw.delete(KEYS.index("tables/a")),
        lambda raw: raw.rpush(KEYS.index("tables/a"), 1),
        lambda raw: raw.zrem(KEYS.streams, "tables/a"),
        lambda raw: raw.delete(KEYS.streams),
    ],
)
def test_a_record_that_no_stream_has_is_noticed(store, raw, spoil):
    head = add(store, ("ledger", 1), ("tables/a", 1), ("tables/a", 2))
    store.check_streams(head.position)
    spoil(raw)
    with pytest.raises(DataError, match="the log has 3 records"):
        store.check_streams(head.position)


def test_records_that_come_meanwhile_are_not_taken_for_a_difference(store):
    seen = add(store, ("ledger", 1))
    add(store, ("tables/a", 1))
    store.check_streams(seen.position)


def test_a_stream_whose_index_was_removed_is_not_taken_for_a_new_one(store, raw):
    add(store, ("ledger", 1), ("tables/a", 1))
    raw.delete(KEYS.index("tables/a"))
    assert store.stream("tables/b", 0, 9) == []
    with pytest.raises(DataError, match="the index of tables/a was removed"):
        store.stream("tables/a", 0, 9)


@pytest.mark.parametrize("spoil", ["removed", "one"])
def test_a_commit_is_refused_where_accepted_requests_are_missing(store, raw, spoil):
    head = add(store, ("ledger", 1), requests=[("desk", "1"), ("desk", "2")])
    if spoil == "one":
        raw.hdel(KEYS.requests, next(raw.hscan_iter(KEYS.requests))[0])
    else:
        raw.delete(KEYS.requests)
    records, commit = draft(head, ("ledger", 2), requests=[("desk", "1")])
    with pytest.raises(DataError, match="2 requests were accepted"):
        store.commit(records, commit)
    assert len(store.records(0, ALL)) == 1
