"""The background check: what snapshots let a process skip is read after its start.

It takes a small share of the event loop, page by page, and holds one more book in memory while it
runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter
from typing import TypeVar

import structlog
from eventsourcing.persistence import PersistenceError

from croupier.domain.table import Table
from croupier.services.ledger.book import Book, LogError, differences, read
from croupier.services.ledger.committed import check_requests, fold_table
from croupier.services.ledger.deciding import TABLES
from croupier.services.store.store import Store

logger = structlog.get_logger()

PAGE = 200
"""How many records are read at a time; about two milliseconds' work."""

SHARE = 0.2
"""The share of the event loop that the check takes."""

RETRY_S = 1.0
"""How long to wait after the store did not answer."""

T = TypeVar("T")
Pause = Callable[[float], Awaitable[None]]


async def rest(worked_s: float) -> None:
    """Leave the event loop to others, long enough after working for so many seconds."""
    await asyncio.sleep(worked_s * (1 / SHARE - 1))


class _Pace:
    """Rests after each piece of work."""

    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._since = perf_counter()

    async def rest(self) -> None:
        await self._pause(perf_counter() - self._since)
        self._since = perf_counter()


async def recheck(
    store: Store, book: Book, checked: Callable[[int], None], pause: Pause = rest
) -> None:
    """Read the log from position 1 to a book's position again and compare.

    `checked` is told the position after each page. A store that does not answer is asked again.

    Raises:
        LogError: the log to there is not the one of the book, or makes another book.

    """
    again, pace = Book(), _Pace(pause)
    while again.position < book.position:
        await _answered(partial(_page, store, again, book.position))
        checked(again.position)
        await pace.rest()
    for difference in differences(again, book):
        if difference:
            msg = f"the snapshot of the book at {book.position} is not what the log says: "
            raise LogError(msg + difference)
        await pace.rest()


async def recheck_table(store: Store, table: Table, pause: Pause = rest) -> None:
    """Replay a table to the version that its snapshot had and compare.

    Raises:
        LogError: the stream makes another table.

    """
    again: Table | None = None
    stream, version, pace = TABLES + table.id, 0, _Pace(pause)
    while version < table.version:
        wanted = min(PAGE, table.version - version)
        records = await _answered(partial(store.stream, stream, version, wanted))
        if not records:
            break
        for record in records:
            again = fold_table(again, read(record))
        version = records[-1].originator_version
        await pace.rest()
    if again != table:
        snapshot = f"the snapshot of table {table.id} at version {table.version}"
        msg = f"{snapshot} is not what its stream says"
        raise LogError(msg)


async def _answered(ask: Callable[[], T]) -> T:
    """Return what the store answers, asked until it does."""
    while True:
        try:
            return ask()
        except PersistenceError as error:
            logger.warning("the check of a log waits for its store", error=str(error))
            await asyncio.sleep(RETRY_S)


def _page(store: Store, again: Book, last: int) -> None:
    """Fold one page."""
    records = store.records(again.position, min(PAGE, last - again.position))
    if not records:
        msg = f"position {again.position + 1} is missing"
        raise LogError(msg)
    # Asked before anything is folded: where the store does not answer, the page is read again.
    events = [read(record) for record in records]
    check_requests(store, events)
    for record, event in zip(records, events, strict=True):
        again.fold(record, event)
