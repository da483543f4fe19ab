"""A writer that seems to be alone does not look; the commit compares what it takes for granted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.recorder import ALONE
from croupier.services.store.redis_address import parse
from croupier.services.store.store import AssumptionError, HeadMovedError
from tests.services.store.logs import add, draft
from tests.support.proxy import Proxy
from tests.support.waiting import until

KEYS = Keys("croupier", "main")
ALL = 1_000


@pytest.fixture
def engine(redis):
    made = RedisEngine(parse(redis.url))
    yield made
    made.close()


@pytest.fixture
def store(engine):
    """The store of a writer that has met nobody."""
    store = engine.open("main")
    for version in range(1, ALONE + 1):
        add(store, ("ledger", version), requests=[("desk", str(version))])
    return store


@pytest.fixture
def other(engine):
    return engine.open("main")


def on_assumed(store, *events, refused=(), requests=()):
    """Return the arguments of a commit that was decided on what the store assumes."""
    records, commit = draft(store.assumed_head(), *events, requests=requests)
    return records, replace(commit, assumed_new=frozenset([*requests, *refused]))


def evidence(store):
    return store.head(), list(store.records(0, ALL)), store.count_requests(ALL)


def test_a_writer_looks_until_it_has_been_alone_for_a_while(engine):
    store = engine.open("main")
    for version in range(1, ALONE + 1):
        assert store.assumed_head() is None
        head = add(store, ("ledger", version))
    assert store.assumed_head() == head


def test_what_is_assumed_costs_one_call_and_is_recorded(store, redis):
    with redis.client() as raw:
        raw.config_resetstat()
        records, commit = on_assumed(store, ("tables/a", 1), requests=[("desk", "new")])
        store.commit(records, commit)
        assert raw.info("commandstats")["cmdstat_evalsha"]["calls"] == 1
    assert store.assumed_head() == commit.head == store.head()
    assert store.find_requests([("desk", "new")]).keys() == {("desk", "new")}


def test_a_look_at_many_requests_is_one_question_too(store, redis):
    """So that all it says is of one moment, however large a turn is."""
    many = [("desk", f"r{number}") for number in range(2_500)]
    with redis.client() as raw:
        raw.config_resetstat()
        head, found = store.look([*many, ("desk", "3")])
        stats = raw.info("commandstats")
    assert (head.position, found.keys()) == (ALONE, {("desk", "3")})
    assert stats["cmdstat_evalsha"]["calls"] == 1


def test_where_another_committed_nothing_is_recorded_and_the_next_turns_look(store, other):
    head = add(other, ("tables/b", 1))
    with pytest.raises(AssumptionError):
        store.commit(*on_assumed(store, ("tables/a", 1), requests=[("desk", "new")]))
    assert store.assumed_head() is None
    assert store.head() == other.head() == head
    assert store.find_requests([("desk", "new")]) == {}
    assert store.stream_version("tables/a") == 0


def test_to_have_assumed_wrongly_is_no_lost_race(store, other, redis):
    """Whoever only did not look does not ask to be next, which would keep the other waiting."""
    add(other, ("tables/b", 1))
    with pytest.raises(AssumptionError):
        store.commit(*on_assumed(store, ("tables/a", 1)))
    with redis.client() as raw:
        raw.config_resetstat()
        assert store.try_lock()
        store.unlock()
        assert "cmdstat_evalsha" not in raw.info("commandstats")


@pytest.mark.parametrize("known", ["3", str(ALONE)])
def test_a_request_that_was_recorded_before_is_not_recorded_again(store, known):
    before, requests = evidence(store), [("desk", "new"), ("desk", known)]
    with pytest.raises(AssumptionError):
        store.commit(*on_assumed(store, ("tables/a", 1), requests=requests))
    assert evidence(store) == before


def test_a_request_that_was_recorded_before_is_not_refused_as_if_it_were_new(store):
    before, requests = evidence(store), [("desk", "new")]
    refused = [("desk", "unknown"), ("desk", "5")]
    with pytest.raises(AssumptionError):
        store.commit(*on_assumed(store, ("tables/a", 1), requests=requests, refused=refused))
    assert evidence(store) == before


def test_many_refused_requests_are_looked_for_too(store):
    """More than a script can spread over the arguments of one call."""
    many = [("desk", f"r{number}") for number in range(2_500)]
    store.commit(*on_assumed(store, ("tables/a", 1), refused=many))
    before = evidence(store)
    with pytest.raises(AssumptionError):
        store.commit(*on_assumed(store, ("tables/a", 2), refused=[*many, ("desk", "7")]))
    assert evidence(store) == before


def test_another_writer_that_is_next_is_met(store, other, redis):
    with redis.client() as raw:
        later = raw.time()[0] * 1000 + 60_000
        raw.hset(KEYS.head, mapping={"next": "somebody", "next_until_ms": later})
    with pytest.raises(HeadMovedError) as caught:
        store.commit(*on_assumed(store, ("tables/a", 1)))
    assert not isinstance(caught.value, AssumptionError)
    assert store.assumed_head() is None


def test_after_an_unknown_outcome_nothing_is_assumed(redis):
    with Proxy(redis.port) as proxy:
        engine = RedisEngine(parse(f"redis://{proxy.address}?timeout_ms=200"))
        store = engine.open("main")
        for version in range(1, ALONE + 1):
            add(store, ("ledger", version))
        head = store.assumed_head()
        records, commit = on_assumed(store, ("tables/a", 1))
        proxy.hold_answers()
        with pytest.raises(OperationalError):
            store.commit(records, commit)
        assert store.assumed_head() is None
        until("it is back", lambda: not any(n.breaker.is_open for n in engine._servers.nodes()))
        assert store.head() == commit.head != head
        # That it was recorded was not what this writer knew: it begins to look.
        assert store.assumed_head() is None
        engine.close()
