"""Long messages are worked on piece by piece, so that short ones are not kept waiting.

Everything happens on one event loop. A message of a thousand commands, taken or answered at once,
would stop it for tens of milliseconds, and a call needs the loop several times. So there is one
piece of such work in each turn of the loop, whoever sent it, in the order in which it came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

PIECE = 128
"""Commands of one piece, about a millisecond; a message that has no more is not long."""


class Bulk:
    """The work on long messages of one server."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def each(self, do: Callable[[Sequence[T]], Iterable[U]], items: Sequence[T]) -> list[U]:
        """Return what `do` makes of the items, given to it in pieces, in order."""
        if len(items) <= PIECE:
            return list(do(items))
        done: list[U] = []
        for start in range(0, len(items), PIECE):
            async with self._turn:
                done += do(items[start : start + PIECE])
                await asyncio.sleep(0)
        return done

    async def take(self, source: Iterator[T], most: int) -> list[T]:
        """Return what a source yields, up to `most`, made in pieces."""
        made = list(islice(source, min(PIECE, most)))
        while len(made) < most and len(made) % PIECE == 0:
            async with self._turn:
                some = list(islice(source, min(PIECE, most - len(made))))
                await asyncio.sleep(0)
            if not some:
                break
            made += some
        return made
