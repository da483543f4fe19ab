"""How much a writer decides at once, and how long it waits, where others write the same ledger.

Between processes without a lock in common a turn may be in vain: somebody else committed first.
The longer a turn takes the likelier that is, so it is made shorter after each that was, and longer
again after each that was not.
"""

from __future__ import annotations

import random
from collections.abc import Callable

PAUSE_S, PAUSE_MAX_S = 0.001, 0.032
"""The longest pause after a first turn in vain, and after many, seconds. How much of it is waited
is left to chance, so that two writers do not meet again and again."""

LOST_MAX = 200
"""After so many turns in vain in a row the callers are told that the store is not available."""


class Pace:
    """The size of one writer's turns."""

    def __init__(self, most: int, chance: Callable[[], float] = random.random) -> None:
        """Decide up to `most` requests in a turn."""
        self._most = most
        self._chance = chance
        self._lost = 0
        self.batch = most

    def won(self) -> None:
        """Take note of a turn that was recorded."""
        self._lost = 0
        if self.batch < self._most:
            self.batch = min(self._most, self.batch + max(1, self.batch // 2))

    def lost(self) -> float:
        """Take note of a turn in vain, and return how long to wait before the next, seconds."""
        self._lost += 1
        self.batch = max(1, self.batch // 2)
        longest_s = min(PAUSE_S * 2.0 ** min(self._lost - 1, 10), PAUSE_MAX_S)
        return self._chance() * longest_s

    @property
    def is_hopeless(self) -> bool:
        """Return whether so many turns were in vain that callers should not wait for more."""
        return self._lost >= LOST_MAX
