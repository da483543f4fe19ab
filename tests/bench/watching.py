"""Many watchers of one ledger: what they cost the writer, and how late events reach them."""

from __future__ import annotations

import asyncio
import json
from statistics import median

from croupier.v1 import admin_pb2
from tests.bench.load import open_loop
from tests.bench.rows import Run, in_words, median_ratio, percentiles
from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import Service, service
from tests.bench.yardsticks import program
from tests.support.api import LEDGER

WRITTEN = "events written while many watch the whole log"
LAG = "lag of events to many watchers, p50"

ROWS = (WRITTEN, LAG)

STEADY_RATE = 100
"""Commands a second while the lag is measured: every watcher is sent all of them."""


class Crowd:
    """The watchers' process."""

    def __init__(self, process) -> None:
        self._process = process

    async def heard(self) -> dict:
        """Return what came to the watchers since this was last asked."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return json.loads(await asyncio.to_thread(self._process.stdout.readline))

    async def ready(self) -> None:
        """Wait until all of them watch."""
        assert await asyncio.to_thread(self._process.stdout.readline) == "ready\n"


async def measure(run: Run) -> None:
    """Let writing with watchers take turns with writing without; then offer a steady rate."""
    sizes, seconds = run.sizes, run.sizes.turn_s
    alone, watched, busy_lags, messages, each = [], [], [], 0, []
    async with service(run.folder / "watching") as served:
        await served.furnish()
        await served.unary(seconds / 2)  # the first calls pay for connecting
        for turn in range(sizes.turns):
            alone.append(await served.unary(seconds))
            with await _watchers(served, sizes.watchers) as process:
                crowd = Crowd(process)
                await crowd.ready()
                await crowd.heard()
                before = served.commits()
                watched.append(await served.unary(seconds))
                each.append(served.commits().each_since(before))
                heard = await crowd.heard()
                busy_lags += heard["lags"]
                messages += heard["messages"]
                if turn == sizes.turns - 1:
                    await asyncio.sleep(seconds / 2)  # what is under way arrives
                    await crowd.heard()
                    steady = await open_loop(served.play, STEADY_RATE, sizes.load_s)
                    await asyncio.sleep(seconds / 2)
                    lags = (await crowd.heard())["lags"]
    run.add(
        WRITTEN,
        median(one.rate for one in watched),
        "events/s",
        f"{sizes.watchers} watchers, unary Play, {IN_FLIGHT} in flight; "
        f"{messages / (sizes.turns * seconds):,.0f} messages/s delivered, "
        f"{median(each):.1f} commands a commit; lag {in_words(busy_lags)}",
        yardstick=f"nobody watches, {median(one.rate for one in alone):,.0f} events/s",
        ratio=median_ratio((on.rate, off.rate) for on, off in zip(watched, alone, strict=True)),
    )
    run.add(
        LAG,
        percentiles(lags)["p50"],
        "ms",
        f"{sizes.watchers} watchers; from recording to arrival: {in_words(lags)}; "
        f"{steady.offered:.0f} unary calls/s offered, {steady.achieved:.0f} answered, "
        f"from the intended sending: {in_words(steady.latencies)}",
    )


async def _watchers(served: Service, count: int):
    """Start watchers at the end of the log: each is sent its last event at once."""
    ledger = await served.api.admin.GetLedger(admin_pb2.GetLedgerRequest(name=LEDGER))
    return program("watchers.py", served.process.address, str(count), str(ledger.ledger.position))
