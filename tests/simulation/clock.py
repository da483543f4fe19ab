"""Simulated time: what is due is done in order, and nothing sleeps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from heapq import heappop, heappush

Do = Callable[[], object]


class Clock:
    """The time in microseconds, and what is to happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Do]] = []
        self._numbers = itertools.count()

    def after(self, delay_us: float, do: Do) -> None:
        """Do something so much later; of two things at the same time the earlier told is first."""
        heappush(self._due, (self.now + delay_us, next(self._numbers), do))

    def run(self, until_us: float) -> None:
        """Let the time pass."""
        while self._due and self._due[0][0] <= until_us:
            self.now, _, do = heappop(self._due)
            do()
        self.now = until_us
