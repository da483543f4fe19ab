"""How safe a commit is said to be is how safe it is."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

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


@contextmanager
def standing_still(server):
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


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
    with standing_still(replica):
        head = add(store, ("ledger", 1))
        assert store.confirm()() == "fsync"
        assert store.head() == head


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


# --- earlier commits --------------------------------------------------------------------------


def test_what_replicas_missed_is_confirmed_later_by_whoever_asks(stores, master, replica):
    hasty = stores(f"{master.url}?replicas=1&wait_ms=50")
    with standing_still(replica):
        head = add(hasty, ("ledger", 1))
        assert hasty.confirm()() == "fsync"
    for store in (hasty, stores(f"{master.url}?replicas=1&wait_ms=30000")):
        assert store.confirm() is None
        assert store.mark(head)
        wait = store.confirm()
    assert wait() == store.asked == "fsync+replicas:1"
    with replica.client() as client:
        assert client.xlen("croupier:{main}:log") == 1


def test_a_mark_is_not_confirmed_by_replicas_that_stand_still(stores, master, replica):
    store = stores(f"{master.url}?replicas=1&wait_ms=50")
    head = add(store, ("ledger", 1))
    with standing_still(replica):
        # On a connection of its own: nothing was ever written on it.
        other = stores(f"{master.url}?replicas=1&wait_ms=50")
        assert other.mark(head)
        assert other.confirm()() == "fsync"


def test_a_mark_on_a_server_that_writes_every_second_waits_for_its_disk(stores, tmp_path):
    with RedisServer(tmp_path / "everysec", appendfsync="everysec") as server:
        head = add(stores(server.url + "?fsync=everysec"), ("ledger", 1))
        store = stores(f"{server.url}?fsync=wait&wait_ms=30000")
        assert store.mark(head)
        assert store.confirm()() == "fsync"


def test_a_mark_changes_nothing(stores, master):
    store = stores(f"{master.url}?replicas=1&wait_ms=1")
    head = add(store, ("ledger", 1), requests=[("desk", "1")])
    store.confirm()()
    with master.client() as client:
        before = {key: client.dump(key) for key in client.scan_iter()}
        assert store.mark(head)
        assert {key: client.dump(key) for key in client.scan_iter()} == before
    assert not store.changed()
    assert add(store, ("ledger", 2)).position == 2


def test_a_log_that_ends_elsewhere_is_not_marked(stores, master):
    store = stores(f"{master.url}?replicas=1&wait_ms=1")
    head = add(store, ("ledger", 1))
    store.confirm()()
    # A server that took over may have another history of the same length, or a shorter one.
    _, other = draft(EMPTY, ("another", 1))
    assert other.head.position == head.position
    for one in (other.head, EMPTY):
        assert not store.mark(one)
    assert store.mark(head)
    store.confirm()()
    # Nor is it when somebody else has committed: who asks again looks again.
    add(stores(master.url), ("ledger", 2))
    assert not store.mark(head)
    assert store.confirm() is None
    with master.client() as client:
        client.delete("croupier:{main}:head")
    assert not store.mark(head)


def test_a_mark_that_fails_makes_no_error_and_keeps_no_line(stores, master):
    store = stores(f"{master.url}?replicas=1&wait_ms=1")
    head = add(store, ("ledger", 1))
    store.confirm()()
    master.kill()
    assert not store.mark(head)
    assert store.confirm() is None
    (node,) = store._of.nodes()
    # Whoever looks whether it is back has one for a moment, too.
    until("no line is held", lambda: not node.pool._in_use_connections)


def test_where_nobody_waits_nothing_is_marked(stores, master):
    store = stores(master.url)
    head = add(store, ("ledger", 1))
    assert store.asked == store.durability
    assert not store.mark(head)
    assert store.confirm() is None
