"""A TCP proxy before a Redis server that cuts connections at chosen moments of a commit."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread
from typing import Self

from croupier.services.store.redis.scripts import COMMIT
from tests.support.lines import Cut, Line

CHUNK = 1 << 20
_COMMIT = COMMIT.digest.encode()


class CuttingProxy:
    """Forwards to a server whatever comes, but what its `line` says is cut.

    A commit is known by its script, so the server has to have it: `redis.script_load(...)`.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self.line = Line()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[_Pair] = []
        self._accepting = Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return  # closed
            if self.line.is_away():
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                near.close()
                continue
            self._pairs.append(_Pair(near, far, self.line))

    def close(self) -> None:
        """Cut every connection and take no more."""
        # A listener that is only closed keeps whoever waits at it.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for pair in self._pairs:
            pair.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Pair:
    """A caller's connection and the one to the server."""

    def __init__(self, near: socket.socket, far: socket.socket, line: Line) -> None:
        self._near, self._far, self._line = near, far, line
        self._drop_answer = False
        self._threads = [Thread(target=one, daemon=True) for one in (self._there, self._back)]
        for thread in self._threads:
            thread.start()

    def _there(self) -> None:
        with suppress(OSError):
            while data := self._near.recv(CHUNK):
                moment = self._line.next_commit() if _COMMIT in data else Cut.NOT
                if moment is Cut.BEFORE:
                    break
                if moment is Cut.DURING:
                    self._far.sendall(data[: len(data) // 2])
                    break
                self._drop_answer = moment is Cut.AFTER
                self._far.sendall(data)
        self.cut()

    def _back(self) -> None:
        with suppress(OSError):
            while data := self._far.recv(CHUNK):
                if self._drop_answer:
                    break
                self._near.sendall(data)
        self.cut()

    def cut(self) -> None:
        """Let neither side hear any more of the other."""
        for one in (self._near, self._far):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Cut, and wait until nothing is forwarded any more."""
        self.cut()
        for thread in self._threads:
            thread.join()
        self._near.close()
        self._far.close()
