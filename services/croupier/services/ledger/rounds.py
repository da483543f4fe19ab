"""Rounds: every ledger of a process that has work gets one turn in each.

The gRPC library hands calls to the event loop one by one. A turn begun by the first of them would
record it alone, and each of the others with a commit of its own. So a round waits until as many
jobs have come, for all ledgers together, as the last one answered: under load they come again. A
round of one, or a crowd that is complete, waits for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

EACH_S = 0.000_2
"""How long a round waits for each job that is expected: about what it takes to hand one over."""

MOST_S = 0.005
"""The longest that a round waits for a crowd to come together, seconds."""

TRIAL = 16
"""Every so many rounds a crowd is given the chance to be found larger."""


class Turner(Protocol):
    """What has turns: the writer of a ledger."""

    def turn(self) -> int:
        """Decide and record what waits, and return how many jobs were answered.

        It asks for another turn if something is left.
        """
        ...


class Rounds:
    """The turns of all ledgers on one event loop."""

    def __init__(self) -> None:
        self._ready: dict[Turner, None] = {}
        self._came = 0
        self._expected = 1
        self._rounds = 0
        self._crowd: asyncio.Event = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def wants(self, turner: Turner, jobs: int) -> None:
        """Give a ledger a turn in the next round, for so many jobs more than it had."""
        self._ready[turner] = None
        self._came += jobs
        if self._came >= self._expected:
            self._crowd.set()
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._ready:
                await self._gather()
                ready, self._ready, self._came = self._ready, {}, 0
                answered = 0
                for turner in ready:
                    answered += turner.turn()
                    # One turn of this ledger, then whatever else the loop has to do.
                    await asyncio.sleep(0)
                self._rounds += 1
                self._expected = max(answered, 1)
                if answered > 1 and self._rounds % TRIAL == 0:
                    self._expected *= 2
        finally:
            self._running = None

    async def _gather(self) -> None:
        """Wait a moment for as many as the last round answered."""
        if self._came < self._expected:
            self._crowd.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(EACH_S * self._expected, MOST_S)):
                    await self._crowd.wait()
