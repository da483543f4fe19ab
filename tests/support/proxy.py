"""A network between a client and a server that loses things, or keeps them for later."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Self


class _Connection:
    """Two sockets, and what may pass between them."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.requests, self.answers = Event(), Event()
        self.requests.set()
        self.answers.set()
        for source, target, passes in (
            (client, server, self.requests),
            (server, client, self.answers),
        ):
            Thread(target=self._pump, args=(source, target, passes), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, passes: Event) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                passes.wait()
                target.sendall(data)
        passes.wait()
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.requests.set()
        self.answers.set()
        for one in (self.client, self.server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class Proxy:
    """Passes connections on to a port, until told otherwise. New ones always pass."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lock = Lock()
        self._connections: list[_Connection] = []
        Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                with self._lock:
                    self._connections.append(_Connection(client, server))

    def hold_requests(self) -> None:
        """Keep what is sent from now on, on the connections that there are."""
        for one in self._all():
            one.requests.clear()

    def hold_answers(self) -> None:
        """Let requests pass and keep their answers, on the connections that there are."""
        for one in self._all():
            one.answers.clear()

    def release(self) -> None:
        """Let everything pass that was kept."""
        for one in self._all():
            one.requests.set()
            one.answers.set()

    def _all(self) -> list[_Connection]:
        with self._lock:
            return list(self._connections)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        # Somebody in accept() wakes up by a shutdown, not by a close.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in self._all():
            one.close()
