"""The tables of docs/scale.md that come from the simulation, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from tests.simulation import costs
from tests.simulation.costs import FORMS, ROUNDS, STREAM_16, THROWS, UNARY, Costs, Form
from tests.simulation.counts import Result
from tests.simulation.simulation import Plan, simulate

PLANNED = 0.55
"""The share of the ceiling that is planned with."""
CROWD = 64
"""Calls in flight for each process when its ceiling is looked for."""
PLAYERS = 8
"""Calls that a whole table sends at once."""

Row = Sequence[str]


def number(value: float) -> str:
    """Return a count as it is, another figure with three digits, which is more than it deserves."""
    if isinstance(value, int):
        return f"{value:,}"
    if value >= 1000:
        return f"{round(value, 3 - len(str(int(value)))):,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def row(*cells: str | float) -> Row:
    """Return the cells in words."""
    return [cell if isinstance(cell, str) else number(cell) for cell in cells]


def latencies(result: Result) -> list[float]:
    """Return p50, p99 and p99.9."""
    return [result.latency_ms(share) for share in (0.5, 0.99, 0.999)]


@cache
def ceiling(
    form: Form = UNARY,
    ledgers: int = 1,
    processes: int = 1,
    cores: int = 1,
    each: Costs = ROUNDS,
) -> Result:
    """Return what is carried when callers never run out of calls."""
    plan = Plan(crowd=CROWD * processes, form=form, seconds=3, warm_up=0.3, costs=each)
    return simulate(plan, ledgers=ledgers, processes=processes, cores=cores)


def against_measured() -> Iterator[Row]:
    """What was measured, and what the simulation says of the same."""
    yield row("throws", "measured", "simulated")
    lone = simulate(Plan(crowd=1, seconds=1, costs=THROWS))
    yield row("a lone call, p50, ms", costs.MEASURED_LONE_MS, lone.latency_ms(0.5))
    for size, rate in costs.MEASURED_BARE.items():
        form = Form("turn", size)
        run = simulate(Plan(crowd=1, form=form, seconds=2, costs=costs.NO_GRPC))
        what = f"one writer without gRPC, turns of {size:,}, commands/s"
        yield row(what, rate, run.throughput)
    for (crowd, ledgers), (rate, batch) in costs.MEASURED_UNARY.items():
        run = simulate(Plan(crowd=crowd, ledgers=ledgers, seconds=2, costs=THROWS))
        among = f"{ledgers} ledger{'s' if ledgers > 1 else ''}"
        yield row(
            f"{crowd} call{'s' if crowd > 1 else ''} in flight, {among}: commands/s",
            rate,
            run.throughput,
        )
        yield row("the same, commands a commit", batch, run.batch)
    for (form, crowd), rate in costs.MEASURED_OTHER.items():
        run = simulate(Plan(crowd=crowd, form=form, seconds=2, costs=THROWS))
        yield row(f"{form.name}, {crowd} in flight: commands/s", rate, run.throughput)


def offered_load() -> Iterator[Row]:
    """Latencies at offered load, measured and simulated."""
    yield row(
        *("Play, throws, share of the capacity", "p50 ms, measured", "p50 ms, simulated"),
        *("p99 ms, measured", "p99 ms, simulated"),
    )
    most = ceiling(each=THROWS).throughput
    for share, (p50, p99) in costs.MEASURED_OFFERED.items():
        run = simulate(Plan(rate=share * most, seconds=10, costs=THROWS))
        yield row(f"{share:.0%}", p50, run.latency_ms(0.5), p99, run.latency_ms(0.99))


def one_ledger() -> Iterator[Row]:
    """One ledger in a process of its own, by form of call."""
    yield row(
        *("form of call", "ceiling, throws/s", "ceiling, rounds, commands/s", "planned"),
        *("p50 ms", "p99 ms", "p99.9 ms", "commands a commit"),
    )
    for form in FORMS:
        throws = ceiling(form, each=THROWS).throughput
        most = ceiling(form).throughput
        run = simulate(Plan(rate=PLANNED * most, form=form))
        yield row(form.name, throws, most, PLANNED * most, *latencies(run), run.batch)


def ledgers_together() -> Iterator[Row]:
    """Several ledgers in one process."""
    yield row("ledgers", *(cell for form in (UNARY, STREAM_16) for cell in (form.name, "a commit")))
    for ledgers in (1, 2, 4, 16, 64):
        runs = [ceiling(form, ledgers) for form in (UNARY, STREAM_16)]
        figures = (figure for run in runs for figure in (run.throughput, run.batch))
        yield row(ledgers, *figures)


def head_room() -> Iterator[Row]:
    """One ledger at a growing share of its ceiling."""
    yield row(
        *("share of the ceiling", "Play, p50 ms", "p99 ms", "p99.9 ms", "p99 ms, tables at once"),
        *(f"{STREAM_16.name}, p50 ms", "p99 ms", "p99.9 ms"),
    )
    for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.1):
        unary, streamed = (share * ceiling(form).throughput for form in (UNARY, STREAM_16))
        calls = simulate(Plan(rate=unary, seconds=10))
        tables = simulate(Plan(rate=unary, burst=PLAYERS, seconds=10))
        messages = simulate(Plan(rate=streamed, form=STREAM_16, seconds=20))
        p99 = tables.latency_ms(0.99)
        yield row(f"{share:.0%}", *latencies(calls), p99, *latencies(messages))


def overload() -> Iterator[Row]:
    """More than a ledger carries, for eight seconds."""
    yield row(
        *("form of call", "offered", "answered, commands/s", "refused/s", "waiting at the end"),
        *("p50 ms", "p99 ms"),
    )
    for form in (UNARY, STREAM_16):
        for share in (0.9, 1.2, 1.5, 2.0):
            rate = share * ceiling(form).throughput
            run = simulate(Plan(rate=rate, form=form, seconds=8))
            offered = f"{share:.0%} of the ceiling"
            figures = (run.throughput, round(run.refused), run.waiting)
            yield row(form.name, offered, *figures, *latencies(run)[:2])


def one_machine() -> Iterator[Row]:
    """Processes on one machine of eight cores."""
    yield row("processes", "commands/s", "each", "commits/s", "share of the disk", "p50 ms")
    for processes in (1, 2, 4, 7, 8, 16):
        run = ceiling(STREAM_16, 4 * processes, processes, 8)
        share = f"{run.syncs / ROUNDS.syncs_per_s:.0%}"
        each = run.throughput / processes
        yield row(processes, run.throughput, each, run.syncs, share, run.latency_ms(0.5))


def engines() -> Iterator[Row]:
    """Other disks, and an engine behind a network: assumed costs."""
    yield row(
        *("engine", "a lone Play, ms", UNARY.name, STREAM_16.name),
        *("8 processes of 4 ledgers, PlayStream", "8 processes of 16 ledgers, Play"),
    )
    for name, each in (
        ("SQLite, disk as measured", ROUNDS),
        ("SQLite, disk of 500 writes/s (assumed)", costs.SLOW_DISK),
        ("commit 1 ms away, loop goes on (assumed)", costs.NETWORK),
    ):
        lone = simulate(Plan(crowd=1, seconds=1, costs=each)).latency_ms(0.5)
        alone = (ceiling(form, each=each).throughput for form in (UNARY, STREAM_16))
        machine = (ceiling(STREAM_16, 32, 8, 8, each), ceiling(UNARY, 128, 8, 8, each))
        yield row(name, lone, *alone, *(run.throughput for run in machine))


def markdown(table: Callable[[], Iterator[Row]]) -> str:
    """Return a table, its first row as the head."""
    head, *body = (f"| {' | '.join(cells)} |" for cells in table())
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *body])
