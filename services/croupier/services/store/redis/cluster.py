"""A Cluster: each ledger on the node that has its slot, wherever that goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

from redis import exceptions as theirs
from redis.cluster import ClusterNode, RedisCluster
from redis.crc import key_slot

from croupier.services.store.redis.servers import Node, Servers, connection_options
from croupier.services.store.redis_address import Address

# The driver has no types for it.
_CLUSTER: Any = RedisCluster
_CLUSTER_NODE: Any = ClusterNode


@contextmanager
def _no_cluster_is_down() -> Iterator[None]:
    """Raise an error of the driver's family where it raises one that is of none."""
    try:
        yield
    except theirs.RedisClusterException as error:
        raise theirs.ClusterDownError(str(error)) from error


class Cluster(Servers):
    """The nodes of a Cluster. The driver knows which has which slots, and looks again if told."""

    def __init__(self, address: Address) -> None:
        """Ask which nodes there are.

        Raises:
            redis.RedisError: none of those given says so.

        """
        super().__init__(address)
        options = connection_options(address)
        options.pop("db")
        with _no_cluster_is_down():
            self._cluster: Any = _CLUSTER(
                startup_nodes=[_CLUSTER_NODE(host, port) for host, port in address.hosts],
                ssl=address.tls,
                **options,
            )
        self._nodes: dict[str, Node] = {}
        self._lock = Lock()

    @property
    def _topology(self) -> Any:
        return self._cluster.nodes_manager

    def node(self, key: str) -> Node:
        """Return the node of a key's slot."""
        return self._known(self._topology.get_node_from_slot(key_slot(key.encode())))

    def nodes(self) -> list[Node]:
        """Return every node that has slots."""
        return [self._known(one) for one in self._cluster.get_primaries()]

    def moved(self, error: theirs.MovedError | theirs.AskError) -> Node:
        """Return the node that is named; where the slot moved for good, remember that."""
        if isinstance(error, theirs.MovedError):
            self._topology.move_slot(error)
        named = self._cluster.get_node(error.host, error.port)
        if named is None:
            with _no_cluster_is_down():
                self._topology.initialize(additional_startup_nodes_info=[(error.host, error.port)])
            named = self._cluster.get_node(error.host, error.port)
        if named is None:
            raise theirs.ClusterDownError(f"{error.host}:{error.port} is no node of the Cluster")
        return self._known(named)

    def _known(self, one: Any) -> Node:
        with self._lock:
            found = self._nodes.get(one.name)
            pool = self._cluster.get_redis_connection(one).connection_pool
            if found is None or found.pool is not pool:
                made = Node(one.name, pool, self.address)
                made.breaker.probe = partial(self._probe, made)
                if found is not None:
                    found.breaker.end()
                    made.required = found.required
                found = self._nodes[one.name] = made
            return found

    def _probe(self, node: Node) -> None:
        """Look which nodes there are now, and raise unless this one is well or has no slots."""
        with _no_cluster_is_down():
            self._topology.initialize(last_failed_node_name=node.name)
        if any(one.name == node.name for one in self._cluster.get_primaries()):
            node.probe()

    def close(self) -> None:
        """Let go of every connection."""
        with self._lock:
            for node in self._nodes.values():
                node.breaker.end()
        self._cluster.close()
