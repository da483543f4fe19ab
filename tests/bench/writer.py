"""The writer without gRPC: commands handed to it in batches, each decided and on disk."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from tests.bench.house import House, probes
from tests.bench.rows import Run, in_words, median_ratio
from tests.bench.sizes import WRITER_BATCHES
from tests.bench.traffic import Measured


def name_of(batch: int) -> str:
    """Return the name of a batch size's row."""
    return f"the writer without gRPC, batches of {batch:,}"


ROWS = tuple(name_of(batch) for batch in WRITER_BATCHES)


async def measure(run: Run) -> None:
    """Let batch sizes take turns."""
    house = House(run.folder / "writer")
    await house.create()
    await house.open_probe()
    await _batches(house, 100, run.sizes.turn_s / 4)
    turns = [
        {batch: await _batches(house, batch, run.sizes.turn_s / 4) for batch in WRITER_BATCHES}
        for _ in range(run.sizes.turns)
    ]
    await house.close()
    single = WRITER_BATCHES[0]
    for batch in WRITER_BATCHES:
        run.add(
            name_of(batch),
            median(turn[batch].rate for turn in turns),
            "commands/s",
            f"a batch: {in_words([one for turn in turns for one in turn[batch].latencies])}",
            yardstick=None if batch == single else f"batches of {single}",
            ratio=None
            if batch == single
            else median_ratio((turn[batch].rate, turn[single].rate) for turn in turns),
        )


async def _batches(house: House, batch: int, seconds: float) -> Measured:
    """Return what batches one after the other come to."""
    latencies: list[float] = []
    started = perf_counter()
    while (before := perf_counter()) - started < seconds:
        await house.do(probes(batch))
        latencies.append(perf_counter() - before)
    return Measured(batch * len(latencies) / (perf_counter() - started), latencies)
