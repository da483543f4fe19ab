"""A process: one event loop that does one task at a time, on one core."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tests.simulation.clock import Clock, Do
from tests.simulation.machine import Cores

Task = tuple[Callable[[], float], Do]
"""What begins it and returns its cost, and what is done at its end."""

STAND_STILL = object()
"""Returned by the end of a task: the loop waits for `go_on` and does nothing else."""


class Loop:
    """New calls come in one at a time, then all that was ready: so the gRPC library does it."""

    def __init__(self, clock: Clock, cores: Cores) -> None:
        self._clock = clock
        self._cores = cores
        self._calls: deque[Task] = deque()
        self._ready: deque[Task] = deque()
        self._left = 0
        self._began: float | None = None
        self._busy_us = 0.0

    def call(self, task: Task) -> None:
        """A call has arrived."""
        self._calls.append(task)
        self._wake()

    def soon(self, task: Task) -> None:
        """Something is ready."""
        self._ready.append(task)
        self._wake()

    @property
    def calls(self) -> int:
        """Calls that have arrived and are not begun."""
        return len(self._calls)

    @property
    def busy_us(self) -> float:
        """The time that it worked, waited for a core or stood still."""
        return self._busy_us + (0 if self._began is None else self._clock.now - self._began)

    def _wake(self) -> None:
        if self._began is None and (self._calls or self._ready):
            self._began = self._clock.now
            self._cores.take(self._begin)

    def _begin(self) -> None:
        if self._calls and not (self._left > 0 and self._ready):
            begin, end = self._calls.popleft()
            self._left = len(self._ready) + 1
        else:
            begin, end = self._ready.popleft()
            self._left -= 1
        self._clock.after(begin(), lambda: self._end(end))

    def _end(self, end: Do) -> None:
        self._cores.give()
        if end() is not STAND_STILL:
            self.go_on()

    def go_on(self) -> None:
        """Take the next task."""
        if self._began is not None:
            self._busy_us += self._clock.now - self._began
        self._began = None
        self._wake()
