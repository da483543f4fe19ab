"""What a server does by itself goes on, whatever goes wrong with it now and then."""

from __future__ import annotations

import asyncio

from croupier.services import housekeeping
from croupier.services.housekeeping import for_ever


async def test_what_fails_is_done_again(monkeypatch):
    monkeypatch.setattr(housekeeping, "AGAIN_S", 0.0)
    done = asyncio.Event()
    times = []

    async def work():
        times.append(len(times))
        if len(times) < 4:
            raise OSError(24, "Too many open files")
        done.set()

    task = asyncio.create_task(for_ever(work))
    async with asyncio.timeout(5):
        await done.wait()
    task.cancel()
    assert times[:4] == [0, 1, 2, 3]


async def test_it_ends_when_it_is_cancelled():
    task = asyncio.create_task(for_ever(asyncio.Event().wait))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
