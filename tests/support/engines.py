"""On which engine the servers of tests keep their ledgers.

A folder is a deployment: started again on the same folder, a server finds the same ledgers. On
Redis the folder's name becomes the prefix of its keys.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    prefix = sha256(str(data.resolve()).encode()).hexdigest()[:16]
    return f"{_server().url}?prefix={prefix}"
