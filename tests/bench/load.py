"""Throughput and latency against offered load, in an open loop.

Calls come when they come (a Poisson process), whether or not earlier ones were answered, and a
call's latency counts from when it was to be sent. A caller who waits for an answer before he sends
the next would leave out exactly the calls that had to wait.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import grpc

from tests.bench.rows import Run, in_words, percentiles, rounded
from tests.bench.sizes import IN_FLIGHT, LOAD_SHARES
from tests.bench.traffic import Call, service

SEED = 20
FINEST_S = 0.001
"""What an event loop can sleep; calls that are due within it are sent together."""


def name_of(share: int) -> str:
    """Return the name of a step's row."""
    return f"unary Play, open loop, {share} % of capacity offered"


ROWS = tuple(name_of(share) for share in LOAD_SHARES)


@dataclass(frozen=True, slots=True)
class Offered:
    """What a step came to. `achieved` counts answers up to the last, in a second."""

    offered: float
    achieved: float
    refused: int
    latencies: list[float]


async def open_loop(call: Call, rate: float, seconds: float, seed: int = SEED) -> Offered:
    """Offer `rate` calls a second and wait until all are answered."""
    generator = random.Random(seed)
    latencies: list[float] = []
    refused = 0
    tasks: list[asyncio.Task[None]] = []
    started = perf_counter()

    async def one(number: int, due: float) -> None:
        nonlocal refused
        try:
            await call(number)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise
            refused += 1
        else:
            latencies.append(perf_counter() - due)

    due = started + generator.expovariate(rate)
    while due < started + seconds:
        if (early := due - perf_counter()) > 0:
            await asyncio.sleep(max(early, FINEST_S))
        now = perf_counter()
        while due <= now and due < started + seconds:
            tasks.append(asyncio.create_task(one(len(tasks), due)))
            due += generator.expovariate(rate)
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    took = max(perf_counter() - started, seconds)
    return Offered(len(tasks) / seconds, len(latencies) / took, refused, latencies)


async def measure(run: Run) -> None:
    """Measure the capacity in a closed loop, then offer shares of it."""
    sizes = run.sizes
    async with service(run.folder / "load") as served:
        await served.furnish()
        await served.unary(sizes.turn_s / 2)  # the first calls pay for connecting
        capacity = median([(await served.unary(sizes.turn_s)).rate for _ in range(3)])
        for share in LOAD_SHARES:
            step = await open_loop(served.play, capacity * share / 100, sizes.load_s)
            _add(run, share, step, capacity)


def _add(run: Run, share: int, step: Offered, capacity: float) -> None:
    run.add(
        name_of(share),
        step.achieved,
        "commands/s",
        f"from the intended time of sending: {in_words(step.latencies)}"
        + (f"; {step.refused} refused" if step.refused else ""),
        yardstick=f"{step.offered:,.0f} commands/s offered; capacity with {IN_FLIGHT} in "
        f"flight {capacity:,.0f}",
        ratio=step.achieved / step.offered,
    )
    run.points.setdefault("load", []).append(
        {
            "share": share,
            "offered": rounded(step.offered),
            "achieved": rounded(step.achieved),
            "refused": step.refused,
            **percentiles(step.latencies),
        }
    )
