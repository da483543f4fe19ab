"""How a server stops: health says so, callers leave, what was taken is finished.

A server that only closes its port cuts off callers who are just sending: the transport cancels what
arrives after it began to stop. So health turns NOT_SERVING first, and calls are taken as before
until callers have left for another server, or the lame-duck time is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

QUIET_S = 0.1
"""How long nobody calls before it is taken that all have left, seconds."""


class Grace:
    """What is left of the time that a server may take to stop, seconds."""

    def __init__(self, seconds: float) -> None:
        """Begin now; a loop has to run."""
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + seconds

    @property
    def left_s(self) -> float:
        """Return how much is left."""
        return max(0.0, self._until - self._loop.time())


async def callers_leave(taken: Callable[[], int], most_s: float) -> None:
    """Wait until no call was taken for a moment, or for `most_s` seconds.

    `taken` says how many calls were taken so far.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + most_s
    before = -1
    while before != (now := taken()) and (left_s := until - loop.time()) > 0:
        before = now
        await asyncio.sleep(min(QUIET_S, left_s))
