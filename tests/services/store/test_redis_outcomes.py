"""Commits to Redis of which the writer does not hear what became of them."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis_address import parse
from croupier.services.store.store import HeadMovedError
from tests.services.store.logs import EMPTY, add, draft
from tests.support.proxy import Proxy
from tests.support.redis_server import RedisServer
from tests.support.waiting import until

ALL = 1_000
TIMEOUT_MS = 200


@pytest.fixture
def proxy(redis):
    with Proxy(redis.port) as between:
        yield between


@pytest.fixture
def engine(proxy):
    made = RedisEngine(parse(f"redis://{proxy.address}?timeout_ms={TIMEOUT_MS}"))
    yield made
    made.close()


@pytest.fixture
def other(redis):
    """A store of another process, which has no trouble."""
    made = RedisEngine(parse(redis.url))
    yield made.open("main")
    made.close()


def is_back(engine):
    return lambda: not any(node.breaker.is_open for node in engine._servers.nodes())


def calls(redis, command="evalsha"):
    with redis.client() as client:
        return client.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0)


def test_a_commit_whose_answer_was_lost_is_found_by_the_head(engine, proxy, other):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    records, commit = draft(head, ("tables/a", 1), requests=[("desk", "1")])
    proxy.hold_answers()
    with pytest.raises(OperationalError):
        store.commit(records, commit)
    until("the server is back", is_back(engine))
    assert store.head() == commit.head == other.head()
    assert store.find_requests([("desk", "1")])
    add(store, ("tables/a", 2))


def test_a_commit_that_comes_after_the_head_was_read_again_is_refused(engine, proxy, redis, other):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    records, commit = draft(head, ("tables/a", 1), requests=[("desk", "1")])
    proxy.hold_requests()
    with pytest.raises(OperationalError):
        store.commit(records, commit)
    until("the server is back", is_back(engine))
    # Whoever was told now that it is not recorded, may rely on it for ever.
    assert store.head() == head
    before = calls(redis)
    proxy.release()
    until("the server has run it", lambda: calls(redis) > before)
    assert store.head() == other.head() == head
    assert store.find_requests([("desk", "1")]) == {}
    store.commit(records, commit)
    assert other.head() == commit.head
    assert len(other.records(0, ALL)) == 2


def test_a_commit_that_comes_late_and_before_anybody_looked_is_recorded(
    engine, proxy, redis, other
):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    records, commit = draft(head, ("tables/a", 1))
    proxy.hold_requests()
    with pytest.raises(OperationalError):
        store.commit(records, commit)
    proxy.release()
    until("it is recorded", lambda: other.head() == commit.head)
    until("the server is back", is_back(engine))
    assert store.head() == commit.head


def test_after_an_unknown_outcome_the_next_commit_settles_it_first(engine, proxy, redis):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    proxy.hold_requests()
    with pytest.raises(OperationalError):
        store.commit(*draft(head, ("tables/a", 1)))
    until("the server is back", is_back(engine))
    records, commit = draft(head, ("tables/b", 1))
    store.commit(records, commit)
    before = calls(redis)
    proxy.release()
    until("the server has run it", lambda: calls(redis) > before)
    assert store.head() == commit.head


def test_settling_one_outcome_makes_other_writers_look_again_and_no_more(engine, proxy, other):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    assert other.head() == head
    proxy.hold_answers()
    with pytest.raises(OperationalError):
        store.commit(*draft(EMPTY, ("ledger", 1)))
    until("the server is back", is_back(engine))
    assert store.head() == head
    records, commit = draft(head, ("tables/a", 1))
    with pytest.raises(HeadMovedError):
        other.commit(records, commit)
    assert other.head() == head
    other.commit(records, commit)


def test_a_server_that_lost_the_scripts_gets_them_again(engine, redis):
    store = engine.open("main")
    for version in range(1, 4):
        with redis.client() as client:
            client.script_flush()
        add(store, ("ledger", version))
        assert len(store.stream("ledger", 0, ALL)) == version


def test_a_server_started_again_has_what_was_acknowledged(tmp_path):
    with RedisServer(tmp_path) as server:
        engine = RedisEngine(parse(server.url))
        store = engine.open("main")
        head = add(store, ("ledger", 1), requests=[("desk", "1")])
        server.kill()
        with pytest.raises(OperationalError):
            store.head()
        server.start()
        until("the server is back", is_back(engine))
        assert store.head() == head
        assert store.find_requests([("desk", "1")])
        add(store, ("ledger", 2))
        engine.close()
