"""Who watches is woken when there is something, and never at the cost of everybody else."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from croupier.services.ledger import feed as module
from croupier.services.ledger.feed import Feed

NEVER = 10**9


class Elsewhere:
    """Other processes, which commit now and then."""

    def __init__(self):
        self.committed = set()

    def __call__(self, ledger):
        return ledger in self.committed


@asynccontextmanager
async def running(changed=lambda ledger: False):
    feed = Feed(changed)
    task = asyncio.create_task(feed.run())
    try:
        yield feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def watcher(feed, ledger, woken, until=NEVER):
    with feed.watching(ledger) as watch:
        while True:
            await watch.wait(until)
            woken.append(ledger)


async def passes(condition):
    """Let the loop run until something is so; what hangs fails."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  # what is waited for has no event of its own
            await asyncio.sleep(0)


async def test_a_commit_wakes_those_who_watch_its_ledger_and_nobody_else():
    async with running() as feed:
        here, there = [], []
        tasks = [asyncio.create_task(watcher(feed, "a", here)) for _ in range(50)]
        tasks.append(asyncio.create_task(watcher(feed, "b", there)))
        await passes(lambda: len(feed._waiting.get("a", ())) == 50 and "b" in feed._waiting)
        feed.recorded("a")
        await passes(lambda: len(here) == 50)
        assert there == []
        for task in tasks:
            task.cancel()


async def test_what_another_process_commits_is_noticed():
    elsewhere = Elsewhere()
    async with running(elsewhere) as feed:
        woken = []
        task = asyncio.create_task(watcher(feed, "a", woken))
        await passes(lambda: "a" in feed._waiting)
        elsewhere.committed.add("a")
        await passes(lambda: woken)
        task.cancel()


async def test_who_hears_nothing_is_woken_at_his_time():
    async with running() as feed:
        woken = []
        soon = asyncio.get_running_loop().time() + 0.01
        task = asyncio.create_task(watcher(feed, "a", woken, until=soon))
        await passes(lambda: woken)
        task.cancel()


async def test_nobody_who_has_left_is_kept():
    async with running() as feed:
        tasks = [asyncio.create_task(watcher(feed, "a", [])) for _ in range(10)]
        await passes(lambda: len(feed._waiting.get("a", ())) == 10)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert feed._waiting == {}
        assert feed._out == set()
        feed.recorded("a")
        assert feed._recorded == set()


async def test_a_commit_between_looking_and_waiting_is_not_missed():
    async with running() as feed:
        with feed.watching("a") as watch:
            waiting = asyncio.ensure_future(watch.wait(NEVER))
            await asyncio.sleep(0)
            feed.recorded("a")
            async with asyncio.timeout(5):
                await waiting


async def test_a_round_is_not_over_before_those_it_woke_are_done(monkeypatch):
    """So the time for others follows from what the watchers took, not from waking them."""
    monkeypatch.setattr(module, "BACK_S", 60)
    async with running() as feed:
        done = asyncio.Event()
        rounds = []

        async def slow():
            with feed.watching("a") as watch:
                await watch.wait(NEVER)
                await done.wait()
                await watch.wait(NEVER)

        tasks = [
            asyncio.create_task(slow()),
            asyncio.create_task(watcher(feed, "a", rounds)),
        ]
        await passes(lambda: len(feed._waiting.get("a", ())) == 2)
        feed.recorded("a")
        await passes(lambda: len(rounds) == 1)
        feed.recorded("a")
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(rounds) == 1
        done.set()
        await passes(lambda: len(rounds) == 2)
        for task in tasks:
            task.cancel()


async def test_who_is_slow_is_not_waited_for_long(monkeypatch):
    monkeypatch.setattr(module, "BACK_S", 0.01)
    async with running() as feed:
        woken = []

        async def stuck():
            with feed.watching("a") as watch:
                await watch.wait(NEVER)
                await asyncio.Event().wait()

        tasks = [
            asyncio.create_task(stuck()),
            asyncio.create_task(watcher(feed, "a", woken)),
        ]
        await passes(lambda: len(feed._waiting.get("a", ())) == 2)
        for number in range(1, 4):
            feed.recorded("a")
            await passes(lambda number=number: len(woken) == number)
            await passes(lambda: "a" in feed._waiting)
        for task in tasks:
            task.cancel()


@pytest.mark.parametrize("cost_s", [0.01, 0.02])
async def test_after_a_round_there_is_a_multiple_of_its_time_for_others(cost_s, monkeypatch):
    slept = []
    sleep = asyncio.sleep

    async def heard(seconds):
        if seconds:
            slept.append(seconds)
        await sleep(seconds)

    async with running() as feed:

        async def costly():
            with feed.watching("a") as watch:
                await watch.wait(NEVER)
                await sleep(cost_s)
                await watch.wait(NEVER)

        task = asyncio.create_task(costly())
        await passes(lambda: "a" in feed._waiting)
        monkeypatch.setattr(module.asyncio, "sleep", heard)
        feed.recorded("a")
        async with asyncio.timeout(5):
            while not slept:
                await sleep(0)
        assert slept[-1] >= module.FOR_OTHERS * cost_s * 0.9
        task.cancel()
