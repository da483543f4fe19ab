"""Callers of a real server: a process with furnished tables, and calls in a closed loop."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.request import urlopen

import grpc

from croupier.v1 import play_pb2
from tests.bench.sizes import IN_FLIGHT
from tests.support.api import Api, thrown
from tests.support.processes import ServerProcess

_ROLL = thrown(1, 2, 4)
_NUMBERS = itertools.count(1)

CHANNEL_OPTIONS = (("grpc.use_local_subchannel_pool", 1),)
"""Each channel has a connection of its own."""


def throw(table: int) -> play_pb2.PlayRequest:
    """Return a throw that decides nothing, so that it can be repeated for ever."""
    return play_pb2.PlayRequest(
        table=f"ledgers/main/tables/t{table}",
        round=1,
        player="anna",
        request_id=f"bench-{next(_NUMBERS)}",
        roll=_ROLL,
    )


def throws(count: int) -> list[play_pb2.PlayRequest]:
    """Return throws spread over all tables."""
    first = next(_NUMBERS)
    return [throw((first + one) % IN_FLIGHT) for one in range(count)]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a closed loop came to: commands in a second, and how long each message took, seconds."""

    rate: float
    latencies: list[float]


_COMMITS = "croupier_commit_batch_commands"


@dataclass(frozen=True, slots=True)
class Commits:
    """How many commits there were, and how many commands in them."""

    commits: float
    commands: float

    def each_since(self, before: Commits) -> float:
        """Return how many commands one commit had since an earlier count."""
        return (self.commands - before.commands) / (self.commits - before.commits)


Call = Callable[[int], Awaitable[object]]
"""Sends one message as the worker of this number, and waits for its answer."""


async def closed_loop(call: Call, seconds: float, *, workers: int, each: int = 1) -> Measured:
    """Let workers send messages of `each` commands, everyone the next when his last is answered."""
    latencies: list[float] = []
    started = perf_counter()

    async def work(worker: int) -> None:
        while (before := perf_counter()) - started < seconds:
            await call(worker)
            latencies.append(perf_counter() - before)

    await asyncio.gather(*(work(worker) for worker in range(workers)))
    return Measured(each * len(latencies) / (perf_counter() - started), latencies)


class Service:
    """A server process and a connection to it."""

    def __init__(self, process: ServerProcess, channel: grpc.aio.Channel) -> None:
        self.process = process
        self.api = Api(channel)

    async def furnish(self, *, create: bool = True) -> None:
        """Open the tables that `throw` throws at."""
        if create:
            await self.api.create()
        await self.api.deposit("anna", 100 * IN_FLIGHT)
        await self.api.deposit("bert", 100 * IN_FLIGHT)
        for table in range(IN_FLIGHT):
            await self.api.open(f"t{table}", seats=("anna", "bert"))
            await self.api.post("anna", 100, table=f"t{table}")
            await self.api.fade("bert", 100, table=f"t{table}")

    async def play(self, worker: int) -> None:
        """Throw once, at the table of a worker."""
        await self.api.plays.Play(throw(worker % IN_FLIGHT))

    async def play_hot(self, worker: int) -> None:
        """Throw once, all workers at the same table."""
        del worker
        await self.api.plays.Play(throw(0))

    def metric(self, name: str) -> float:
        """Return the sum of a metric's series, as the server exports them now."""
        with urlopen(f"http://127.0.0.1:{self.process.metrics_port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        series = (line for line in lines if line.partition(" ")[0].partition("{")[0] == name)
        return sum(float(line.rsplit(" ", 1)[1]) for line in series)

    def commits(self) -> Commits:
        """Return what the server says of its commits so far."""
        return Commits(self.metric(f"{_COMMITS}_count"), self.metric(f"{_COMMITS}_sum"))

    async def unary(self, seconds: float) -> Measured:
        """Return what unary calls come to over all tables."""
        return await closed_loop(self.play, seconds, workers=IN_FLIGHT)


@asynccontextmanager
async def service(data: Path, *flags: str) -> AsyncIterator[Service]:
    """Serve a folder from a process of its own."""
    with ServerProcess(data, *flags) as process:
        async with grpc.aio.insecure_channel(process.address, options=CHANNEL_OPTIONS) as channel:
            yield Service(process, channel)
        process.stop()
