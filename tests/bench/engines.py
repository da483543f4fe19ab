"""SQLite and Redis side by side: the writer without gRPC, and how much an event takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time

from croupier.services.store.choosing import engines_of
from croupier.services.store.redis.keys import Keys
from tests.bench.house import LEDGER, House, probes
from tests.bench.rows import Run, in_words, median_ratio
from tests.bench.traffic import Measured
from tests.support.redis_server import RedisServer

ENGINES = ("SQLite", "Redis")
BATCH = 100
LARGE = 10_000
"""Events of one commit that shows how long a server does nothing else."""


def single(engine: str) -> str:
    """Return the name of the row of commands one by one."""
    return f"{engine}: the writer without gRPC, one command at a time"


def batched(engine: str) -> str:
    """Return the name of the row of batches."""
    return f"{engine}: the writer without gRPC, batches of {BATCH}"


MEMORY = "Redis: memory of an event"
BUSY = f"Redis: the server during a commit of {LARGE:,} events"

ROWS = (*map(single, ENGINES), *map(batched, ENGINES), MEMORY, BUSY)


@contextmanager
def _houses(run: Run) -> Iterator[tuple[dict[str, House], RedisServer]]:
    # Both on the same disk.
    with RedisServer(run.folder / "redis") as server:
        engines = {
            "SQLite": engines_of("sqlite", {}, run.folder / "engines"),
            "Redis": engines_of(server.url, {}, run.folder),
        }
        yield {name: House(engine) for name, engine in engines.items()}, server
        for engine in engines.values():
            engine.close()


async def measure(run: Run) -> None:
    """Let the engines take turns."""
    with _houses(run) as (houses, server):
        for house in houses.values():
            await house.create()
            await house.open_probe()
            await _commands(house, 1, run.sizes.turn_s / 4)
        turns = [
            {
                (name, size): await _commands(house, size, run.sizes.turn_s / 2)
                for size in (1, BATCH)
                for name, house in houses.items()
            }
            for _ in range(run.sizes.turns)
        ]
        for size, named in ((1, single), (BATCH, batched)):
            for name in ENGINES:
                measured = [turn[name, size] for turn in turns]
                other = name == "Redis"
                run.add(
                    named(name),
                    median(one.rate for one, _ in measured),
                    "commands/s",
                    f"a commit: {in_words([s for one, _ in measured for s in one.latencies])}; "
                    f"processor of this process {median(cpu for _, cpu in measured):.3f} ms",
                    yardstick=named("SQLite") if other else None,
                    ratio=median_ratio(
                        (turn[name, size][0].rate, turn["SQLite", size][0].rate) for turn in turns
                    )
                    if other
                    else None,
                )
        await _memory(run, houses["Redis"], server)
        await _busy(run, houses["Redis"], server)
        for house in houses.values():
            await house.close()


async def _commands(house: House, size: int, seconds: float) -> tuple[Measured, float]:
    """Return what turns of so many commands come to, and the processor time of each, ms."""
    latencies: list[float] = []
    started, cpu = perf_counter(), process_time()
    while (before := perf_counter()) - started < seconds:
        await house.do(probes(size))
        latencies.append(perf_counter() - before)
    took_s, turns = perf_counter() - started, len(latencies)
    cpu_ms = 1000 * (process_time() - cpu) / turns
    return Measured(size * turns / took_s, latencies), cpu_ms


async def _memory(run: Run, house: House, server: RedisServer) -> None:
    """Measure what throws take, each a command with a request id of its own."""
    keys = Keys("croupier", LEDGER)
    with server.client() as client:

        def used() -> dict[str, int]:
            names = {"log": keys.log, "requests": keys.requests}
            names["index"] = keys.index("tables/probe")
            found = {part: client.memory_usage(name, samples=0) for part, name in names.items()}
            return {**found, "all": client.info("memory")["used_memory_dataset"]}

        before, position = used(), house.position
        while house.position - position < run.sizes.events // 10:
            await house.do(probes(1_000))
        after, events = used(), house.position - position
        each = {part: (after[part] - before[part]) / events for part in after}
        (record,) = client.xrevrange(keys.log, count=1)
    said = ", ".join(f"{part} {each[part]:.0f}" for part in ("log", "requests", "index"))
    run.add(
        MEMORY,
        each["all"],
        "bytes",
        f"{said}; of a throw whose record has {len(record[1][b'b'])} bytes",
    )


async def _busy(run: Run, house: House, server: RedisServer) -> None:
    """Measure how long the server itself takes for a large commit."""
    times = []
    with server.client() as client:
        for _ in range(run.sizes.turns):
            client.config_resetstat()
            await house.do(probes(LARGE))
            stats = client.info("commandstats")
            times.append(max(one["usec_per_call"] for one in stats.values()) / 1000)
    run.add(BUSY, median(times), "ms", "in which it does nothing else; the fsync not included")
