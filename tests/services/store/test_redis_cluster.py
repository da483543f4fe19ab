"""The slot of a ledger moves from node to node of a Cluster, and its log comes along whole."""

from __future__ import annotations

from contextlib import closing

import pytest
from eventsourcing.persistence import PersistenceError

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis_address import parse
from tests.services.store.logs import add, draft
from tests.support.redis_cluster import redis_cluster

ALL = 1_000


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster() as cluster:
        yield cluster


@pytest.fixture
def store(cluster):
    """A log on the first node, in a slot that is still there."""
    ledger = cluster.ledger_on(cluster.servers[0])
    with closing(RedisEngine(parse(f"{cluster.url}"))) as engine:
        store = engine.open(ledger)
        store.ledger = ledger
        yield store


@pytest.fixture
def target(cluster):
    """The node to which the slot goes; it knows no script of ours."""
    with cluster.servers[1].client() as client:
        client.script_flush()
    return cluster.servers[1]


def test_a_slot_that_moves_while_it_is_written_loses_nothing_and_doubles_nothing(
    cluster, store, target
):
    requests = [("desk", str(number)) for number in range(1, 6)]
    for version, request in enumerate(requests, 1):
        add(store, ("ledger", version), requests=[request])
    before = store.head(), list(store.records(0, ALL))

    cluster.begin_move(store.ledger, target)
    # A node that is on its way out of a slot answers for none of its keys that it does not have.
    with pytest.raises(PersistenceError, match="during rehashing of slot"):
        store.commit(*draft(before[0], ("tables/new", 1), requests=[("desk", "new")]))
    assert (store.head(), list(store.records(0, ALL))) == before

    cluster.move_keys(store.ledger, target)
    # The keys are elsewhere, and nobody has been told: each question is asked there once more.
    assert store.head() == before[0]
    assert store.look(requests)[1].keys() == set(requests)
    assert list(store.records(0, ALL)) == before[1]

    cluster.end_move(store.ledger, target)
    head = add(store, ("ledger", 6), ("tables/new", 1), requests=[("desk", "new")])
    assert head.position == 7
    with closing(RedisEngine(parse(cluster.url))) as another:
        there = another.open(store.ledger)
        assert there.head() == head
        assert len(there.find_requests([*requests, ("desk", "new")])) == 6
        assert [one.id for one in there.records(0, ALL)] == list(range(1, 8))
