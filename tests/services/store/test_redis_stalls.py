"""A server that stalls stops the event loop once, and not for longer than the time-out."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from itertools import pairwise
from time import monotonic

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.store.redis import breaker
from croupier.services.store.redis.breaker import Breaker
from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis_address import parse
from tests.services.store.logs import add
from tests.support.redis_server import RedisServer, free_port
from tests.support.waiting import until

TIMEOUT_S = 0.3


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path) as one:
        yield one


@pytest.fixture
def engine(server):
    made = RedisEngine(parse(f"{server.url}?timeout_ms={round(1000 * TIMEOUT_S)}"))
    yield made
    made.close()


@contextmanager
def stalled(server):
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def is_back(engine):
    return lambda: not any(node.breaker.is_open for node in engine._servers.nodes())


def test_only_the_first_call_waits_for_a_stalled_server(engine, server):
    stores = [engine.open(ledger) for ledger in "ab"]
    heads = [add(store, ("ledger", 1)) for store in stores]
    with stalled(server):
        began = monotonic()
        with pytest.raises(OperationalError):
            stores[0].head()
        assert monotonic() - began >= TIMEOUT_S
        for ask in (
            stores[0].changed,
            stores[1].head,
            lambda: stores[1].records(0, 1),
            engine.ledgers,
            lambda: engine.exists("a"),
            lambda: add(stores[1], ("ledger", 2)),
        ):
            began = monotonic()
            with pytest.raises(OperationalError, match="has not answered for"):
                ask()
            assert monotonic() - began < TIMEOUT_S / 3
    until("the server is back", is_back(engine))
    assert [store.head() for store in stores] == heads


def test_a_server_that_is_gone_is_asked_again_until_it_is_back(engine, server):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    server.kill()
    for _ in range(2):
        with pytest.raises(OperationalError):
            store.head()
    server.start()
    until("the server is back", is_back(engine))
    assert store.head() == head


def test_a_server_that_became_a_replica_is_away_until_it_is_a_master(engine, server):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    with server.client() as client:
        client.replicaof("127.0.0.1", free_port())
        with pytest.raises(OperationalError, match="read only"):
            add(store, ("ledger", 2))
        with pytest.raises(OperationalError, match="has not answered"):
            store.head()
        client.replicaof("NO", "ONE")
    until("the server is back", is_back(engine))
    assert store.head() == head
    add(store, ("ledger", 2))


def test_a_breaker_asks_ever_more_rarely_and_stops_with_its_server(monkeypatch):
    monkeypatch.setattr(breaker, "PAUSE_S", 0.001)
    asked = []

    def probe():
        asked.append(monotonic())
        raise OSError("still away")

    one = Breaker("server", probe)
    one.check()
    one.trip(OSError("away"))
    one.trip(OSError("once more"))
    until("five attempts", lambda: len(asked) >= 5)
    with pytest.raises(OperationalError, match="still away"):
        one.check()
    gaps = [after - before for before, after in pairwise(asked)]
    assert gaps[3] > gaps[0]
    one.end()
    one.trip(OSError("ended"))
