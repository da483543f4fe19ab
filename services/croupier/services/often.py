"""What may happen with every call, and is worth a log line a second and not one each time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

EVERY_S = 1.0
"""How long at least from one line about something to the next, seconds."""


class Often:
    """Counts what happens between two lines about the same."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._due_s: dict[str, float] = {}
        self._times: dict[str, int] = {}

    def due(self, about: str) -> int:
        """Return how many times it happened since the last line, 0 if that is not long ago."""
        now_s = self._clock()
        times = self._times.get(about, 0) + 1
        if now_s < self._due_s.get(about, now_s):
            self._times[about] = times
            return 0
        self._due_s[about], self._times[about] = now_s + EVERY_S, 0
        return times
