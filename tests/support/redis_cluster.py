"""A Cluster of real masters on the loopback interface."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import redis
from redis.crc import key_slot

from tests.support.redis_server import RedisServer, free_port
from tests.support.waiting import until

SLOTS = 16_384


class RedisCluster:
    """Masters, each with as many slots as the others."""

    def __init__(self, servers: list[RedisServer]) -> None:
        self.servers = servers
        self._bounds = [SLOTS * number // len(servers) for number in range(len(servers) + 1)]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(one.address for one in self.servers)

    def server_of(self, ledger: str) -> RedisServer:
        """Return the node that has a ledger's keys."""
        slot = _slot(ledger)
        number = next(
            number
            for number, (first, end) in enumerate(pairwise(self._bounds))
            if first <= slot < end
        )
        return self.servers[number]

    def ledger_on(self, server: RedisServer) -> str:
        """Return the id of a ledger whose keys are on a node."""
        ids = (f"casino-{number}" for number in range(1_000))
        return next(one for one in ids if self.server_of(one) is server)

    def begin_move(self, ledger: str, target: RedisServer) -> None:
        """Begin to move the slot of a ledger to another node, as an operator does."""
        source, slot = self.server_of(ledger), _slot(ledger)
        with source.client() as old, target.client() as new:
            new.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", _id_of(old))
            old.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", _id_of(new))

    def move_keys(self, ledger: str, target: RedisServer) -> None:
        """Move all keys of the slot of a ledger."""
        slot = _slot(ledger)
        with self.server_of(ledger).client() as old:
            while keys := old.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
                to = ("127.0.0.1", target.port)
                old.execute_command("MIGRATE", *to, "", 0, 10_000, "KEYS", *keys)

    def end_move(self, ledger: str, target: RedisServer) -> None:
        """Let all nodes know where the slot of a ledger is."""
        with target.client() as new:
            name = _id_of(new)
        for server in (target, *self.servers):
            with server.client() as client:
                client.execute_command("CLUSTER", "SETSLOT", _slot(ledger), "NODE", name)

    def form(self) -> None:
        """Let the nodes meet and share the slots, and wait until all agree."""
        first, *others = self.servers
        for server, (start, end) in zip(self.servers, pairwise(self._bounds), strict=True):
            with server.client() as client:
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", start, end - 1)
        for number, server in enumerate(self.servers, start=1):
            with server.client() as client:
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number)
        with first.client() as client:
            for other in others:
                bus = other.settings["cluster-port"]
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port, bus)
        until("a cluster that is well", lambda: all(map(self._is_well, self.servers)))

    def _is_well(self, server: RedisServer) -> bool:
        with server.client() as client:
            try:
                info = client.execute_command("CLUSTER", "INFO")
            except redis.RedisError:
                return False
        said = (
            info
            if isinstance(info, dict)
            else dict(line.split(":", 1) for line in info.decode().split())
        )
        return (said["cluster_state"], int(said["cluster_known_nodes"])) == (
            "ok",
            len(self.servers),
        )


def _slot(ledger: str) -> int:
    return key_slot(f"{{{ledger}}}".encode())


def _id_of(client: redis.Redis) -> bytes:
    return client.execute_command("CLUSTER", "MYID")


@contextmanager
def redis_cluster(masters: int = 3, **settings: str) -> Iterator[RedisCluster]:
    """Run a Cluster in which the slots of a node that is down are all that is missing."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="croupier-cluster-")))
        given = {
            "cluster_enabled": "yes",
            "cluster_node_timeout": "1000",
            "cluster_require_full_coverage": "no",
            **settings,
        }
        servers = [
            RedisServer(folder / f"node-{number}", cluster_port=str(free_port()), **given)
            for number in range(masters)
        ]
        for server in servers:
            stack.enter_context(server)
        cluster = RedisCluster(servers)
        cluster.form()
        yield cluster
