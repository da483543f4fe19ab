"""Wakes those who watch ledgers: after commits, and when they have heard nothing for long.

Nobody is sent anything from here, and nothing is kept for anybody: who is woken reads the log from
where he is. So a slow watcher delays neither the writer nor the others, and costs no memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

POLL_S = 0.1
"""How often the ledgers that are watched are asked whether another process committed, seconds."""

PAUSE_S = 0.005
"""The shortest time between two rounds of waking, seconds; what is recorded meanwhile comes
together."""

AT_ONCE = 16
"""How many are woken before the loop has a turn for everybody else."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    ledger: str
    until: float
    woken: asyncio.Future[None]


class Feed:
    """Those who wait for something to be recorded, on one event loop."""

    def __init__(self, changed: Callable[[str], bool]) -> None:
        """Ask `changed` whether another process has committed to a ledger."""
        self._changed = changed
        self._waiters: dict[str, dict[_Waiter, None]] = {}
        self._recorded: set[str] = set()
        self._something = asyncio.Event()

    def recorded(self, ledger: str) -> None:
        """Let those who watch a ledger look again. Costs nothing where nobody does."""
        if ledger in self._waiters:
            self._recorded.add(ledger)
            self._something.set()

    def everybody(self) -> None:
        """Let all look again, now."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                _wake(waiter)

    async def wait(self, ledger: str, until: float) -> None:
        """Return when a ledger may have more than the caller has seen, or at a time of the loop."""
        waiter = _Waiter(ledger, until, asyncio.get_running_loop().create_future())
        self._waiters.setdefault(ledger, {})[waiter] = None
        self._something.set()
        try:
            await waiter.woken
        finally:
            waiters = self._waiters[ledger]
            del waiters[waiter]
            if not waiters:
                del self._waiters[ledger]

    async def run(self) -> None:
        """Wake those who wait, round by round, until cancelled.

        Between two rounds there is as much time for others as the last one took: however many
        watch, the writers keep at least half of the loop.
        """
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S if self._waiters else None):
                    await self._something.wait()
            self._something.clear()
            started = loop.time()
            for number, waiter in enumerate(self._due(started)):
                _wake(waiter)
                if number % AT_ONCE == AT_ONCE - 1:
                    await asyncio.sleep(0)
            await asyncio.sleep(max(PAUSE_S, loop.time() - started))

    def _due(self, now: float) -> list[_Waiter]:
        """Return who is to be woken in this round."""
        recorded, self._recorded = self._recorded, set()
        due: list[_Waiter] = []
        for ledger, waiters in self._waiters.items():
            if ledger in recorded or self._changed(ledger):
                due += waiters
            else:
                due += [waiter for waiter in waiters if waiter.until <= now]
        return due


def _wake(waiter: _Waiter) -> None:
    if not waiter.woken.done():
        waiter.woken.set_result(None)
