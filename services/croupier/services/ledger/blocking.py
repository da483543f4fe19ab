"""Runs what blocks in a thread of its own, which dies with the process however long it takes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def in_thread(
    do: Callable[[], T], name: str, too_late: Callable[[T], None] | None = None
) -> T:
    """Return what `do` returns, or raise what it raises, while the event loop goes on.

    Whoever is cancelled while he waits gets nothing: `too_late` is told what came then.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def answer(result: T) -> None:
        if not done.cancelled():
            done.set_result(result)
        elif too_late is not None:
            too_late(result)

    def fail(error: Exception) -> None:
        if not done.cancelled():
            done.set_exception(error)

    def run() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, the process ends
            try:
                result = do()
            except Exception as error:  # noqa: BLE001  # whatever it is, who waits is told
                loop.call_soon_threadsafe(fail, error)
            else:
                loop.call_soon_threadsafe(answer, result)

    Thread(target=run, daemon=True, name=name).start()
    return await done
