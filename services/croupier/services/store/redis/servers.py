"""Where a deployment's keys are, and the connections to there.

Every command is sent once: a client that sends it again by itself would not know what became of the
first. Who is told that a server is away asks again when he likes, and finds out by the head.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from redis import exceptions as theirs
from redis.backoff import NoBackoff
from redis.connection import Connection, ConnectionPool, SSLConnection
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool

from croupier.services.store.redis.breaker import Breaker
from croupier.services.store.redis.errors import translated
from croupier.services.store.redis.scripts import Script
from croupier.services.store.redis_address import Address

T = TypeVar("T")

REDIRECTIONS = 5
"""How often a Cluster may send a command on to another node."""


class Node:
    """One server, or whichever is the master of a service now."""

    def __init__(self, name: str, pool: ConnectionPool) -> None:
        self.name = name
        self.pool = pool
        self.breaker = Breaker(name, self.probe)

    def line(self) -> Line:
        """Return a connection to it.

        Raises:
            OperationalError: it is known to be away.
            redis.ConnectionError: it cannot be reached.

        """
        self.breaker.check()
        return Line(self, self.pool.get_connection())

    def probe(self) -> None:
        """Raise unless it answers and takes writes. It may take as long as the time-outs."""
        line = Line(self, self.pool.get_connection())
        try:
            line.ask("PING")
            check_is_master(line)
        finally:
            line.release()

    def close(self) -> None:
        """Let go of every connection."""
        self.breaker.end()
        self.pool.disconnect()


class Line:
    """A connection, held for one command or for several."""

    __slots__ = ("_connection", "asking", "node")

    def __init__(self, node: Node, connection: Any) -> None:
        self.node = node
        self.asking = False
        """Whether another node sent us here for a slot that is on its way."""
        self._connection = connection

    def ask(self, *command: Any, timeout_s: float | None = None) -> Any:
        """Send a command and return its answer; within another time-out if one is given.

        Raises:
            redis.RedisError: it was refused, or there is no answer.

        """
        more = {} if timeout_s is None else {"timeout": timeout_s}
        try:
            self._connection.send_command(*command, check_health=False)
            return self._connection.read_response(**more)
        except theirs.ResponseError:
            raise  # it is the answer, whole
        except BaseException:
            # What is still to come would be taken for the answer to the next command.
            self._connection.disconnect()
            raise

    def run(self, script: Script, keys: Any, arguments: Any, timeout_s: float | None = None) -> Any:
        """Run a script; a server that has forgotten it gets it again."""
        how = (len(keys), *keys, *arguments)
        try:
            return self.ask("EVALSHA", script.digest, *how, timeout_s=timeout_s)
        except theirs.NoScriptError:
            if self.asking:  # which holds for one command
                self.ask("ASKING")
            return self.ask("EVAL", script.text, *how, timeout_s=timeout_s)

    def release(self) -> None:
        """Give the connection back."""
        self.node.pool.release(self._connection)


class Servers(ABC):
    """Finds the node of a key, and asks it."""

    def __init__(self, address: Address) -> None:
        self.address = address

    def ask(self, key: str, *command: Any) -> Any:
        """Send a command to where a key is and return the answer.

        Raises:
            PersistenceError: it was refused, or there is no answer.

        """
        with translated():
            return self.there(key, lambda line: line.ask(*command))

    def run(self, script: Script, keys: Any, arguments: Any = ()) -> Any:
        """Run a script where its first key is and return the answer.

        Raises:
            PersistenceError: it was refused, or there is no answer.

        """
        with translated():
            return self.there(keys[0], lambda line: line.run(script, keys, arguments))

    def run_and_hold(
        self, script: Script, keys: Any, arguments: Any, line: Line | None, timeout_s: float
    ) -> tuple[Any, Line]:
        """Run a script, on the held line if there is one; return the answer, and the line to hold.

        Raises:
            PersistenceError: it was refused, or there is no answer; the line is given back.

        """

        def ask(line: Line) -> Any:
            return line.run(script, keys, arguments, timeout_s)

        with translated():
            return self._held(keys[0], ask, line)

    def there(self, key: str, ask: Callable[[Line], T]) -> T:
        """Ask something where a key is, with the driver's own errors.

        Raises:
            redis.RedisError: it was refused, or there is no answer.
            OperationalError: nobody was asked, since the server is known to be away.

        """
        answer, line = self._held(key, ask, None)
        line.release()
        return answer

    def _held(self, key: str, ask: Callable[[Line], T], line: Line | None) -> tuple[T, Line]:
        node = self.node(key)
        if line is not None and line.node is not node:
            line.release()
            line = None
        for _ in range(REDIRECTIONS):
            line = line or self._line(node)
            try:
                return ask(line), line
            except theirs.AskError as error:
                line.release()
                line = self._asking(error)
            except theirs.MovedError as error:
                line.release()
                line, node = None, self.moved(error)
            except BaseException as error:
                line.release()
                if isinstance(error, AWAY):
                    line.node.breaker.trip(error)
                raise
        if line is not None:
            line.release()
        raise theirs.ClusterDownError(f"{key} was moved more than {REDIRECTIONS} times")

    def _line(self, node: Node) -> Line:
        try:
            return node.line()
        except AWAY as error:
            node.breaker.trip(error)
            raise

    def _asking(self, error: theirs.AskError) -> Line:
        line = self._line(self.moved(error))
        line.asking = True
        try:
            line.ask("ASKING")
        except BaseException:
            line.release()
            raise
        return line

    def moved(self, error: theirs.MovedError | theirs.AskError) -> Node:
        """Return the node to which a server sends us on."""
        raise error  # no server does, outside of a Cluster

    @abstractmethod
    def node(self, key: str) -> Node:
        """Return the node of a key."""

    @abstractmethod
    def nodes(self) -> list[Node]:
        """Return every node that has keys."""

    @abstractmethod
    def close(self) -> None:
        """Let go of every connection."""


AWAY = (
    theirs.ConnectionError,
    theirs.TimeoutError,
    theirs.ClusterDownError,
    theirs.ReadOnlyError,
)
"""Errors after which a server is not asked again before it has answered and takes writes."""


# The driver has no types for these.
_SENTINEL: Any = Sentinel
_SENTINEL_POOL: Any = SentinelConnectionPool


class OneServer(Servers):
    """One server, at an address or whichever Sentinels call the master."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        options = connection_options(address)
        if address.kind == "sentinel":
            self._sentinel: Any = _SENTINEL(
                address.hosts, sentinel_kwargs=sentinel_options(address), **options
            )
            pool: ConnectionPool = _SENTINEL_POOL(
                address.service, self._sentinel, ssl=address.tls, **options
            )
        else:
            host, port = address.hosts[0]
            kind = SSLConnection if address.tls else Connection
            pool = ConnectionPool(connection_class=kind, host=host, port=port, **options)
        self._node = Node(address.shown, pool)

    def node(self, key: str) -> Node:
        """Return the one there is."""
        del key
        return self._node

    def nodes(self) -> list[Node]:
        """Return the one there is."""
        return [self._node]

    def close(self) -> None:
        """Let go of every connection."""
        self._node.close()
        if self.address.kind == "sentinel":
            self._sentinel.close()


def check_is_master(line: Line) -> None:
    """Raise unless the server takes writes; one that does not let us ask is taken for one."""
    try:
        (role, *_) = line.ask("ROLE")
    except theirs.NoPermissionError:
        return
    if role != b"master":
        msg = f"{line.node.name} is a {role.decode()}, not the master"
        raise theirs.ReadOnlyError(msg)


def connection_options(address: Address) -> dict[str, Any]:
    """Return how connections are made to a server that has keys."""
    return {
        **_options(address),
        "username": address.username or None,
        "password": address.password or None,
        "db": address.database,
    }


def sentinel_options(address: Address) -> dict[str, Any]:
    """Return how connections are made to a Sentinel."""
    return {
        **_options(address),
        "username": address.sentinel_username or None,
        "password": address.sentinel_password or None,
        "ssl": address.tls,
    }


def _options(address: Address) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": address.timeout_s,
        "socket_connect_timeout": address.timeout_s,
        "socket_keepalive": True,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
    }
    if address.tls:
        options["ssl_ca_certs"] = str(address.ca) if address.ca else None
        options["ssl_certfile"] = str(address.certificate) if address.certificate else None
        options["ssl_keyfile"] = str(address.key) if address.key else None
        options["ssl_cert_reqs"] = "required"
        options["ssl_check_hostname"] = True
    return options
