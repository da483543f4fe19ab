"""What a server does by itself for as long as it runs, whatever goes wrong with it now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

logger = structlog.get_logger()

AGAIN_S = 1.0
"""How long after a failure it goes on, seconds."""


async def for_ever(do: Callable[[], Awaitable[None]], every_s: float = 0.0) -> None:
    """Do something again and again, until cancelled.

    What it does stops being done by nothing that passes: open files that run out, a folder that is
    away. A failure is logged, and it goes on.
    """
    while True:
        pause_s = every_s
        try:
            await do()
        except Exception:
            logger.exception("housekeeping failed", what=getattr(do, "__qualname__", str(do)))
            pause_s = max(every_s, AGAIN_S)
        await asyncio.sleep(pause_s)
