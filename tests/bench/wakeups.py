"""How long after a commit a watcher at another process has it: `python tests/bench/wakeups.py`.

Two processes serve one folder on SQLite; one commits, somebody watches at the other. Measured from
the acknowledgement to the arrival, with the polls alone and with wake-ups by Redis.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path
from statistics import quantiles
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))

from croupier.v1 import audit_pb2  # the path above comes first
from tests.support.processes import ServerProcess
from tests.support.redis_server import redis_server
from tests.support.serving import Client
from tests.support.stories import create_ledger, deposit

COMMITS = 500
PAUSE_MOST_S = 0.2
WARM_UP_S = 1.0


async def lags(wakeups: str) -> list[float]:
    """Return the time from each acknowledgement to its arrival, seconds."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="croupier-wakeups-") as folder:
        flags = (Path(folder), f"--wakeups={wakeups}", "--log-level=error")
        with ServerProcess(*flags) as one, ServerProcess(*flags) as other:
            here, there = Client(one.address), Client(other.address)
            await here.ask(create_ledger())
            request = audit_pb2.WatchEventsRequest(parent="ledgers/casino")
            call = there.listen(request, timeout=600)
            arrived: dict[int, float] = {}

            async def watch() -> None:
                async for response in call:
                    now = monotonic()
                    arrived.update({event.position: now for event in response.events})

            watching = asyncio.ensure_future(watch())
            await asyncio.sleep(WARM_UP_S)
            acknowledged: dict[int, float] = {}
            for _ in range(COMMITS):
                answer = await here.ask(deposit("player:anna", 5))
                acknowledged[answer.receipt.position] = monotonic()
                await asyncio.sleep(chance.uniform(0, PAUSE_MOST_S))
            await asyncio.sleep(WARM_UP_S)
            call.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            for client in (here, there):
                await client.channel.close()
    return [max(arrived[position] - time, 0.0) for position, time in acknowledged.items()]


def row(name: str, found: list[float]) -> str:
    """Return the percentiles of lags as a row of a table."""
    cuts = quantiles(found, n=100)
    return f"| {name} | {1000 * cuts[49]:.1f} ms | {1000 * cuts[98]:.1f} ms |"


def main() -> None:
    """Measure and print."""
    print("| watchers of another process hear | p50 | p99 |\n|---|---|---|")
    print(row("by their polls", asyncio.run(lags("off"))))
    with redis_server(appendonly="no") as server:
        print(row("by wake-ups", asyncio.run(lags(server.url))))


if __name__ == "__main__":
    main()
