"""How safe a commit is said to be is how safe it is."""

from __future__ import annotations

import os
import signal

import pytest

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.levels import asked, least
from croupier.services.store.redis_address import parse
from tests.services.store.logs import EMPTY, add, draft
from tests.support.redis_server import RedisServer
from tests.support.waiting import until


@pytest.fixture
def master(tmp_path):
    with RedisServer(tmp_path / "master") as one:
        yield one


@pytest.fixture
def replica(tmp_path, master):
    with RedisServer(tmp_path / "replica") as one, one.client() as client:
        client.replicaof("127.0.0.1", master.port)
        until("the link is up", lambda: client.info("replication")["master_link_status"] == "up")
        with master.client() as asked:
            until("a replica", lambda: asked.info("replication")["connected_slaves"] == 1)
        yield one


@pytest.fixture
def stores():
    """Return a way to open a store at a URL; all are closed in the end."""
    engines = []

    def open_at(url):
        engines.append(RedisEngine(parse(url)))
        return engines[-1].open("main")

    yield open_at
    for engine in engines:
        engine.close()


@pytest.mark.parametrize(
    "options, at_once, in_time",
    [
        ("", "fsync", "fsync"),
        ("fsync=wait", "memory", "fsync"),
        ("fsync=everysec", "memory", "memory"),
        ("replicas=1", "fsync", "fsync+replicas:1"),
        ("fsync=wait&replicas=2", "memory", "fsync+replicas:2"),
        ("replicas=1&replicas_fsync=yes", "fsync", "fsync+replicas_fsync:1"),
        ("fsync=everysec&replicas=1", "memory", "memory+replicas:1"),
    ],
)
def test_what_is_asked_for_has_a_name(options, at_once, in_time):
    address = parse(f"redis://host?{options}")
    assert (least(address), asked(address)) == (at_once, in_time)


def test_where_the_server_writes_each_commit_to_disk_nobody_waits(stores, master):
    store = stores(master.url)
    add(store, ("ledger", 1))
    assert store.durability == "fsync"
    assert store.confirm() is None


@pytest.mark.parametrize(
    "options, level",
    [
        ("replicas=1&wait_ms=30000", "fsync+replicas:1"),
        ("replicas=1&replicas_fsync=yes&wait_ms=30000", "fsync+replicas_fsync:1"),
        ("replicas=2&wait_ms=2000", "fsync+replicas:1"),
    ],
)
def test_a_commit_that_replicas_have_is_said_to_be_there(stores, master, replica, options, level):
    store = stores(f"{master.url}?{options}")
    assert store.durability == "fsync"
    assert store.confirm() is None
    add(store, ("ledger", 1))
    assert store.confirm()() == level
    assert store.confirm() is None
    with replica.client() as client:
        assert client.xlen("croupier:{main}:log") == 1


def test_several_commits_are_waited_for_together(stores, master, replica):
    store = stores(f"{master.url}?replicas=1&wait_ms=30000")
    for version in range(1, 4):
        add(store, ("ledger", version))
    first = store.confirm()
    # A commit may come while somebody waits for those before.
    add(store, ("ledger", 4))
    second = store.confirm()
    assert (first(), second()) == ("fsync+replicas:1", "fsync+replicas:1")
    with replica.client() as client:
        assert client.xlen("croupier:{main}:log") == 4


def test_a_replica_that_does_not_answer_makes_no_error(stores, master, replica):
    store = stores(f"{master.url}?replicas=1&wait_ms=50")
    os.kill(replica.pid, signal.SIGSTOP)
    try:
        head = add(store, ("ledger", 1))
        assert store.confirm()() == "fsync"
        assert store.head() == head
    finally:
        os.kill(replica.pid, signal.SIGCONT)


def test_a_server_that_writes_every_second_is_waited_for(stores, tmp_path):
    with RedisServer(tmp_path / "everysec", appendfsync="everysec") as server:
        store = stores(f"{server.url}?fsync=wait&wait_ms=30000")
        assert store.durability == "memory"
        add(store, ("ledger", 1))
        assert store.confirm()() == "fsync"


def test_a_server_that_dies_meanwhile_makes_no_error(stores, master):
    store = stores(f"{master.url}?replicas=1&wait_ms=100")
    store.commit(*draft(EMPTY, ("ledger", 1)))
    wait = store.confirm()
    master.kill()
    assert wait() == "fsync"
    store.close()


def test_a_store_that_is_closed_gives_its_line_back(stores, master):
    store = stores(f"{master.url}?replicas=1")
    add(store, ("ledger", 1))
    store.close()
    store.close()
    (node,) = store._of.nodes()
    assert not node.pool._in_use_connections
