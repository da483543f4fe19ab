"""On which engine the servers of tests keep their ledgers.

A folder is a deployment: started again on the same folder, a server finds the same ledgers. On
Redis the folder's name becomes the prefix of its keys.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

from tests.support.redis_server import RedisServer, redis_server

SQLITE, REDIS = "sqlite", "redis"
ENGINES = (SQLITE, REDIS)

USUAL = os.environ.get("CROUPIER_TEST_ENGINE", SQLITE)
"""The engine of tests that do not ask for one."""

_chosen = [USUAL]


def chosen() -> str:
    """Return the engine that servers use now unless they are told otherwise."""
    return _chosen[-1]


@contextmanager
def on_engine(name: str) -> Iterator[None]:
    """Let servers use an engine meanwhile."""
    assert name in ENGINES, f"CROUPIER_TEST_ENGINE is one of {ENGINES}, not {name!r}"
    _chosen.append(name)
    try:
        yield
    finally:
        _chosen.pop()


@cache
def _server() -> RedisServer:
    """Return the one Redis server of this process, which ends with it."""
    running = redis_server()
    server = running.__enter__()
    atexit.register(running.__exit__, None, None, None)
    return server


def engine_of(data: Path) -> str:
    """Return the engine of a server whose folder is `data`, as the setting has it."""
    if chosen() == SQLITE:
        return SQLITE
    return f"{_server().url}?prefix={_prefix(data)}"


def records(data: Path, ledger: str) -> list[bytes]:
    """Return a ledger's records in order, past all that the service does to read them."""
    if chosen() == SQLITE:
        with closing(sqlite3.connect(f"file:{data / ledger}.db?mode=ro", uri=True)) as file:
            rows = file.execute("SELECT state FROM stored_events ORDER BY position")
            return [row[0] for row in rows]
    with _server().client() as client:
        log = client.xrange(f"{_prefix(data)}:{{{ledger}}}:log")
        return [record[b"b"] for _, record in log]


def _prefix(data: Path) -> str:
    return sha256(str(data.resolve()).encode()).hexdigest()[:16]
