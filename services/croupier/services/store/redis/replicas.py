"""What is wrong with replicas, any of which may be the master tomorrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from redis import exceptions as theirs
from redis.connection import Connection, ConnectionPool, SSLConnection

from croupier.services.store.redis import settings
from croupier.services.store.redis.servers import Line, Node, Servers, connection_options
from croupier.services.store.redis_address import Address


def warnings(servers: Servers) -> list[str]:
    """Return what is wrong with each replica that can take over by itself.

    Of replicas that cannot be reached from here, or do not say, nothing is said.
    """
    address = servers.address
    if address.kind == "server":
        return []
    found: list[str] = []
    for node in servers.nodes():
        for host, port in _named(node):
            found += _wrong(address, host, port)
    return list(dict.fromkeys(found))


def _named(node: Node) -> Iterator[tuple[str, int]]:
    """Yield where a master says that its replicas are."""
    said: dict[str, str] = {}
    with suppress(theirs.RedisError):
        line = Line(node, node.pool.get_connection())
        try:
            said = settings.info(line)
        finally:
            line.release()
    for number in range(int(said.get("connected_slaves", 0))):
        # slave0:ip=10.0.0.6,port=6379,state=online,offset=1,lag=0
        parts = (part.partition("=") for part in said.get(f"slave{number}", "").split(","))
        one = {name: value for name, _, value in parts}
        if one.get("ip") and one.get("port", "").isdecimal():
            yield one["ip"], int(one["port"])


def _wrong(address: Address, host: str, port: int) -> list[str]:
    kind = SSLConnection if address.tls else Connection
    pool = ConnectionPool(
        connection_class=kind, host=host, port=port, **connection_options(address) | {"db": 0}
    )
    node = Node(f"{host}:{port}", pool, address)
    try:
        line = Line(node, pool.get_connection())
        try:
            said = settings.info(line)
            found = settings.wrong(settings.known(said, settings.config(line)), address)
        finally:
            line.release()
    except theirs.RedisError:
        return []
    finally:
        node.close()
    reasons = [why for why in (settings.too_old(said), *found.values()) if why]
    return [f"replica {line.where}, which may take over: {why}" for why in reasons]
