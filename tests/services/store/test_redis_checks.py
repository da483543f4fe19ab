"""Servers to which no ledger is entrusted are refused at the start, with nothing changed there."""

from __future__ import annotations

import re
import socket
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import pytest

from croupier.services.store.engine_error import EngineError
from croupier.services.store.redis import checks
from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis_address import parse
from tests.services.store.logs import add, snapshot
from tests.support.redis_server import redis_server

PREFIX = "croupier:"
ROOT = Path(__file__).parents[3]


def refused(url):
    with pytest.raises(EngineError) as caught:
        RedisEngine(parse(url))
    return str(caught.value)


def opened(url):
    return closing(RedisEngine(parse(url)))


@pytest.mark.parametrize(
    "settings, options, said",
    [
        ({"appendonly": "no"}, "", "set `appendonly yes`"),
        ({"appendonly": "no"}, "fsync=everysec", "set `appendonly yes`"),
        ({"appendfsync": "everysec"}, "", "set `appendfsync always`"),
        ({"appendfsync": "no"}, "fsync=wait", "set `appendfsync always` or `appendfsync everysec`"),
        ({"maxmemory_policy": "allkeys-lru"}, "", "set `maxmemory-policy noeviction`"),
        ({"maxmemory_policy": "volatile-ttl"}, "", "set `maxmemory-policy noeviction`"),
    ],
)
def test_a_server_that_may_lose_ledgers_is_refused_with_what_to_set(settings, options, said):
    with redis_server(**settings) as server:
        assert said in refused(f"{server.url}?{options}")
        with server.client() as client:
            assert client.keys() == []
            for name, value in (part.strip("`").split() for part in said.split("`")[1:2]):
                client.config_set(name, value)
        with opened(f"{server.url}?{options}"):
            pass


def test_a_wrong_password_is_refused_and_not_repeated():
    with redis_server(requirepass="right") as server:
        for who in ("", ":wrong@", "nobody:wrong@"):
            said = refused(f"redis://{who}{server.address}")
            assert "wrong user or password" in said
            assert ":wrong" not in said
        with opened(f"redis://:right@{server.address}"):
            pass


def test_a_user_who_may_not_read_settings_is_served_and_the_operator_told(redis):
    with redis.client() as client:
        rules = ["~croupier:*", "+@all", "-@admin", "-@dangerous", "+info"]
        client.acl_setuser("cage", enabled=True, passwords=["+pw"], keys=(), commands=())
        client.execute_command("ACL", "SETUSER", "cage", *rules)
        try:
            with opened(f"redis://cage:pw@{redis.address}") as engine:
                assert engine.unknown == [
                    "the user may not read the server's settings (CONFIG GET)",
                    "appendfsync is not known; it has to be always",
                ]
                store = engine.open("main")
                head = add(store, ("ledger", 1))
                assert store.head() == head
                assert engine.ledgers() == ["main"]
        finally:
            client.acl_deluser("cage")


def test_a_user_with_the_rights_of_the_guide_needs_no_more(redis):
    said = (ROOT / "docs/engines.md").read_text()
    (rights,) = re.findall(r"the commands `([^`]+)`", said)
    with redis.client() as client:
        client.execute_command(
            "ACL", "SETUSER", "cage", "on", ">pw", "~croupier:*", *rights.split(), "+config|get"
        )
        try:
            with opened(f"redis://cage:pw@{redis.address}?replicas=1&wait_ms=1") as engine:
                assert engine.unknown == ["0 replicas are connected, 1 should have each commit"]
                store = engine.open("main")
                head = add(
                    store, ("a", 1), requests=[("desk", "1")], snapshots=[snapshot("book", 1)]
                )
                assert store.confirm()() == "fsync"
                assert store.mark(head)
                assert store.confirm()() == "fsync"
                store._turns.lost()
                assert store.try_lock()
                store.unlock()
                store._unsettled = True
                assert store.head() == head
                assert store.snapshot("book")
                assert store.find_requests([("desk", "1")])
                assert store.count_requests(0) == 0
                assert list(store.streams("", "", 9)) == ["a"]
                assert len(store.stream("a", 0, 9)) == len(store.records(0, 9)) == 1
                assert not store.changed()
                assert engine.ledgers() == ["main"]
                assert engine.exists("main")
                (node,) = engine._servers.nodes()
                node.probe()
        finally:
            client.acl_deluser("cage")


@pytest.mark.parametrize("missing", ["-@scripting", "-evalsha", "resetkeys"])
def test_a_user_who_may_not_do_what_the_service_does_is_refused(redis, missing):
    with redis.client() as client:
        client.execute_command(
            "ACL", "SETUSER", "cage", "on", ">pw", "~croupier:*", "+@all", missing
        )
        try:
            said = refused(f"redis://cage:pw@{redis.address}")
            assert "may not do what the service does" in said
        finally:
            client.acl_deluser("cage")


def test_a_replica_is_refused(redis):
    with redis_server() as other, other.client() as client:
        client.replicaof("127.0.0.1", redis.port)
        assert "not the master" in refused(other.url)


def test_a_node_of_a_cluster_and_a_lone_server_are_not_taken_for_each_other(redis):
    with redis_server(cluster_enabled="yes") as node:
        assert "redis+cluster://" in refused(node.url)
    assert "Cluster mode is not enabled" in refused(f"redis+cluster://{redis.address}")


def test_too_few_replicas_are_said_and_no_reason_to_refuse(redis):
    with opened(f"{redis.url}?replicas=2") as engine:
        assert engine.unknown == ["0 replicas are connected, 2 should have each commit"]
        assert engine.durability == "fsync+replicas:2"


@pytest.mark.parametrize(
    "put",
    [
        lambda client: client.set(f"{PREFIX}session", "x"),
        lambda client: client.set(f"{PREFIX}format", "json"),
        lambda client: client.hset(f"{PREFIX}format", "a", "b"),
        lambda client: client.set(f"{PREFIX}ledgers", "x"),
        lambda client: [client.set(f"{PREFIX}format", 1), client.set(f"{PREFIX}ledgers", "x")],
    ],
    ids=["a key", "format", "type of format", "ledgers", "type of ledgers"],
)
def test_keys_of_another_application_are_left_alone(redis, put):
    with redis.client() as client:
        put(client)
        before = {key: client.dump(key) for key in client.scan_iter()}
        assert "choose another prefix" in refused(redis.url)
        assert {key: client.dump(key) for key in client.scan_iter()} == before
    with opened(f"{redis.url}?prefix=ours"):
        pass


def test_keys_of_others_beside_ours_are_no_reason_to_refuse(redis):
    with redis.client() as client:
        client.set("session:1", "x")
        client.set("croupiers", "x")
    with opened(redis.url):
        pass


def test_keys_of_a_later_format_are_left_alone(redis):
    with opened(redis.url) as engine:
        add(engine.open("main"), ("ledger", 1))
    with redis.client() as client:
        client.set(f"{PREFIX}format", "2")
        assert "a later version" in refused(redis.url)


def test_what_is_not_redis_is_refused():
    answers = b"HTTP/1.1 400 Bad Request\r\n\r\n"

    def serve(listening):
        with suppress(OSError):  # the test is over, or the caller has hung up
            for _ in range(2):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(answers)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=serve, args=(listening,), daemon=True).start()
        port = listening.getsockname()[1]
        assert "does not answer as Redis does" in refused(f"redis://127.0.0.1:{port}")


def test_nobody_there_and_nobody_who_answers_are_said():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert "no answer in 50 ms" in refused(f"redis://127.0.0.1:{port}?timeout_ms=50")
    for url in (
        f"redis://127.0.0.1:{port}",
        f"redis+cluster://127.0.0.1:{port}",
    ):
        assert "refused" in refused(url)
    said = refused(f"redis+sentinel://127.0.0.1:{port}/main")
    assert said.endswith("none of the Sentinels says where the master is")


class Said:
    """A line to a server that says of itself what a test wants."""

    class node:  # noqa: N801
        name = "server"

    def __init__(self, info):
        self._info = info

    def ask(self, *command):
        return {"INFO": self._info, "ROLE": [b"master"], "CONFIG": []}[command[0]]


@pytest.mark.parametrize(
    "info, said",
    [
        (b"redis_version:7.0.15\r\n", "it is Redis 7.0.15; 7.2 or later is needed"),
        (b"redis_version:6.2.1\r\n", "7.2 or later"),
        (b"redis_version:8.0.0\r\nredis_mode:sentinel\r\n", "redis+sentinel://"),
        (b"# Server\r\n", "which version"),
        (5, "which version"),
    ],
)
def test_a_server_of_another_kind_is_refused(info, said):
    with pytest.raises(EngineError, match=re.escape(said)):
        list(checks._check_server(Said(info), parse("redis://h")))


def test_what_a_hosted_server_does_not_say_is_told_to_the_operator():
    unknown = list(checks._check_server(Said(b"redis_version:7.2.4\r\n"), parse("redis://h")))
    assert unknown == [
        "appendonly is not known; it has to be yes",
        "appendfsync is not known; it has to be always",
        "maxmemory-policy is not known; it has to be noeviction",
    ]
