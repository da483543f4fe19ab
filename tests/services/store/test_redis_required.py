"""A server whose settings are changed while ledgers are on it, or that takes over, is noticed."""

from __future__ import annotations

from contextlib import closing

import pytest
from redis import exceptions as theirs
from structlog.testing import capture_logs

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.required import Required
from croupier.services.store.redis_address import parse
from tests.services.store.logs import add
from tests.support.redis_cluster import redis_cluster
from tests.support.redis_sentinel import watched
from tests.support.redis_server import RedisServer, redis_server
from tests.support.waiting import until

CHANGES = [
    ("appendonly", "no", "set `appendonly yes`"),
    ("appendfsync", "no", "set `appendfsync always`"),
    ("maxmemory-policy", "allkeys-random", "set `maxmemory-policy noeviction`"),
]
LINES = ("redis is not as required", "redis is as required again")


def opened(url):
    return closing(RedisEngine(parse(url)))


def said(lines):
    """Return the lines that are about settings: event, level, server and why."""
    return [
        (one["event"], one["log_level"], one["server"], one.get("why", ""))
        for one in lines
        if one["event"] in LINES
    ]


@pytest.fixture
def server():
    with redis_server() as one:
        yield one


@pytest.mark.parametrize("name, value, advice", CHANGES)
def test_a_setting_that_is_changed_lowers_what_commits_are_said_to_be_until_it_is_right(
    server, name, value, advice
):
    with opened(server.url) as engine, closing(engine.open("main")) as store:
        add(store, ("ledger", 1))
        right = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
        with server.client() as client, capture_logs() as lines:
            engine.look_again()
            assert (store.durability, engine.durability, engine.as_required) == (
                "fsync",
                "fsync",
                True,
            )
            client.config_set(name, value)
            for _ in range(3):
                engine.look_again()
                assert (store.durability, engine.durability) == ("memory", "memory")
                assert not engine.as_required
            ((event, level, where, why),) = said(lines)
            assert (event, level, where) == (LINES[0], "error", server.address)
            assert why.startswith(f"`{name} {value}`: ")
            assert why.endswith(advice)
            client.config_set(name, right[name])

            def is_right():
                engine.look_again()
                return engine.as_required

            until("it is as required again", is_right)
            assert (store.durability, engine.durability) == ("fsync", "fsync")
            assert said(lines)[1:] == [(LINES[1], "info", server.address, "")]


def test_a_second_fault_is_said_and_one_that_stays_is_not_said_alone(server):
    with opened(server.url) as engine, server.client() as client, capture_logs() as lines:
        client.config_set("appendfsync", "everysec")
        engine.look_again()
        client.config_set("maxmemory-policy", "allkeys-lru")
        engine.look_again()
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("appendfsync", "always")
        engine.look_again()
    first, second, well = said(lines)
    assert "maxmemory-policy" not in first[3]
    assert "appendfsync everysec" in second[3]
    assert "maxmemory-policy allkeys-lru" in second[3]
    assert well[:2] == (LINES[1], "info")


@pytest.mark.parametrize(
    "options, level",
    [
        ("replicas=1&wait_ms=30000", "memory+replicas:1"),
        ("replicas=1&replicas_fsync=yes&wait_ms=30000", "memory+replicas_fsync:1"),
    ],
)
def test_what_replicas_have_is_said_beside_what_the_server_has_not(
    server, tmp_path, options, level
):
    with RedisServer(tmp_path / "replica") as replica, replica.client() as follower:
        follower.replicaof("127.0.0.1", server.port)
        until("it is up", lambda: follower.info("replication")["master_link_status"] == "up")
        with opened(f"{server.url}?{options}") as engine, closing(engine.open("main")) as store:
            with server.client() as client:
                client.config_set("appendfsync", "no")
            engine.look_again()
            add(store, ("ledger", 1))
            assert store.confirm()() == engine.durability == level


def test_a_server_that_is_asked_for_each_commit_says_itself_what_is_on_its_disk(server):
    with server.client() as client:
        client.config_set("appendfsync", "everysec")
        with (
            opened(f"{server.url}?fsync=wait&wait_ms=30000") as engine,
            closing(engine.open("main")) as store,
        ):
            engine.look_again()
            assert engine.durability == "fsync"
            client.config_set("maxmemory-policy", "volatile-lru")
            engine.look_again()
            assert engine.durability == "memory"
            add(store, ("ledger", 1))
            assert store.confirm()() == "fsync"
            client.config_set("appendonly", "no")
            engine.look_again()
            add(store, ("ledger", 2))
            assert store.confirm()() == "memory"


def test_a_server_that_does_not_answer_is_taken_to_be_as_it_was(server):
    with opened(f"{server.url}?timeout_ms=200") as engine:
        with server.client() as client:
            client.config_set("appendfsync", "no")
        engine.look_again()
        server.kill()
        with capture_logs() as lines:
            engine.look_again()
        assert engine.durability == "memory"
        assert said(lines) == []


def test_a_server_that_comes_back_is_looked_at_before_it_is_used(server):
    with opened(server.url) as engine, closing(engine.open("main")) as store:
        add(store, ("ledger", 1))
        server.kill()
        with pytest.raises(Exception, match=r"refused|closed|reset"):
            store.head()
        server.settings["appendfsync"] = "everysec"
        server.start()
        (node,) = engine._servers.nodes()
        until("it is back", lambda: not node.breaker.is_open)
        assert store.durability == "memory"


def test_who_may_no_longer_ask_takes_what_was_wrong_to_be_so_still(server):
    rules = ("~croupier:*", "+@all")
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "cage", "on", ">pw", *rules)
        with opened(f"redis://cage:pw@{server.address}") as engine, capture_logs() as lines:
            client.config_set("appendfsync", "no")
            client.config_set("maxmemory-policy", "allkeys-lru")
            engine.look_again()
            client.execute_command("ACL", "SETUSER", "cage", "-config|get")
            client.config_set("maxmemory-policy", "noeviction")
            engine.look_again()
            assert engine.durability == "memory"
            assert "maxmemory" not in said(lines)[-1][3]
            assert "appendfsync" in said(lines)[-1][3]
        assert ":pw" not in str(lines)


def test_settings_that_cannot_be_asked_for_are_taken_to_be_as_they_were_at_the_start(server):
    with server.client() as client:
        rules = ["~croupier:*", "+@all", "-@admin", "-@dangerous", "+info"]
        client.execute_command("ACL", "SETUSER", "cage", "on", ">pw", *rules)
        with opened(f"redis://cage:pw@{server.address}") as engine, capture_logs() as lines:
            client.config_set("appendfsync", "no")
            engine.look_again()
            assert engine.durability == "fsync"
            assert engine.unknown
            assert said(lines) == []
            # What every answer to INFO tells is known all the same.
            client.config_set("appendonly", "no")
            engine.look_again()
            assert engine.durability == "memory"


class Answers:
    """A server that says of itself what a test wants; None is what it does not let us ask."""

    def __init__(self, info):
        self.info = info

    def ask(self, *command):
        if command[0] == "INFO" and self.info is not None:
            return self.info.encode()
        raise theirs.NoPermissionError


@pytest.mark.parametrize(
    "state",
    ["aof_rewrite_in_progress:1", "aof_rewrite_scheduled:1", "aof_last_bgrewrite_status:err"],
)
def test_a_file_that_was_switched_on_counts_once_it_is_written(state):
    required = Required(parse("redis://h"))
    required.look("h:1", Answers("aof_enabled:0"))
    required.look("h:1", Answers(f"aof_enabled:1\r\n{state}"))
    assert not required.is_met
    required.look("h:1", Answers("aof_enabled:1\r\naof_last_bgrewrite_status:ok"))
    assert required.is_met
    # Later rewrites replace a file that is there.
    required.look("h:1", Answers(f"aof_enabled:1\r\n{state}"))
    assert required.is_met


def test_another_server_is_judged_by_itself():
    required = Required(parse("redis://h"))
    required.look("h:1", Answers("redis_version:7.0.15\r\naof_enabled:0"))
    assert not required.is_met
    required.look("h:2", Answers("redis_version:7.2.4"))
    assert required.is_met
    required.look("h:2", Answers("redis_version:7.0.15"))
    assert not required.is_met
    required.look("h:3", Answers(None))
    assert required.is_met


def test_only_the_ledgers_of_the_node_that_was_changed_are_less_safe():
    with redis_cluster() as nodes:
        bad, good = nodes.servers[0], nodes.servers[1]
        with opened(nodes.url) as engine:
            stores = [engine.open(nodes.ledger_on(one)) for one in (bad, good)]
            with bad.client() as client, capture_logs() as lines:
                client.config_set("appendfsync", "no")
                engine.look_again()
            assert [one.durability for one in stores] == ["memory", "fsync"]
            assert engine.durability == "memory"
            assert [line[2] for line in said(lines)] == [bad.address]
            for one in stores:
                one.close()


OTHER = "not ours"
BAD = {"appendonly": "no", "appendfsync": "no", "maxmemory-policy": "allkeys-lru"}


def test_a_replica_with_other_settings_is_warned_of_and_noticed_when_it_takes_over():
    with watched() as group:
        master, (replica,) = group.master, group.replicas()
        with replica.client() as client:
            for name, value in BAD.items():
                client.config_set(name, value)
        with opened(group.url) as engine, closing(engine.open("main")) as store:
            assert [one.partition(": ")[0] for one in engine.warnings] == [
                f"replica {replica.address}, which may take over"
            ] * 3
            for (_, _, advice), warning in zip(CHANGES, engine.warnings, strict=True):
                assert warning.endswith(advice)
            engine.look_again()
            assert engine.durability == "fsync"
            head = add(store, ("ledger", 1))
            with capture_logs() as lines:
                master.kill()
                assert group.new_master(master) is replica

                def found():
                    engine.look_again()
                    return not engine.as_required

                until("the new master was looked at", found)
            assert store.durability == "memory"
            ((event, level, where, why),) = said(lines)
            assert (event, level, where) == (LINES[0], "error", replica.address)
            assert all(advice in why for _, _, advice in CHANGES)

            def still():
                try:
                    return store.head() == head
                except Exception:  # noqa: BLE001  # it is not looked for yet
                    return False

            until("the new master serves", still)
            assert store.durability == "memory"


def test_replicas_that_are_as_required_or_not_to_be_reached_are_not_spoken_of():
    with watched() as group:
        (replica,) = group.replicas()
        with opened(group.url) as engine:
            assert engine.warnings == []
        with replica.client() as client:
            client.config_set("appendfsync", "no")
            client.config_set("requirepass", OTHER)
        with opened(group.url) as engine:
            assert engine.warnings == []
        with replica.client(password=OTHER) as client:
            client.config_set("requirepass", "")
        with opened(group.url) as engine:
            assert len(engine.warnings) == 1
