"""The worked examples of docs/scale.md: arithmetic from a simulated machine and measured sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from math import ceil

from tests.simulation import costs
from tests.simulation.costs import STREAM_16, UNARY, Form
from tests.simulation.counts import Result
from tests.simulation.simulation import Plan, simulate
from tests.simulation.tables import PLANNED, PLAYERS, Row, ceiling, latencies, row

TABLES = 10_000
PEAK = 100_000
"""Commands a second at the peak."""
MEAN = 0.3
"""The mean load of a day, as a share of the peak: assumed."""
CORES = 8
PROCESSES = 7
"""On each machine: one core is left for the system, backups and metrics."""
LEDGERS = 4
"""In each process."""
DAY_S = 86_400


@cache
def machines(form: Form = STREAM_16, ledgers: int = LEDGERS) -> int:
    """Return how many machines carry the peak as planned."""
    each = ceiling(form, ledgers * PROCESSES, PROCESSES, CORES).throughput
    return ceil(PEAK / (PLANNED * each))


@cache
def a_machine_of(count: int, burst: int = 1) -> Result:
    """Return one of so many machines at the peak."""
    plan = Plan(rate=PEAK / count, form=STREAM_16, burst=burst, seconds=6)
    return simulate(plan, ledgers=LEDGERS * PROCESSES, processes=PROCESSES, cores=CORES)


def large() -> Iterator[Row]:
    """What a large operator needs."""
    processes = machines() * PROCESSES
    ledgers = processes * LEDGERS
    run = a_machine_of(machines())
    events = PEAK * costs.EVENTS_PER_COMMAND
    day = events * MEAN * DAY_S * costs.FILE_BYTES
    written = PEAK / machines() * costs.WRITTEN_BYTES
    log = MEAN * DAY_S * events / ledgers
    said = f"planned at {PLANNED:.0%} of the simulated ceiling"
    yield row("what", "figure", "from")
    yield row(f"machines of {CORES} cores in use", machines(), said)
    yield row("with one in reserve", machines() + 1, "arithmetic")
    yield row("cores, reserve included", (machines() + 1) * CORES, "arithmetic")
    yield row("in use with single calls, one ledger a process", machines(UNARY, 1), said)
    yield row(f"in use with single calls, {LEDGERS} ledgers a process", machines(UNARY), said)
    yield row("processes in use", processes, f"{PROCESSES} a machine")
    yield row("ledgers", ledgers, f"{LEDGERS} a process")
    yield row("tables a ledger", TABLES / ledgers, "arithmetic")
    yield row("commands/s a process", PEAK / processes, "arithmetic")
    yield row("commands/s a ledger", PEAK / ledgers, "arithmetic")
    yield row("commands a commit", run.batch, "simulated")
    yield row("durable writes/s a machine", run.syncs, "simulated")
    yield row(
        *("written to a machine's disk, MB/s", written / 1e6),
        f"{costs.WRITTEN_BYTES / 1000:.1f} kB a command measured",
    )
    yield row("events/s", events, f"{costs.EVENTS_PER_COMMAND} a command measured")
    yield row(
        *("growth a day, TB", day / 1e12),
        f"{costs.FILE_BYTES} B an event measured, mean load {MEAN:.0%} of the peak assumed",
    )
    yield row("growth a year, TB", 365 * day / 1e12, "arithmetic")
    yield row("growth of one ledger a day, GB", day / ledgers / 1e9, "arithmetic")
    yield row(
        *("start of a process with snapshots, s", costs.MEASURED_START_S),
        "measured with one ledger of 1,000,000 events",
    )
    yield row(
        *("reading one ledger whole, s for each day of its log", log / costs.RECOVERED_PER_S),
        f"{costs.RECOVERED_PER_S:,} events/s measured",
    )
    yield row(
        "background check of a process, hours for each day of its logs",
        LEDGERS * log / costs.RECHECKED_PER_S / 3600,
        f"{costs.RECHECKED_PER_S:,} events/s measured",
    )


def large_latency() -> Iterator[Row]:
    """The peak on more and on fewer machines."""
    yield row("the peak on", "busy", "p50 ms", "p99 ms", "p99.9 ms", "p99 ms, 4 messages at once")
    for count in range(machines() + 1, machines() - 3, -1):
        run, bursts = a_machine_of(count), a_machine_of(count, 4)
        name = f"{count} machines"
        yield row(name, f"{run.busy:.0%}", *latencies(run), bursts.latency_ms(0.99))


def fullest(each: int, processes: int) -> float:
    """Return the ledgers of the fullest process by rendezvous hash, as a multiple of the mean."""

    def assigned(ledger: int) -> int:
        names = (f"process-{process} ledger-{ledger}" for process in range(processes))
        hashes = [sha256(name.encode()).digest() for name in names]
        return hashes.index(max(hashes))

    return max(Counter(map(assigned, range(each * processes))).values()) / each


def evenness() -> Iterator[Row]:
    """How evenly a hash spreads ledgers over processes."""
    yield row("ledgers for each process, mean", "of 7 processes", "of 35 processes")
    for each in (1, 4, 16, 64):
        yield row(each, *(f"{fullest(each, count):.1f} x the mean" for count in (7, 35)))


SMALL_COMMANDS_A_DAY = 10 * 8 * 3600
"""20 tables, each a command every two seconds, eight hours."""


def small() -> Iterator[Row]:
    """20 tables on one process and one core, single calls."""
    yield row("20 tables", "commands/s", "busy", "p50 ms", "p99 ms", "p99.9 ms")
    for what, rate, burst in (
        ("a busy evening, calls one by one", 10, 1),
        ("the same, whole tables at once", 10, PLAYERS),
        ("twenty times as much, whole tables at once", 200, PLAYERS),
    ):
        run = simulate(Plan(rate=rate, burst=burst, seconds=20_000 / rate))
        yield row(what, rate, f"{run.busy:.1%}", *latencies(run))


def small_growth() -> Iterator[Row]:
    """What 20 tables write in a day and in a year of such days."""
    yield row("of 20 tables", "a day", "a year")
    events = SMALL_COMMANDS_A_DAY * costs.EVENTS_PER_COMMAND
    file_gb = events * costs.FILE_BYTES / 1e9
    for what, figure in (
        ("commands", SMALL_COMMANDS_A_DAY),
        ("the ledger's file, GB", file_gb),
        ("reading the ledger whole, seconds", events / costs.RECOVERED_PER_S),
        ("the background check after a start, minutes", events / costs.RECHECKED_PER_S / 60),
    ):
        yield row(what, figure, 365 * figure)
