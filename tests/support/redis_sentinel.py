"""A master with replicas, watched by Sentinels: real processes on the loopback interface."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import redis

from tests.support.redis_server import RedisServer, binary, free_port
from tests.support.waiting import until

SERVICE = "ledgers"
DOWN_AFTER_MS = 1_000
"""How long a master has to be silent before a Sentinel takes it for dead."""


class Sentinel:
    """One Sentinel; it keeps what it knows in a file of its own."""

    def __init__(
        self, folder: Path, master: RedisServer, quorum: int, *, text: str = "", port: int = 0
    ) -> None:
        """Start one that watches a master, or that is told something else by `text`."""
        folder.mkdir(parents=True)
        self.port = port or free_port()
        self._log = (folder / "sentinel.log").open("wb")
        config = folder / "sentinel.conf"
        config.write_text(
            text
            or f"port {self.port}\n"
            "bind 127.0.0.1\n"
            f"dir {folder}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {master.port} {quorum}\n"
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}\n"
            f"sentinel failover-timeout {SERVICE} 5000\n"
            f"sentinel parallel-syncs {SERVICE} 1\n"
        )
        self._process = subprocess.Popen(
            [binary(), str(config), "--sentinel"], stdout=self._log, stderr=subprocess.STDOUT
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, *command: str) -> object:
        """Return what it says, None if it says nothing."""
        try:
            with redis.Redis(port=self.port, socket_timeout=5) as client:
                return client.execute_command("SENTINEL", *command)
        except redis.RedisError:
            return None

    def master_port(self) -> int:
        """Return the port of whom it takes for the master, 0 if it does not say."""
        said = self.ask("GET-MASTER-ADDR-BY-NAME", SERVICE)
        return int(said[1]) if said else 0

    def sees(self, replicas: int, sentinels: int) -> bool:
        """Return whether it knows so many replicas and other Sentinels."""
        with redis.Redis(port=self.port, socket_timeout=5) as client:
            try:
                known = client.sentinel_master(SERVICE)
            except redis.RedisError:
                return False
        return known["num-slaves"] >= replicas and known["num-other-sentinels"] >= sentinels

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()


class Watched:
    """The servers and the Sentinels of one service."""

    def __init__(self, servers: list[RedisServer], sentinels: list[Sentinel]) -> None:
        self.servers = servers
        self.sentinels = sentinels

    @property
    def url(self) -> str:
        hosts = ",".join(one.address for one in self.sentinels)
        return f"redis+sentinel://{hosts}/{SERVICE}"

    @property
    def master(self) -> RedisServer:
        """Return the master, as the first Sentinel says."""
        return self._server(self.sentinels[0].master_port())

    def _server(self, port: int) -> RedisServer:
        (found,) = [one for one in self.servers if one.port == port]
        return found

    def replicas(self) -> list[RedisServer]:
        """Return all but the master."""
        master = self.master
        return [one for one in self.servers if one is not master]

    def new_master(self, old: RedisServer) -> RedisServer:
        """Wait until all Sentinels name another master that takes writes, and return it."""

        def named() -> RedisServer | None:
            ports = {one.master_port() for one in self.sentinels}
            if len(ports) != 1 or ports & {0, old.port}:
                return None
            server = self._server(*ports)
            with suppress(redis.RedisError), server.client() as client:
                return server if client.role()[0] == b"master" else None
            return None

        return until("another master", named)

    def settle(self) -> None:
        """Wait until every replica has all that the master has, and is in touch."""
        until("replicas in touch", lambda: all(map(_in_touch, self.replicas())))


def _in_touch(replica: RedisServer) -> bool:
    with suppress(redis.RedisError), replica.client() as client:
        info = client.info("replication")
        synced = not info.get("master_sync_in_progress")
        return info.get("master_link_status") == "up" and synced
    return False


@contextmanager
def watched(replicas: int = 1, **settings: str) -> Iterator[Watched]:
    """Run a master with replicas and three Sentinels; settings are those of the servers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="croupier-sentinel-")))
        given = {"repl_diskless_sync_delay": "0", "repl_ping_replica_period": "1", **settings}
        servers = [RedisServer(folder / "server-0", **given)]
        stack.enter_context(servers[0])
        for number in range(1, replicas + 1):
            of = ("127.0.0.1", str(servers[0].port))
            servers.append(RedisServer(folder / f"server-{number}", replicaof=of, **given))
            stack.enter_context(servers[-1])
        sentinels = []
        for number in range(3):
            sentinels.append(Sentinel(folder / f"sentinel-{number}", servers[0], quorum=2))
            stack.callback(sentinels[-1].kill)
        group = Watched(servers, sentinels)
        for sentinel in sentinels:
            until("sentinels that know all", lambda one=sentinel: one.sees(replicas, 2))
        group.settle()
        yield group
