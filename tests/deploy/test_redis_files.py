"""What Redis servers are told in deployments is what ledgers are entrusted to, on real servers."""

from __future__ import annotations

import re

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis_address import parse
from tests.support.deployments import DEPLOY, composed
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_sentinel import SERVICE, Sentinel
from tests.support.redis_server import RedisServer, free_port
from tests.support.waiting import until

REDIS = DEPLOY / "redis"
INCLUDE = re.compile(r"^include (\S+)$", re.MULTILINE)


def settings(name):
    """Return the settings of a file and of those that it includes; the folder is the test's own."""
    text = (REDIS / name).read_text()
    found = {}
    for place in INCLUDE.findall(text):
        found |= settings(place.rpartition("/")[2])
    for line in text.splitlines():
        if line and not line.startswith("#"):
            directive, _, value = line.partition(" ")
            found[directive] = '""' if value == '""' else value
    found.pop("include", None)
    found.pop("dir", None)
    return {name: "" if value == '""' else value for name, value in found.items()}


def started(folder, name, **more):
    """Return a server that is told what a file says, and of the test nothing but its place."""
    server = RedisServer(folder)
    server.settings = {"bind": "127.0.0.1", **settings(name), **more}
    server.settings.pop("replica-announce-port", None)
    return server


def test_a_server_alone_is_one_that_ledgers_are_entrusted_to(tmp_path):
    with started(tmp_path, "server.conf") as server:
        engine = RedisEngine(parse(server.url))
        assert engine.unknown == []
        engine.close()


def test_a_master_without_a_replica_takes_no_commits(tmp_path):
    with started(tmp_path / "one", "replicated.conf") as master:
        engine = RedisEngine(parse(f"{master.url}?replicas=1"))
        assert ["replicas are connected" in one for one in engine.unknown] == [True]
        with pytest.raises(OperationalError, match="NOREPLICAS"):
            engine.open("main")
        of = ("127.0.0.1", str(master.port))
        with started(tmp_path / "other", "replicated.conf", replicaof=of):

            def takes():
                try:
                    engine.open("main").close()
                except OperationalError:
                    return False
                return True

            until("a replica in touch", takes)
        engine.close()


def test_sentinels_are_told_what_they_take(tmp_path):
    with started(tmp_path / "redis", "server.conf") as master:
        sentinel = Sentinel(tmp_path / "sentinel", master, quorum=1)
        sentinel.kill()
        text = (REDIS / "sentinel.conf").read_text()
        assert f"sentinel monitor {SERVICE} redis-1 6379 2\n" in text
        here = text.replace("redis-1 6379", f"127.0.0.1 {master.port}")
        here = here.replace("port 26379", f"port {sentinel.port}")
        here = here.replace("dir /data", f"dir {tmp_path}")
        again = Sentinel(tmp_path / "again", master, quorum=1, text=here, port=sentinel.port)
        try:
            until("the master's address", lambda: again.master_port() == master.port)
        finally:
            again.kill()


def test_nodes_make_a_cluster_that_ledgers_are_entrusted_to(tmp_path):
    # Alone, without its replica, a master would wait for one.
    alone = {"min-replicas-to-write": "0"}
    nodes = [
        started(
            tmp_path / str(number), "cluster.conf", **alone, **{"cluster-port": str(free_port())}
        )
        for number in range(3)
    ]
    try:
        for node in nodes:
            node.start()
        cluster = RedisCluster(nodes)
        cluster.form()
        engine = RedisEngine(parse(cluster.url))
        for node in nodes:
            engine.open(cluster.ledger_on(node)).close()
        engine.close()
    finally:
        for node in nodes:
            node.kill()


def test_every_file_is_mounted_by_somebody_who_reads_it():
    mounted = set()
    for name in ("redis/compose.sentinel.yaml", "redis/compose.cluster.yaml"):
        for service in composed(name)["services"].values():
            files = {
                volume.split(":")[1] for volume in service.get("volumes", ()) if ".conf" in volume
            }
            mounted |= {place.rpartition("/")[2] for place in files}
            said = " ".join(service.get("command", ()))
            read = set(re.findall(r"/etc/redis/[\w.]+", said))
            for place in sorted(read):
                text = (REDIS / place.rpartition("/")[2]).read_text()
                read |= set(INCLUDE.findall(text))
            assert read == files
    assert mounted == {file.name for file in REDIS.glob("*.conf")}
