"""Metrics of one test: their registry, what they show, and events to be counted."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry

from croupier.domain.events import TableOpened
from croupier.domain.games import GAMES
from croupier.domain.games.options import resolve
from croupier.services.metrics import Metrics
from croupier.v1 import events_pb2


class Watched:
    """Metrics, and short ways to look at them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.metrics = Metrics(self.registry)

    def families(self) -> dict:
        """Return every metric by its name, of counters without `_total`."""
        return {family.name: family for family in self.registry.collect()}

    def series(self) -> int:
        """Return how many series there are."""
        return sum(len(family.samples) for family in self.registry.collect())

    def value(self, name: str, **labels: str) -> float | None:
        """Return what a series shows, None if there is no such series."""
        return self.registry.get_sample_value(f"croupier_{name}", labels)

    def shown(self, name: str) -> dict:
        """Return the series of a metric by their labels, without those that are 0."""
        samples = self.families()[f"croupier_{name.removesuffix('_total')}"].samples
        return {
            tuple(sample.labels.values()): sample.value
            for sample in samples
            if sample.name == f"croupier_{name}" and sample.value
        }

    def commit(self, events: Iterable[events_pb2.Event], opened: object = None) -> None:
        """Count events of one commit, all of one table if `opened` is given."""
        self.metrics.committed(events, 1, 0.001, lambda stream: opened)


def opened(game: str, currency: str = "EUR", **options: object) -> TableOpened:
    """Return how a table of a game was opened; of a game that is none, as far as that goes."""
    digest = b""
    resolved = {}
    if game in GAMES:
        resolved = resolve(GAMES[game].options, GAMES[game].presets, options)
        digest = GAMES[game].paytable(resolved).digest()
    return TableOpened(
        table="t1",
        game=game,
        edition=1,
        options=resolved,
        seats=("a", "b"),
        currency=currency,
        banker="a",
        paytable_digest=digest,
    )


def event(kind: str, *postings: tuple, currency: str = "EUR", **fields: object):
    """Return an event of a table, with postings of (source, destination, amount)."""
    stored = events_pb2.Event(stream="tables/t1", round=1, **{kind: fields})
    for source, destination, amount in postings:
        stored.postings.add(
            source=source, destination=destination, currency=currency, amount=amount
        )
    return stored
