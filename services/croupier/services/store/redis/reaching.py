"""How an address is reached: one server, or a Cluster."""

from __future__ import annotations

from croupier.services.store.redis.cluster import Cluster
from croupier.services.store.redis.errors import translated
from croupier.services.store.redis.servers import OneServer, Servers
from croupier.services.store.redis_address import Address


def servers_of(address: Address) -> Servers:
    """Return the connections to an address. Only a Cluster is asked now, for its nodes.

    Raises:
        PersistenceError: it does not say.

    """
    if address.kind != "cluster":
        return OneServer(address)
    with translated():
        return Cluster(address)
