"""How much is measured: in earnest, or just enough to see that the benchmark itself works."""

from __future__ import annotations

from dataclasses import dataclass

IN_FLIGHT = 64
"""Unary calls that are under way at once, and the tables that they are spread over."""

LOAD_SHARES = (10, 25, 50, 75, 90, 100, 120)
"""What is offered in the open loop, percent of the unary capacity of the same run."""

WRITER_BATCHES = (1, 10, 100, 1000)
"""Commands that the writer is given at once, without gRPC."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Durations in seconds; the rest are counts."""

    turns: int
    """Times that the service and its yardstick take turns."""
    turn_s: float
    lone_calls: int
    """Calls one after the other in each turn."""
    load_s: float
    """One step of offered load."""
    events: int
    """The large ledger."""
    probe_at: tuple[int, ...]
    """Sizes of the ledger at which the cost of a command is taken; probes make it grow, too."""
    probe_batches: int
    probe_singles: int
    tables: int
    """Live tables of the large ledger."""
    table_events: int
    """The table that is loaded cold and replayed."""
    watchers: int
    hands: int
    """Hands of cards that are played out."""


FULL = Sizes(
    turns=5,
    turn_s=2.0,
    lone_calls=300,
    load_s=5.0,
    events=1_000_000,
    probe_at=(0, 1_000, 10_000, 100_000, 300_000, 1_000_000),
    probe_batches=15,
    probe_singles=200,
    tables=1_000,
    table_events=10_000,
    watchers=500,
    hands=200,
)

SMOKE = Sizes(
    turns=1,
    turn_s=0.2,
    lone_calls=20,
    load_s=0.3,
    events=3_000,
    probe_at=(0, 1_000, 3_000),
    probe_batches=2,
    probe_singles=10,
    tables=20,
    table_events=200,
    watchers=5,
    hands=4,
)
