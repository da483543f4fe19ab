"""A large ledger: how fast it is written, what commands cost on it, its start and its memory."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from time import perf_counter

import psutil

from croupier.services.ledger.requests import Deposit
from tests.bench.house import House, Player, opening, probes
from tests.bench.rows import Run, in_words, median_ratio, rounded
from tests.bench.sizes import Sizes
from tests.bench.traffic import Service, service

BUILT = "a large ledger written: deposits and rounds, batches of 1,000"
IN_PROCESS = "a command on a large ledger, batches of 100 without gRPC"
COMMANDS = "unary Play on a large ledger"
START = "start of a server on a large ledger"
MEMORY = "memory of a server with a large ledger, all its tables live"

ROWS = (BUILT, IN_PROCESS, COMMANDS, START, MEMORY)

BATCH = 1_000
PROBE_BATCH = 100
PROBE_BATCHES = 15
PROBE_SINGLES = 200
SEATS = 3
SEED = 1


class Growing:
    """A ledger that grows by real work: every table plays on, and every player pays in."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self.house = House(folder)
        self._player = Player(SEED)
        self._tables = [f"b{number}" for number in range(sizes.tables)]
        self._players = [f"{table}.{seat}" for table in self._tables for seat in range(SEATS)]
        self._deposited = 0

    async def begin(self) -> None:
        """Open the tables."""
        asked = []
        for number, table in enumerate(self._tables):
            asked += opening(table, tuple(self._players[SEATS * number : SEATS * (number + 1)]))
        for first in range(0, len(asked), BATCH):
            await self.house.do(asked[first : first + BATCH])

    async def to(self, position: int) -> None:
        """Grow to a position, or a little beyond it."""
        while (left := position - self.house.position) > 0:
            await self.house.do(self._deposits(min(BATCH, left)))
            playing = self._tables[: position - self.house.position]
            for first in range(0, len(playing), BATCH):
                ledger = self.house.ledger
                tables = [ledger.table(one) for one in playing[first : first + BATCH]]
                await self.house.do([self._player.next(table) for table in tables])

    def _deposits(self, count: int) -> list[Deposit]:
        first, self._deposited = self._deposited, self._deposited + count
        players = (self._players[(first + one) % len(self._players)] for one in range(count))
        return [Deposit(f"player:{player}", "EUR", 100) for player in players]


async def measure(run: Run) -> None:
    """Write the ledger, then serve it beside an empty one."""
    empty, big = run.folder / "empty", run.folder / "big"
    await _grow(run, empty, big)
    start_s = perf_counter()
    async with service(empty) as small:
        start_empty_s = perf_counter() - start_s
        await small.furnish(create=False)
        start_s = perf_counter()
        async with service(big) as large:
            start_big_s = perf_counter() - start_s
            await _serve(run, small, large, (start_empty_s, start_big_s))


async def _grow(run: Run, empty: Path, big: Path) -> None:
    """Write both ledgers; on the way, take the cost of a command at several sizes."""
    house = House(empty)
    await house.create()
    await house.open_probe()
    points = [await _probe(house)]
    house.close()

    growing = Growing(big, run.sizes)
    house = growing.house
    await house.create()
    await house.open_probe()
    house.written_s, probed_s, probed = 0.0, 0.0, 0
    started = perf_counter()
    for number, position in enumerate(run.sizes.probe_at[1:]):
        if number == 1:
            await growing.begin()
        if number:
            await growing.to(position)
        else:
            await house.do(growing._deposits(position))
        before, written, began = house.position, house.written_s, perf_counter()
        points.append(await _probe(house))
        probed += house.position - before
        probed_s += perf_counter() - began
        house.written_s = written
    await growing.to(run.sizes.events)
    seconds = perf_counter() - started - probed_s
    size = house.position
    house.close()
    run.points["size"] = points
    _built(run, points, size, (size - probed, house.written_s, seconds))


def _built(run, points, size, built) -> None:
    events, written_s, seconds = built
    megabytes = sum(file.stat().st_size for file in (run.folder / "big").iterdir()) / 1e6
    run.add(
        BUILT,
        events / written_s,
        "events/s",
        f"{size:,} events, {run.sizes.tables:,} tables; {seconds:.3g} s with the making of "
        f"commands; {megabytes:,.0f} MB on disk",
    )
    first, last = points[0], points[-1]
    run.add(
        IN_PROCESS,
        last["batch_us"],
        "us/command",
        f"at {last['events']:,} events; alone {last['single_us']:g} us",
        yardstick=f"an empty ledger, {first['batch_us']:g} us, alone {first['single_us']:g} us",
        ratio=last["batch_us"] / first["batch_us"],
    )


async def _probe(house: House) -> dict[str, float]:
    """Return what a command costs at this size, in batches and alone, microseconds."""
    events = house.position
    await house.do(probes(PROBE_BATCH))  # the first pays for what was not in memory
    batches, singles = [], []
    for times, size, count in ((batches, PROBE_BATCH, PROBE_BATCHES), (singles, 1, PROBE_SINGLES)):
        for _ in range(count):
            before = perf_counter()
            await house.do(probes(size))
            times.append((perf_counter() - before) / size)
    return {
        "events": events,
        "batch_us": rounded(1e6 * median(batches)),
        "single_us": rounded(1e6 * median(singles)),
    }


async def _serve(run: Run, small: Service, large: Service, start_s: tuple[float, float]) -> None:
    started, idle = _rss_mb(large), _rss_mb(small)
    for number in range(run.sizes.tables):
        await large.api.table(f"b{number}")
    live = _rss_mb(large)
    await large.furnish(create=False)
    seconds = run.sizes.turn_s
    for one in (small, large):
        await one.unary(seconds / 2)  # the first calls pay for connecting
    turns = [
        (await large.unary(seconds), await small.unary(seconds)) for _ in range(run.sizes.turns)
    ]
    events = f"{run.sizes.events:,} events"
    run.add(
        COMMANDS,
        median(on_large.rate for on_large, _ in turns),
        "commands/s",
        f"{events}; {in_words([one for on_large, _ in turns for one in on_large.latencies])}",
        yardstick=f"an empty ledger, {median(on_small.rate for _, on_small in turns):,.0f}",
        ratio=median_ratio((on_large.rate, on_small.rate) for on_large, on_small in turns),
        at_least=0.9,
    )
    run.add(
        START,
        start_s[1],
        "s",
        f"{events}, from the start of the process to its first answer",
        yardstick=f"an empty ledger, {start_s[0]:.3g} s",
        ratio=start_s[1] / start_s[0],
    )
    run.add(
        MEMORY,
        live,
        "MB",
        f"{events}, {run.sizes.tables:,} live tables; {started:,.0f} MB after the start, "
        f"{_rss_mb(large):,.0f} MB after load; resident set",
        yardstick=f"an empty ledger, {idle:,.0f} MB",
        ratio=live / idle,
    )


def _rss_mb(served: Service) -> float:
    """Return what a server process holds in memory, megabytes."""
    return psutil.Process(served.process.pid).memory_info().rss / 1e6
