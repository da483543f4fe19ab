"""How metrics are declared: a name with the service's prefix, a sentence of help, its labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

PREFIX = "croupier_"

# When each series began is told by the start of the process; twice as many series tell no more.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no type for it

SECONDS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True)
class Declared:
    """A metric as the reference lists it, under its section."""

    section: str
    name: str
    type: str
    text: str
    labels: tuple[str, ...]


class Catalogue:
    """The metrics of one registry, and their series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._section = ""
        self._children: dict[tuple[Any, ...], Any] = {}
        self.declared: list[Declared] = []

    def section(self, title: str) -> None:
        """Declare what follows under a title."""
        self._section = title

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        """Declare a counter, whose name ends in `_total`."""
        self._declare(name, "counter", text, labels)
        return Counter(PREFIX + name, _help(text, labels), labels, registry=self._registry)

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """Declare a gauge."""
        self._declare(name, "gauge", text, labels)
        return Gauge(PREFIX + name, _help(text, labels), labels, registry=self._registry)

    def histogram(self, name: str, text: str, buckets: Iterable[float], *labels: str) -> Histogram:
        """Declare a histogram."""
        self._declare(name, "histogram", text, labels)
        return Histogram(
            PREFIX + name,
            _help(text, labels),
            labels,
            registry=self._registry,
            buckets=tuple(buckets),
        )

    def child(self, metric: Any, *labels: str) -> Any:
        """Return the series of these labels; the library's own look-up takes a lock each time."""
        key = (metric, *labels)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = metric.labels(*labels)
        return child

    def begin(self, metric: Any, *labels: Iterable[str]) -> None:
        """Have series of all these labels from the start, so that the first rise is seen as one."""
        for one in product(*labels):
            self.child(metric, *one)

    def _declare(self, name: str, kind: str, text: str, labels: tuple[str, ...]) -> None:
        self.declared.append(Declared(self._section, PREFIX + name, kind, text, labels))


def _help(text: str, labels: Iterable[str]) -> str:
    """Return a help text that ends in the metric's labels."""
    names = ", ".join(labels)
    return f"{text}, by {names}." if names else f"{text}."
