"""What the service is compared with: an echo over gRPC, a durable insert, the plain library."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import grpc

from croupier.v1 import play_pb2
from tests.bench.echo import METHOD
from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import CHANNEL_OPTIONS, Call, throw

ROOT = Path(__file__).parents[2]


@contextmanager
def program(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program of this folder as a process of its own."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests/bench" / name, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


@asynccontextmanager
async def echo() -> AsyncIterator[Call]:
    """Give calls to a bare gRPC server, with the same requests as the service gets."""
    with program("echo.py") as process:
        assert process.stdout is not None
        address = f"127.0.0.1:{int(process.stdout.readline())}"
        async with grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
            method = channel.unary_unary(
                METHOD, play_pb2.PlayRequest.SerializeToString, play_pb2.PlayRequest.FromString
            )

            async def call(worker: int) -> None:
                await method(throw(worker % IN_FLIGHT))

            yield call


class DurableInserts:
    """One row at a time into a bare SQLite file, on disk like a command of the service."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "inserts.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("CREATE TABLE t (x BLOB)")

    def one(self) -> None:
        """Insert one row."""
        self._connection.execute("INSERT INTO t VALUES (?)", (b"x" * 200,))

    def close(self) -> None:
        self._connection.close()
