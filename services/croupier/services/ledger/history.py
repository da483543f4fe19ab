"""A table's past: where its rounds are, what its state was, what its players had.

Rounds ascend along a stream, so one is found by search, however long the table has lived. What a
table held at some moment only its events before tell, and what an account had, those of the whole
ledger; these are read in small steps, between which others run.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter

from croupier.domain.postings import Key, deltas
from croupier.domain.table import Table
from croupier.services.ledger.book import read
from croupier.services.ledger.committed import fold_table
from croupier.services.ledger.deciding import TABLES
from croupier.services.store.mapper import posting_from_wire
from croupier.services.store.store import Store
from croupier.v1 import events_pb2

BACK = 8
"""How many events are read at once to find the round that a version is in."""

STEP = 250
"""How many events are read at once otherwise: one or two milliseconds' work."""


Now = Callable[[], tuple[int, Mapping[Key, int]]]


@dataclass(frozen=True, slots=True)
class Span:
    """The versions of a round's events, from the first to the last."""

    first: int
    last: int


async def rest(began_s: float) -> None:
    """Leave the loop to others for as long as was worked since a time of `perf_counter`."""
    await asyncio.sleep(perf_counter() - began_s)


class History:
    """The past of a table, to the version that it had when it was asked for."""

    def __init__(self, store: Store, table: Table, now: Now) -> None:
        """Read from `store`; `now` returns the last position of its log, and the balances then."""
        self.table = table
        self._store = store
        self._stream = TABLES + table.id
        self._now = now

    # --- rounds -----------------------------------------------------------------------------------

    @property
    def newest(self) -> int:
        """Return the number of the last round that has begun, 0 if none has."""
        return self.table.round if self.table.in_round else self.table.round - 1

    def opening(self) -> events_pb2.Event:
        """Return the first event of the table."""
        return next(self.events(0, 1))

    def span(self, number: int, after: int = 0) -> Span:
        """Return where a round that has begun is; all its events are after version `after`."""
        first = self._first(number, after)
        end = self._first(number + 1, first) - 1
        while self._round_of(end) != number:  # what was done between two rounds
            end -= 1
        return Span(first, end)

    def events(self, after: int, last: int) -> Iterator[events_pb2.Event]:
        """Yield the events after a version, to the version `last`."""
        while after < last:
            for record in self._store.stream(self._stream, after, min(STEP, last - after)):
                yield read(record)
            after += STEP

    def _first(self, number: int, after: int) -> int:
        """Return the version at which a round begins, or one beyond the last if it has not begun.

        It is looked for near `after` first, and further and further away.
        """
        low, step, last = after, 1, self.table.version
        while (high := low + step) <= last and self._reached(high) < number:
            low, step = high, 2 * step
        high = min(high, last + 1)
        while high - low > 1:
            middle = (low + high) // 2
            if self._reached(middle) < number:
                low = middle
            else:
                high = middle
        return high

    def _reached(self, version: int) -> int:
        """Return the number of the last round that had begun at a version."""
        while version > 0:
            after = max(0, version - BACK)
            for record in reversed(self._store.stream(self._stream, after, version - after)):
                if number := read(record).round:
                    return number
            version = after
        return 0

    def _round_of(self, version: int) -> int:
        (event,) = self.events(version - 1, version)
        return event.round

    # --- what was held ----------------------------------------------------------------------------

    async def held(self, *versions: int) -> list[Counter[str]]:
        """Return what each player had at risk after each of these versions, which ascend."""
        found: list[Counter[str]] = []
        at: Table | None = None
        for version in versions:
            began_s = perf_counter()
            for event in self.events(at.version if at else 0, version):
                at = fold_table(at, event)
                if at.version % STEP == 0:
                    await rest(began_s)
                    began_s = perf_counter()
            found.append(held_by(at))
        return found

    async def balances(
        self, accounts: Collection[str], before: int, after: int
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return what accounts had in the table's currency, at two positions of the log.

        What is read is the log between the two, and what is before or what is after, whichever is
        less.
        """
        during = await self._changes(accounts, before, after)
        head, balances = self._now()
        if before < head - after:
            ended = await self._changes(accounts, 0, before)
            ended.update(during)
        else:
            currency = self.table.opened.currency
            ended = Counter({one: balances.get((one, currency), 0) for one in accounts})
            ended.subtract(await self._changes(accounts, after, head))
        ends = {one: ended[one] for one in accounts}
        return {one: ends[one] - during[one] for one in accounts}, ends

    async def _changes(self, accounts: Collection[str], after: int, last: int) -> Counter[str]:
        """Return by how much accounts changed by the events after a position, to another."""
        named = re.compile(b"|".join(re.escape(one.encode()) for one in accounts))
        currency = self.table.opened.currency
        sums: Counter[str] = Counter()
        while after < last:
            began_s = perf_counter()
            for record in self._store.records(after, min(STEP, last - after)):
                if named.search(record.state):  # most records are of others, and need no parsing
                    postings = map(posting_from_wire, read(record).postings)
                    for (account, paid_in), change in deltas(postings).items():
                        if account in accounts and paid_in == currency:
                            sums[account] += change
            after += STEP
            await rest(began_s)
        return sums


def held_by(table: Table | None) -> Counter[str]:
    """Return what each player has at risk at a table, minor units."""
    held: Counter[str] = Counter()
    for one in table.holdings if table else ():
        held[one.player] += one.amount
    return held
