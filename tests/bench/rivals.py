"""Two processes that write one ledger: one decides one command at a time, the other a hundred.

python -m tests.bench.rivals [sqlite:PATH | redis://...]
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import monotonic, time_ns

from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import CreateLedger, Deposit, Request
from croupier.services.store.choosing import engines_of
from tests.support.ledgers import Watcher
from tests.support.redis_server import redis_server

SECONDS = 5.0
SPAWN = multiprocessing.get_context("spawn")
LEDGER = "main"


def request(caller: str, number: int) -> Request:
    command = Deposit(f"player:{caller}-{number % 50}", "EUR", 1)
    return Request(command, caller, str(number), sha256(b"%d" % number).digest())


def rival(told, *how) -> None:
    """Keep commands waiting for a while, and tell how many commits and events came of it."""
    told.send(asyncio.run(_press(*how)))


async def _press(
    engine: str, caller: str, size: int, seconds: float, barrier
) -> tuple[int, int, float]:
    watcher = Watcher()
    engines = engines_of(engine, {}, Path("unused"))
    ledgers = Ledgers(engines, watcher, lambda: time_ns() // 1000, Limits())
    ledger = ledgers.get(LEDGER)
    numbers = itertools.count(1)
    barrier.wait()
    until = monotonic() + seconds
    longest = 0.0
    while monotonic() < until:
        started = monotonic()
        jobs = [ledger.enqueue([request(caller, next(numbers))], atomic=False) for _ in range(size)]
        for answers in await asyncio.gather(*jobs):
            for answer in answers:
                if isinstance(answer, Exception):
                    raise answer
        longest = max(longest, monotonic() - started)
    ledgers.close()
    engines.close()
    events = sum(len(positions) for _, positions, _ in watcher.commits)
    return len(watcher.commits), events, longest


def measure(engine: str, sizes: tuple[int, ...] = (1, 100), seconds: float = SECONDS) -> list:
    """Return commits, events and the longest wait of each, one process for each size."""
    asyncio.run(_create(engine))
    barrier = SPAWN.Barrier(len(sizes))
    pipes = [SPAWN.Pipe() for _ in sizes]
    processes = [
        SPAWN.Process(target=rival, args=(theirs, engine, name, size, seconds, barrier))
        for name, size, (_, theirs) in zip("ab", sizes, pipes, strict=True)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)
    return [ours.recv() for ours, _ in pipes]


async def _create(engine: str) -> None:
    engines = engines_of(engine, {}, Path("unused"))
    ledgers = Ledgers(engines, Watcher(), lambda: time_ns() // 1000, Limits())
    await ledgers.create(LEDGER, Request(CreateLedger(LEDGER), "bench", "create", b""))
    ledgers.close()
    engines.close()


@contextmanager
def _engines(given: list[str]) -> Iterator[list[str]]:
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder, redis_server() as server:
        yield [f"sqlite:{folder}", server.url]


def main() -> None:
    """Print a row for each."""
    with _engines(sys.argv[1:]) as engines:
        for engine in engines:
            for sizes in ((1, 100), (1, 1), (100, 100)):
                _forget(engine)
                for size, (commits, events, longest) in zip(
                    sizes, measure(engine, sizes), strict=True
                ):
                    name = engine.partition(":")[0]
                    print(
                        f"{name:7} {sizes}: batches of {size:3}: {commits:6} commits, "
                        f"{events:7} events, longest wait {1000 * longest:.0f} ms"
                    )


def _forget(engine: str) -> None:
    """Begin with an empty ledger."""
    scheme, _, rest = engine.partition(":")
    if scheme == "sqlite":
        for file in Path(rest).glob(f"{LEDGER}.db*"):
            file.unlink()
    else:
        import redis  # noqa: PLC0415

        with redis.Redis.from_url(engine) as client:
            client.flushdb()


if __name__ == "__main__":
    main()
