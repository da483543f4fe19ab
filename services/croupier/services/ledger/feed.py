"""Wakes those who watch ledgers: after commits, and when they have heard nothing for long.

Nobody is sent anything from here, and nothing is kept for anybody: who is woken reads the log from
where he is. So a slow watcher delays neither the writer nor the others, and costs no memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

POLL_S = 0.1
"""How often the ledgers that are watched are asked whether another process committed, seconds."""

PAUSE_S = 0.005
"""The shortest time between two rounds of waking, seconds; what is recorded meanwhile comes
together."""

BACK_S = 0.25
"""How long a round waits for those it woke, seconds. Who is slower than that takes his time."""

FOR_OTHERS = 2
"""How many times as long as a round took there is none: the share of everybody but watchers."""

AT_ONCE = 16
"""How many are woken before the loop has a turn for everybody else."""


class Watch:
    """One who watches a ledger. He is woken, sends what there is, and waits again."""

    __slots__ = ("_feed", "_woken", "ledger", "until")

    def __init__(self, feed: Feed, ledger: str) -> None:
        self._feed = feed
        self._woken: asyncio.Future[None] | None = None
        self.ledger = ledger
        self.until = 0.0

    async def wait(self, until: float) -> None:
        """Return when the ledger may have more than was seen, or at a time of the loop."""
        self.until = until
        self._woken = asyncio.get_running_loop().create_future()
        self._feed.waits(self)
        try:
            await self._woken
        finally:
            self._woken = None
            self._feed.waits_no_longer(self)

    def wake(self) -> None:
        """Let him look again."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)


class Feed:
    """Those who watch, on one event loop."""

    def __init__(self, changed: Callable[[str], bool]) -> None:
        """Ask `changed` whether another process has committed to a ledger."""
        self._changed = changed
        self._waiting: dict[str, dict[Watch, None]] = {}
        self._recorded: set[str] = set()
        self._something = asyncio.Event()
        self._out: set[Watch] = set()
        self._all_back = asyncio.Event()

    @contextlib.contextmanager
    def watching(self, ledger: str) -> Iterator[Watch]:
        """Watch a ledger."""
        watch = Watch(self, ledger)
        try:
            yield watch
        finally:
            self._back(watch)

    def recorded(self, ledger: str) -> None:
        """Let those who watch a ledger look again. Costs nothing where nobody does."""
        if ledger in self._waiting:
            self._recorded.add(ledger)
            self._something.set()

    def everybody(self) -> None:
        """Let all look again, now."""
        for waiting in self._waiting.values():
            for watch in waiting:
                watch.wake()

    def waits(self, watch: Watch) -> None:
        """Wake somebody when there is a reason to."""
        self._waiting.setdefault(watch.ledger, {})[watch] = None
        self._something.set()
        self._back(watch)

    def waits_no_longer(self, watch: Watch) -> None:
        """Do not wake somebody any more until he waits again."""
        waiting = self._waiting[watch.ledger]
        del waiting[watch]
        if not waiting:
            del self._waiting[watch.ledger]

    def _back(self, watch: Watch) -> None:
        self._out.discard(watch)
        if not self._out:
            self._all_back.set()

    async def run(self) -> None:
        """Wake those who wait, round by round, until cancelled.

        A round lasts until all who were woken wait again, or have shown to be slow. After it there
        is `FOR_OTHERS` times as long for others: however many watch, the writers keep their share
        of the loop, and what is recorded meanwhile comes in fewer, larger answers.
        """
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S if self._waiting else None):
                    await self._something.wait()
            self._something.clear()
            started = loop.time()
            await self._round(self._due(started))
            await asyncio.sleep(max(PAUSE_S, FOR_OTHERS * (loop.time() - started)))

    async def _round(self, due: list[Watch]) -> None:
        if not due:
            return
        self._out = set(due)
        self._all_back.clear()
        for number, watch in enumerate(due):
            watch.wake()
            if number % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BACK_S):
                await self._all_back.wait()
        self._out.clear()

    def _due(self, now: float) -> list[Watch]:
        """Return who is to be woken in this round."""
        recorded, self._recorded = self._recorded, set()
        due: list[Watch] = []
        for ledger, waiting in self._waiting.items():
            if ledger in recorded or self._changed(ledger):
                due += waiting
            else:
                due += [watch for watch in waiting if watch.until <= now]
        return due
