"""Measures speed against yardsticks of the same run: a table for people, JSON for tools.

Run it as `make bench`. Ratios hold where absolute figures depend on the machine: service and
yardstick take turns, and the median of the turns' ratios is given.
"""

from __future__ import annotations

import asyncio
import json
import platform
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import grpc  # noqa: E402  # the path above comes first

from croupier.services.cli import run  # noqa: E402
from croupier.v1 import play_pb2  # noqa: E402
from tests.bench.echo import METHOD  # noqa: E402
from tests.support.api import Api, thrown  # noqa: E402
from tests.support.processes import ServerProcess  # noqa: E402

IN_FLIGHT = 64
TURNS = 5
SECONDS = 2.0
LONE_CALLS = 1000


def request(table: int, number: int) -> play_pb2.PlayRequest:
    """Return a throw that decides nothing, so that it can be repeated for ever."""
    return play_pb2.PlayRequest(
        table=f"ledgers/main/tables/t{table}",
        round=1,
        player="anna",
        request_id=f"{table}.{number}",
        roll=thrown(1, 2, 4),
    )


class Caller:
    """Sends numbered throws to one method and takes the time of each."""

    def __init__(self, method, name):
        self._method = method
        self._numbers = iter(range(10**9))
        self.name = name

    async def call(self, table):
        await self._method(request(table, next(self._numbers)))

    async def many(self, tables):
        """Return calls per second and every latency with so many calls in flight."""
        latencies = []
        started = perf_counter()

        async def work(worker):
            while perf_counter() - started < SECONDS:
                before = perf_counter()
                await self.call(worker % tables)
                latencies.append(perf_counter() - before)

        await asyncio.gather(*(work(worker) for worker in range(IN_FLIGHT)))
        return len(latencies) / (perf_counter() - started), latencies

    async def lone(self):
        """Return the latencies of calls one after the other."""
        latencies = []
        for _ in range(LONE_CALLS):
            before = perf_counter()
            await self.call(0)
            latencies.append(perf_counter() - before)
        return latencies


def fsynced_insert_s(folder: Path) -> float:
    """Return the median time of one durable insert into a bare SQLite file, seconds."""
    connection = sqlite3.connect(folder / "yardstick.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (x BLOB)")
    times = []
    for _ in range(LONE_CALLS):
        before = perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", (b"x" * 200,))
        times.append(perf_counter() - before)
    connection.close()
    return median(times)


def milliseconds(latencies):
    """Return p50, p99 and p99.9 of latencies, in words."""
    cuts = quantiles(latencies, n=1000)
    shown = ", ".join(
        f"{name} {1000 * cuts[at]:.2f}" for name, at in (("p50", 499), ("p99", 989), ("p99.9", 998))
    )
    return f"{shown} ms"


def row(*, name, value, unit, yardstick, ratio, goal, met, detail):
    """Return one measurement."""
    return {
        "name": name,
        "value": round(value, 3),
        "unit": unit,
        "yardstick": yardstick,
        "ratio": round(ratio, 3),
        "goal": goal,
        "met": met,
        "detail": detail,
    }


async def measure(server: ServerProcess, echo_port: int, folder: Path):
    """Return all measurements."""
    async with (
        grpc.aio.insecure_channel(server.address) as channel,
        grpc.aio.insecure_channel(f"127.0.0.1:{echo_port}") as echo_channel,
    ):
        api = Api(channel)
        await api.create()
        await api.deposit("anna", 100 * IN_FLIGHT)
        await api.deposit("bert", 100 * IN_FLIGHT)
        for table in range(IN_FLIGHT):
            await api.open(f"t{table}", seats=("anna", "bert"))
            await api.post("anna", 100, table=f"t{table}")
            await api.fade("bert", 100, table=f"t{table}")
        play = Caller(api.plays.Play, "Play")
        echo = Caller(
            echo_channel.unary_unary(
                METHOD, play_pb2.PlayRequest.SerializeToString, play_pb2.PlayRequest.FromString
            ),
            "echo",
        )
        for caller in (play, echo):  # the first calls pay for connecting
            await caller.many(IN_FLIGHT)
        turns = [
            (await play.many(IN_FLIGHT), await play.many(1), await echo.many(IN_FLIGHT))
            for _ in range(TURNS)
        ]
        lone, lone_echo = await play.lone(), await echo.lone()
    insert_s = fsynced_insert_s(folder)
    return list(results(turns, lone, lone_echo, insert_s))


def results(turns, lone, lone_echo, insert_s):
    """Yield the rows of the table."""
    rate = median(play[0] for play, _, _ in turns)
    hot = median(one[0] for _, one, _ in turns)
    echo_rate = median(echo[0] for _, _, echo in turns)
    to_echo = median(play[0] / echo[0] for play, _, echo in turns)
    to_many = median(one[0] / play[0] for play, one, _ in turns)
    yield row(
        name=f"unary Play, {IN_FLIGHT} in flight over {IN_FLIGHT} tables",
        value=rate,
        unit="commands/s",
        yardstick=f"bare gRPC echo, {echo_rate:.0f} calls/s",
        ratio=to_echo,
        goal=">= 0.5",
        met=to_echo >= 0.5,
        detail=milliseconds([latency for play, _, _ in turns for latency in play[1]]),
    )
    yield row(
        name=f"unary Play on one hot table, {IN_FLIGHT} in flight",
        value=hot,
        unit="commands/s",
        yardstick=f"unary over {IN_FLIGHT} tables",
        ratio=to_many,
        goal=">= 0.8",
        met=to_many >= 0.8,
        detail=milliseconds([latency for _, one, _ in turns for latency in one[1]]),
    )
    yardstick_s = median(lone_echo) + insert_s
    echo_ms, insert_ms = 1000 * median(lone_echo), 1000 * insert_s
    to_yardstick = median(lone) / yardstick_s
    yield row(
        name="a lone unary Play, p50",
        value=1000 * median(lone),
        unit="ms",
        yardstick=f"echo {echo_ms:.2f} ms + fsync'd insert {insert_ms:.2f} ms",
        ratio=to_yardstick,
        goal="<= 1.5",
        met=to_yardstick <= 1.5,
        detail=milliseconds(lone),
    )


def show(rows):
    """Print the table for people."""
    print(f"{platform.machine()}, Python {platform.python_version()}, engine sqlite, fsync'd")
    for one in rows:
        verdict = "met" if one["met"] else "MISSED"
        print(f"\n{one['name']}: {one['value']:g} {one['unit']} ({one['detail']})")
        print(f"  against {one['yardstick']}: {one['ratio']:g}x, goal {one['goal']}: {verdict}")


def main():
    """Measure, print and write `build/bench.json`."""
    echo = subprocess.Popen(
        [sys.executable, ROOT / "tests/bench/echo.py"],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        try:
            rows = run(measure(server, int(echo.stdout.readline()), Path(folder)))
        finally:
            echo.send_signal(signal.SIGTERM)
            echo.communicate()
    show(rows)
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    (build / "bench.json").write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
