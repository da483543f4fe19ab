"""A large ledger: how fast it is written, what commands cost on it, its start and its memory."""

from __future__ import annotations

import asyncio
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
SEATS = 3
SEED = 1
UNCHECKED = "croupier_ledger_unchecked_events"
CHECK_S = 0.5


class Growing:
    """A ledger that grows by real work: every table plays on, and every player pays in."""

    def __init__(self, house: House, sizes: Sizes) -> None:
        self.house = house
        self._player = Player(SEED)
        self._tables = [f"b{number}" for number in range(sizes.tables)]
        self._players = [f"{table}.{seat}" for table in self._tables for seat in range(SEATS)]
        self._deposited = 0
        self._open = False

    async def _open_tables(self) -> None:
        self._open = True
        asked = []
        for number, table in enumerate(self._tables):
            asked += opening(table, tuple(self._players[SEATS * number : SEATS * (number + 1)]))
        for first in range(0, len(asked), BATCH):
            await self.house.do(asked[first : first + BATCH])

    async def to(self, position: int) -> None:
        """Grow to a position, or a little beyond it; tables open when there is room for all."""
        if not self._open and position > self.house.position + (SEATS + 1) * len(self._tables):
            await self._open_tables()
        while (left := position - self.house.position) > 0:
            await self.house.do(self._deposits(min(BATCH, left)))
            playing = self._tables[: position - self.house.position] if self._open else []
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
    await (await _new(empty)).close()
    await _grow(run, big)
    started = perf_counter()
    async with service(empty) as small:
        start_empty_s = perf_counter() - started
        await small.furnish(create=False)
        started = perf_counter()
        async with service(big) as large:
            start_big_s = perf_counter() - started
            await _serve(run, small, large, (start_empty_s, start_big_s))


async def _new(folder: Path) -> House:
    """Return a ledger with nothing but the table of the probes."""
    house = House(folder)
    await house.create()
    await house.open_probe()
    return house


async def _grow(run: Run, folder: Path) -> None:
    """Write the large ledger; on the way, take the cost of a command at several sizes."""
    growing = Growing(await _new(folder), run.sizes)
    house, points = growing.house, []
    written, written_s, seconds = 0, 0.0, 0.0
    for position in run.sizes.probe_at:
        before, before_s, started = house.position, house.written_s, perf_counter()
        await growing.to(position)
        written += house.position - before
        written_s += house.written_s - before_s
        seconds += perf_counter() - started
        beside = await _new(run.folder / f"beside-{position}")
        points.append(await _probe(run.sizes, house, beside))
        await beside.close()
    size = house.position
    await house.close()
    run.points["size"] = points
    run.add(
        BUILT,
        written / written_s,
        "events/s",
        f"{size:,} events, {run.sizes.tables:,} tables; {seconds:.3g} s with the making of "
        f"commands; {_disk_mb(folder):,.0f} MB on disk",
    )
    last = points[-1]
    run.add(
        IN_PROCESS,
        last["batch_us"],
        "us/command",
        f"at {last['events']:,} events; alone {last['single_us']:g} us, "
        f"{last['single_ratio']:g}x an empty ledger",
        yardstick=f"an empty ledger, {last['batch_beside_us']:g} us",
        ratio=last["batch_ratio"],
    )


async def _probe(sizes: Sizes, house: House, beside: House) -> dict[str, float]:
    """Return what a command costs, in batches and alone, in turns with an empty ledger."""
    point = {"events": house.position}
    kinds = (("batch", PROBE_BATCH, sizes.probe_batches), ("single", 1, sizes.probe_singles))
    for kind, size, count in kinds:
        pairs = [(await _each_s(house, size), await _each_s(beside, size)) for _ in range(count)]
        point[f"{kind}_us"] = rounded(1e6 * median(one for one, _ in pairs))
        point[f"{kind}_beside_us"] = rounded(1e6 * median(other for _, other in pairs))
        point[f"{kind}_ratio"] = rounded(median_ratio(pairs))
    return point


async def _each_s(house: House, size: int) -> float:
    """Return what one command of a batch takes, seconds."""
    before = perf_counter()
    await house.do(probes(size))
    return (perf_counter() - before) / size


async def _serve(run: Run, small: Service, large: Service, start_s: tuple[float, float]) -> None:
    started, idle = _rss_mb(large), _rss_mb(small)
    for number in range(run.sizes.tables):
        await large.api.table(f"b{number}")
    live = _rss_mb(large)
    checked_s = await _checked_s(large)
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
        f"{events}, from the start of the process to its first answer; what snapshots let it skip "
        f"was read again within {checked_s:.3g} s more",
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


async def _checked_s(served: Service) -> float:
    """Wait until the server has nothing left to do in the background, and return how long."""
    started = perf_counter()
    while True:
        if not served.metric(UNCHECKED):
            return perf_counter() - started
        await asyncio.sleep(CHECK_S)


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def _rss_mb(served: Service) -> float:
    """Return what a server process holds in memory, megabytes."""
    return psutil.Process(served.process.pid).memory_info().rss / 1e6
