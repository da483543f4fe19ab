"""What is counted while it runs, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.simulation.clock import Clock


@dataclass(slots=True)
class Counts:
    """Calls and commands in and out, the area under the number of calls inside, latencies."""

    clock: Clock
    arrived: int = 0
    answered: int = 0
    refused: int = 0
    inside: int = 0
    area_us: float = 0.0
    latencies_us: list[float] = field(default_factory=list)
    _since_us: float = 0.0

    def step(self, calls: int) -> None:
        """So many calls more are inside."""
        self.area_us += self.inside * (self.clock.now - self._since_us)
        self._since_us = self.clock.now
        self.inside += calls


@dataclass(frozen=True, slots=True)
class Result:
    """A run after its warm-up; rates in commands a second, times in milliseconds."""

    throughput: float
    refused: float
    busy: float
    """The share of the time in which a process's loop worked, waited for a core or stood still."""
    syncs: float
    batch: float
    waiting: int
    latencies_ms: tuple[float, ...]

    def latency_ms(self, quantile: float) -> float:
        """Return the latency that this share of the calls does not exceed, 0 without calls."""
        if not self.latencies_ms:
            return 0.0
        return self.latencies_ms[int(quantile * (len(self.latencies_ms) - 1))]
