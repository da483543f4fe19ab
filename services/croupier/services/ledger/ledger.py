"""One ledger as the service sees it: commands go to its writer, reads to what is committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.events import TableOpened
from croupier.domain.postings import Key
from croupier.domain.table import Table
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.committed import Committed, stream_events, totals
from croupier.services.ledger.deciding import LEDGER_STREAM, TABLES
from croupier.services.ledger.fence import Fence, examine
from croupier.services.ledger.history import History
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.observer import Observer
from croupier.services.ledger.recheck import Pause, recheck, recheck_table, rest
from croupier.services.ledger.requests import Request
from croupier.services.ledger.rounds import Rounds
from croupier.services.ledger.snapshots import Kind
from croupier.services.ledger.summary import Summary
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.ledger.writer import Writer
from croupier.services.store.store import Head, Store
from croupier.v1 import events_pb2

_NOTHING = Head()

COMMIT_COMES_S = 1.0
"""How long a snapshot waits for a commit to go along with, before it gets one of its own."""


class Ledger:
    """A casino's closed world. Reads serve committed state, checked against the head first."""

    def __init__(
        self,
        ledger_id: str,
        store: Store,
        observer: Observer,
        clock: Callable[[], int],
        limits: Limits,
        *,
        rounds: Rounds,
        known: Head = _NOTHING,
        keep: Callable[[Head], None] = lambda _: None,
        writer: Callable[..., Writer] = Writer,
    ) -> None:
        """Serve what is in `store`; its log must pass through `known`, which was seen before.

        Once that is not so, `keep` is told how far it was seen to reach.
        """
        self.id = ledger_id
        self._begun = False
        self._store = store
        self._writer = writer(
            ledger_id, store, observer, clock, limits, rounds=rounds, known=known, keep=keep
        )
        self._users = 0
        self._used_s = monotonic()
        self._taking = asyncio.Lock()

    async def submit(self, request: Request) -> Receipt:
        """Return the receipt of a request once it is recorded, or refuse."""
        with self.in_use():
            return await self._writer.submit(request)

    def enqueue(self, requests: Sequence[Request], *, atomic: bool) -> asyncio.Future[list[Answer]]:
        """Let requests of one caller wait for a turn; see `Writer.enqueue`."""
        self._used_s = monotonic()
        return self._writer.enqueue(requests, atomic=atomic)

    async def drain(self) -> None:
        """Wait until every request that was taken is answered."""
        await self._writer.drain()

    @property
    def seen(self) -> Head:
        """Return the furthest head that was ever seen, for when the ledger is opened again."""
        return self._writer.seen

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    # --- use -------------------------------------------------------------------------------------

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the ledger open meanwhile; for whatever waits between two looks at it."""
        try:
            with self._held():
                yield
        finally:
            self._used_s = monotonic()

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Keep the ledger open meanwhile, without being a use of it."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    @property
    def held(self) -> bool:
        """Return whether anybody is between two looks at it."""
        return self._users > 0

    def is_idle_for(self, seconds: float) -> bool:
        """Return whether nobody used it for so long, so that it may be closed.

        One that is fenced is not idle: closed, it would forget what it has seen.
        """
        in_use = self.held or self._writer.busy or bool(self.fenced)
        return not in_use and monotonic() - self._used_s >= seconds

    # --- in the background -----------------------------------------------------------------------

    async def keep_book(self) -> None:
        """Save a snapshot of the book if it is time for one, with the next commit if one comes."""
        with self._held():
            async with self._taking:
                if await self._writer.snapshots.take_if_due(self._writer.committed.book):
                    await asyncio.sleep(COMMIT_COMES_S)
                    self._save_snapshots()

    async def leave_book(self) -> None:
        """Save a snapshot of the book as the process ends, if it is worth one."""
        async with self._taking:
            await self._writer.snapshots.take_if_due(self._writer.committed.book, ending=True)
            self._save_snapshots()

    def _save_snapshots(self) -> None:
        if self._writer.snapshots.waits and not self.fenced:
            self._writer.save_snapshots()

    async def recheck(self, pause: Pause = rest) -> None:
        """Read again what snapshots let this process skip; a difference fences."""
        with self._held():
            await self._recheck(pause)

    async def _recheck(self, pause: Pause) -> None:
        snapshots, kind = self._writer.snapshots, Kind.BOOK
        try:
            while (book := snapshots.unchecked) is not None and not self.fenced:
                await recheck(self._store, book, snapshots.checked, pause)
                snapshots.all_checked(book)
                snapshots.rechecked(kind, same=True)
            kind = Kind.TABLE
            while (table := snapshots.next_unchecked()) is not None and not self.fenced:
                await recheck_table(self._store, table, pause)
                snapshots.rechecked(kind, same=True)
        except LogError as error:
            snapshots.rechecked(kind, same=False)
            self._writer.fence(error)

    # --- reads -----------------------------------------------------------------------------------

    @property
    def newer(self) -> bool:
        """Return whether it is not served because a newer program wrote in its log."""
        return self._writer.newer

    @property
    def fenced(self) -> str:
        """Return why the ledger is not served, empty while it is."""
        return self._writer.fenced

    def fence(self, store: Store | None) -> Fence:
        """Return what a store of the ledger, opened afresh, says of why it is not served."""
        writer = self._writer
        ended = writer.lost.ended if writer.lost else None
        return examine(
            store, self.fenced, self.seen, writer.recent, passes=not writer.lost, ended=ended
        )

    def exists(self) -> bool:
        """Return whether the ledger's log has begun; once it has, it has."""
        if not self._begun:
            self._begun = self._committed().version(LEDGER_STREAM) > 0
        return self._begun

    def summary(self) -> Summary:
        """Return what a list shows of the ledger."""
        if self.fenced:
            return Summary(self.id, Head(), 0, self.fenced)
        return Summary(self.id, self.head(), self.format_version)

    def head(self) -> Head:
        """Return the committed head."""
        return self._committed().head

    @property
    def format_version(self) -> int:
        """Return the log's format."""
        return self._writer.committed.format_version

    @property
    def live_tables(self) -> int:
        """Return how many tables are in memory."""
        return self._writer.committed.live_tables

    def table(self, table_id: str, field: str = "name", *, decided: bool = False) -> Table:
        """Return a table as committed, or refuse one that does not exist, named in `field`.

        With `decided` the call has had a command decided: that has looked at the head for it.
        """
        with self._reading():
            found = self._committed(decided=decided).table(table_id)
        if found is None:
            raise _no_table(table_id, field)
        return found

    def in_round(self, table_id: str, number: int) -> Table | None:
        """Return a table where this round of it is open, None where that is over.

        Of a table that is not in memory the last event is looked at first: to learn that a round is
        over costs no more than that.
        """
        table = self._committed().open_table(table_id, number)
        open_now = table is not None and table.in_round and table.round == number
        return table if open_now else None

    def check_table(self, table_id: str, field: str) -> None:
        """Refuse a table that does not exist, named in `field`."""
        self._writer.refresh()
        if not self._store.stream_version(TABLES + table_id):
            raise _no_table(table_id, field)

    def changed(self) -> bool:
        """Return whether another process may have committed since the last read; cheap."""
        return self._writer.changed()

    def opened_of(self, stream: str) -> TableOpened | None:
        """Return how the table of a stream was opened, None for any other stream."""
        if not stream.startswith(TABLES):
            return None
        found = self._writer.committed.table(stream.removeprefix(TABLES))
        return found.opened if found else None

    def tables(self, after: str, limit: int) -> Sequence[Table]:
        """Return tables in order of their ids, from the one after `after`."""
        committed = self._committed()
        streams = self._store.streams(TABLES, TABLES + after, limit)
        with self._reading():
            found = [committed.table(stream.removeprefix(TABLES)) for stream in streams]
        return [table for table in found if table is not None]

    def balances(self) -> Mapping[Key, int]:
        """Return every balance, minor units, by account and currency."""
        return self._committed().balances

    def balance(self, account: str, currency: str, *, decided: bool = False) -> int:
        """Return a balance, minor units, or refuse an account that never held the currency.

        For `decided` see `table`.
        """
        balances = self._committed(decided=decided).balances
        if (account, currency) not in balances:
            raise Refused(
                Reason.ACCOUNT_NOT_FOUND,
                f"{shown(account)} never held {currency}",
                field="name",
                account=account,
                currency=currency,
            )
        return balances[account, currency]

    def trial_balance(self) -> tuple[int, dict[str, dict[str, int]]]:
        """Return the position, and the sums of balances by currency and kind of account."""
        committed = self._committed()
        return committed.head.position, totals(committed.balances)

    def open_rounds(self) -> tuple[int, int]:
        """Return how many rounds are open, and since when the oldest is: microseconds since 1970.

        Without one that is 0.
        """
        rounds = self._committed().book.rounds.values()
        return len(rounds), min((since_us for _, since_us in rounds), default=0)

    def events(self, after: int, limit: int) -> list[events_pb2.Event]:
        """Return committed events from the position after `after`."""
        head = self._committed().head.position
        limit = min(limit, head - after)
        with self._reading():
            records = self._store.records(after, limit) if limit > 0 else []
            return [read(record) for record in records]

    def table_events(self, table_id: str) -> Iterator[events_pb2.Event]:
        """Yield a table's committed events from its first, or refuse."""
        with self.in_use():
            last = self.table(table_id).version
            with self._reading():
                for event in stream_events(self._store, TABLES + table_id):
                    if event.version > last:
                        return
                    yield event

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Fence the ledger where what is read turns out to be nothing that can be read."""
        try:
            yield
        except LogError as error:
            self._writer.fence(error)
            self._writer.refresh()  # which refuses
            raise

    def history(self, table_id: str, field: str = "table") -> History:
        """Return a table's past, or refuse one that does not exist, named in `field`."""

        def now() -> tuple[int, Mapping[Key, int]]:
            committed = self._committed()
            return committed.head.position, committed.balances

        return History(self._store, self.table(table_id, field), now)

    def _committed(self, *, decided: bool = False) -> Committed:
        self._used_s = monotonic()
        if not (decided and self._writer.is_current):
            self._writer.refresh()
        return self._writer.committed


def _no_table(table_id: str, field: str) -> Refused:
    return Refused(
        Reason.TABLE_NOT_FOUND,
        f"table {shown(table_id)} does not exist",
        field=field,
        table=table_id,
    )
