"""A machine: cores that processes share, a disk that does so many writes a second."""

from __future__ import annotations

from collections import deque

from tests.simulation.clock import Clock, Do


class Cores:
    """Cores are lent for one task at a time, in the order in which they are asked for."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._asking: deque[Do] = deque()

    def take(self, then: Do) -> None:
        """Call `then` as soon as a core is free for it."""
        if self._free:
            self._free -= 1
            then()
        else:
            self._asking.append(then)

    def give(self) -> None:
        """Give a core back, to whoever has asked for the longest time."""
        if self._asking:
            self._asking.popleft()()
        else:
            self._free += 1


class Disk:
    """Each durable write takes a while; the disk begins so many a second."""

    def __init__(self, clock: Clock, sync_us: float, syncs_per_s: float) -> None:
        self._clock = clock
        self._sync_us = sync_us
        self._each_us = 1e6 / syncs_per_s
        self._free_at = 0.0
        self.syncs = 0

    def sync(self, then: Do) -> None:
        """Call `then` when it is on disk."""
        self.syncs += 1
        begin = max(self._clock.now, self._free_at)
        self._free_at = begin + self._each_us
        done = max(begin + self._sync_us, self._free_at) if self._sync_us else begin
        self._clock.after(done - self._clock.now, then)
