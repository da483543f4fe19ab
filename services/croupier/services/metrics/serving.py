"""The HTTP port that Prometheus scrapes: its text, or OpenMetrics for whoever asks for that."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """The port, until it is closed."""

    port: int
    _server: WSGIServer
    _thread: Thread

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(port: int, host: str, registry: CollectorRegistry) -> MetricsServer:
    """Serve a registry over HTTP; port 0 takes a free one.

    Raises:
        OSError: the port is taken, or the host is not one of this machine.

    """
    server, thread = start_http_server(port, host, registry)
    return MetricsServer(server.server_port, server, thread)
