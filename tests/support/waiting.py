"""Waiting for a condition, with a deadline; never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Event
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

TIMEOUT_S = 60.0
POLL_S = 0.01

_NEVER = Event()


def until(what: str, ask: Callable[[], T], timeout_s: float = TIMEOUT_S) -> T:
    """Ask again and again until there is an answer that is true, and return it."""
    end = monotonic() + timeout_s
    while not (answer := ask()):
        assert monotonic() < end, f"{what}: not within {timeout_s:g} s"
        _NEVER.wait(POLL_S)
    return answer


async def soon(what: str, ask: Callable[[], Awaitable[T]], timeout_s: float = TIMEOUT_S) -> T:
    """Do the same on an event loop, without keeping it from anybody else."""
    end = monotonic() + timeout_s
    while not (answer := await ask()):
        assert monotonic() < end, f"{what}: not within {timeout_s:g} s"
        await asyncio.sleep(POLL_S)
    return answer
