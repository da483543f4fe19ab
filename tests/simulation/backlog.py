"""Calls that wait before they are begun, as `croupier.services.rpc.backlog` counts them."""

from __future__ import annotations

from croupier.services.rpc.backlog import PER_S, RETRY_MS_LEAST, RETRY_MS_MOST, SAMPLE_S
from tests.simulation.clock import Clock
from tests.simulation.loop import Loop


class Backlog:
    """Counts what waits in the transport of one process ten times a second."""

    def __init__(self, clock: Clock, loop: Loop, most: int) -> None:
        self._clock = clock
        self._loop = loop
        self._most = most
        self._waiting = 0
        self._ended = 0
        self._per_s = PER_S
        clock.after(SAMPLE_S * 1e6, self._sample)

    def begun(self) -> float:
        """A call is begun: return how long its caller is told to wait, in microseconds, or 0."""
        self._waiting = max(0, self._waiting - 1)
        if self._waiting <= self._most:
            return 0.0
        told_ms = 1000 * self._waiting / self._per_s
        return 1000 * min(max(told_ms, RETRY_MS_LEAST), RETRY_MS_MOST)

    def ended(self) -> None:
        """A call has ended."""
        self._ended += 1

    def _sample(self) -> None:
        if self._waiting:
            self._per_s = max(self._ended / SAMPLE_S, 1.0)
        self._ended = 0
        self._waiting = self._loop.calls
        self._clock.after(SAMPLE_S * 1e6, self._sample)
