"""Whether calls are traced, and where traces go. Without them nothing of this is even imported."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from threading import Thread
from typing import Any

import structlog

from croupier.services.ledger.writer import Writer

logger = structlog.get_logger()

OFF, CONSOLE = "off", "console"


class Traces:
    """What makes spans in a server: nothing at all, unless they go somewhere."""

    def __init__(self, provider: Any = None) -> None:
        """Make spans with a provider of the library; None makes none."""
        self._provider = provider
        self.interceptors: list[Any] = []
        self.writer: Callable[..., Writer] = Writer
        if provider is not None:
            tracer = provider.get_tracer("croupier", version("croupier"))
            at_the_edge: Any = import_module("croupier.services.rpc.traced")
            in_the_ledger: Any = import_module("croupier.services.ledger.traced")
            self.interceptors = [at_the_edge.TracingInterceptor(tracer)]
            self.writer = partial(in_the_ledger.TracedWriter, tracer=tracer)

    def close(self, wait_s: float) -> None:
        """Send what is not sent yet, for so many seconds at most."""
        if self._provider is not None:
            # A collector that does not answer must not keep the process from ending.
            sending = Thread(target=self._provider.shutdown, daemon=True, name="last traces")
            sending.start()
            sending.join(wait_s)


def begin(where: str) -> Traces:
    """Return what makes spans, and sends them to where a setting says."""
    return Traces() if where == OFF else Traces(_provider(where))


def _provider(where: str) -> Any:
    sdk: Any = import_module("opentelemetry.sdk.trace")
    export: Any = import_module("opentelemetry.sdk.trace.export")
    resources: Any = import_module("opentelemetry.sdk.resources")
    resource = resources.Resource.create(
        {"service.name": "croupier", "service.version": version("croupier")}
    )
    provider = sdk.TracerProvider(resource=resource, shutdown_on_exit=False)
    if where == CONSOLE:
        # Where log lines go: nobody reads the standard output of a worker.
        exporter = export.ConsoleSpanExporter(out=sys.stderr, formatter=_as_line)
    else:
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.grpc.trace_exporter")
        exporter = otlp.OTLPSpanExporter(endpoint=where, insecure=where.startswith("http://"))
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    _hear_the_library()
    return provider


def _as_line(span: Any) -> str:
    return f"{span.to_json(indent=None)}\n"


class _Heard(logging.Handler):
    """Writes what the library says as our own log lines."""

    def emit(self, record: logging.LogRecord) -> None:
        logger.warning("traces not sent", error=record.getMessage())


def _hear_the_library() -> None:
    library = logging.getLogger("opentelemetry")
    library.handlers, library.propagate = [_Heard(logging.WARNING)], False
