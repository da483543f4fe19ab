"""Rounds: every ledger of a process that has work gets one turn in each.

The gRPC library hands calls to the event loop one by one. A turn begun by the first of them would
record it alone, and each of the others with a commit of its own. So a round waits until as many
jobs have come, for all ledgers together, as the last one answered: under load they come again. Who
is alone, or a crowd that is complete, waits for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

EACH_S = 0.000_2
"""How long a round waits for each job that is expected: about what it takes to hand one over."""

LEAST_S, MOST_S = 0.002, 0.005
"""Bounds of that wait, seconds."""

CROWD = 3
"""Fewer gain less by sharing a commit than they lose by waiting for each other."""

TRIAL, TRIAL_MOST = 16, 1_024
"""After so many rounds a crowd is given the chance to be found larger: at first, and at most where
none was found again and again."""


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
        self._on_trial = False
        self._trial_after = TRIAL
        self._until_trial = TRIAL
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
                self._learn(answered)
        finally:
            self._running = None

    async def _gather(self) -> None:
        """Wait a moment for as many as are expected."""
        if self._came < self._expected:
            self._crowd.clear()
            wait_s = min(max(EACH_S * self._expected, LEAST_S), MOST_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._crowd.wait()

    def _learn(self, answered: int) -> None:
        """Expect as many as came, and from time to time twice as many.

        A crowd that was found larger is looked for again at once. Where there is none, a call waits
        in vain ever more rarely.
        """
        if answered >= CROWD:
            self._trial_after = TRIAL
        elif self._on_trial:
            self._trial_after = min(2 * self._trial_after, TRIAL_MOST)
        if self._on_trial:
            found = answered >= self._expected
            self._until_trial = 1 if found else self._trial_after
        self._until_trial -= 1
        self._on_trial = self._until_trial <= 0
        crowd = answered if answered >= CROWD or self._on_trial else 1
        self._expected = max(crowd, 1) * (2 if self._on_trial else 1)
