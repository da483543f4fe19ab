"""`croupier serve --workers N` as real processes, and load that remembers every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.services.assignment import best
from tests.support.processes import ServerProcess

END_TIMEOUT_S = 30
CROWD = 8


class Workers(ServerProcess):
    """A parent and its workers; `addresses` in the order of their ports."""

    def __init__(self, data: Path, count: int, *flags: str) -> None:
        super().__init__(data, f"--workers={count}", *flags)
        self.addresses = tuple(f"127.0.0.1:{self.port + number}" for number in range(count))

    def processes(self) -> list[psutil.Process]:
        """Return the workers that run now."""
        return psutil.Process(self.pid).children()

    def process(self, address: str) -> psutil.Process:
        """Return the worker that listens at an address."""
        (found,) = (one for one in self.processes() if f"--listen={address}" in one.cmdline())
        return found

    def ledger_of(self, address: str) -> str:
        """Return the id of a ledger that is assigned to an address."""
        ids = (f"casino-{number}" for number in range(1000))
        return next(one for one in ids if best(self.addresses, one) == address)


def still_run(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Wait for processes to end; return those that do not."""
    return psutil.wait_procs(processes, timeout=END_TIMEOUT_S)[1]


async def ready(address: str) -> None:
    """Wait until a server serves at an address."""
    async with grpc.aio.insecure_channel(
        address, options=[("grpc.use_local_subchannel_pool", 1)]
    ) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=END_TIMEOUT_S
        )
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


class Load:
    """A crowd that asks as fast as it is answered until told to stop, and remembers the answers.

    Whoever is refused for good goes home, and what he was told is in `ends`.
    """

    def __init__(self, name: str, ask: Callable[[str], Coroutine[Any, Any, Any]]) -> None:
        self._name = name
        self._ask = ask
        self._answered = asyncio.Condition()
        self._stopped = False
        self.acknowledged: dict[str, Any] = {}
        self.ends: list[Exception] = []
        self._crowd = [asyncio.ensure_future(self._work(number)) for number in range(CROWD)]

    async def _work(self, member: int) -> None:
        number = 0
        while not self._stopped:
            number += 1
            request_id = f"{self._name}.{member}.{number}"
            try:
                answer = await self._ask(request_id)
            except Exception as error:  # noqa: BLE001  # the test looks at what it was
                self.ends.append(error)
                return
            async with self._answered:
                self.acknowledged[request_id] = answer
                self._answered.notify_all()

    async def answers(self, more: int) -> None:
        """Wait for so many more answers."""
        wanted = len(self.acknowledged) + more
        async with asyncio.timeout(END_TIMEOUT_S), self._answered:
            await self._answered.wait_for(lambda: len(self.acknowledged) >= wanted)

    async def stop(self) -> None:
        """Wait until everybody has his last answer."""
        self._stopped = True
        await self.end()

    async def end(self) -> None:
        """Wait until everybody has gone home."""
        async with asyncio.timeout(END_TIMEOUT_S):
            await asyncio.gather(*self._crowd)
