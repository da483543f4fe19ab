"""One ledger as the service sees it: commands go to its writer, reads to what is committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.postings import Key
from croupier.domain.table import Table
from croupier.services.ledger.committed import Committed, read, stream_events, totals
from croupier.services.ledger.deciding import LEDGER_STREAM, TABLES
from croupier.services.ledger.requests import Request
from croupier.services.ledger.rounds import Rounds
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.ledger.writer import Limits, Observer, Writer
from croupier.services.store.store import Head, Store
from croupier.v1 import events_pb2


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
    ) -> None:
        self.id = ledger_id
        self._begun = False
        self._store = store
        self._writer = Writer(ledger_id, store, observer, clock, limits, rounds=rounds)

    async def submit(self, request: Request) -> Receipt:
        """Return the receipt of a request once it is recorded, or refuse."""
        return await self._writer.submit(request)

    def enqueue(self, requests: Sequence[Request], *, atomic: bool) -> asyncio.Future[list[Answer]]:
        """Let requests of one caller wait for a turn; see `Writer.enqueue`."""
        return self._writer.enqueue(requests, atomic=atomic)

    async def drain(self) -> None:
        """Wait until every request that was taken is answered."""
        await self._writer.drain()

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    # --- reads -----------------------------------------------------------------------------------

    @property
    def fenced(self) -> str:
        """Return why the ledger is not served, empty while it is."""
        return self._writer.fenced

    def exists(self) -> bool:
        """Return whether the ledger's log has begun; once it has, it has."""
        if not self._begun:
            self._begun = self._committed().version(LEDGER_STREAM) > 0
        return self._begun

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

    def table(self, table_id: str) -> Table:
        """Return a table as committed, or refuse."""
        found = self._committed().table(table_id)
        if found is None:
            raise _no_table(table_id, "name")
        return found

    def check_table(self, table_id: str, field: str) -> None:
        """Refuse a table that does not exist, named in `field`."""
        self._writer.refresh()
        if not self._store.stream_version(TABLES + table_id):
            raise _no_table(table_id, field)

    def changed(self) -> bool:
        """Return whether another process may have committed since the last read; cheap."""
        return self._writer.changed()

    def game_of(self, stream: str) -> str:
        """Return the code of the game whose table has this stream, "" for any other stream."""
        if not stream.startswith(TABLES):
            return ""
        found = self._writer.committed.table(stream.removeprefix(TABLES))
        return found.opened.game if found else ""

    def tables(self, after: str, limit: int) -> Sequence[Table]:
        """Return tables in order of their ids, from the one after `after`."""
        committed = self._committed()
        streams = self._store.streams(TABLES, TABLES + after, limit)
        found = (committed.table(stream.removeprefix(TABLES)) for stream in streams)
        return [table for table in found if table is not None]

    def balances(self) -> Mapping[Key, int]:
        """Return every balance, minor units, by account and currency."""
        return self._committed().balances

    def balance(self, account: str, currency: str) -> int:
        """Return a balance, minor units, or refuse an account that never held the currency."""
        balances = self._committed().balances
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

    def events(self, after: int, limit: int) -> list[events_pb2.Event]:
        """Return committed events from the position after `after`."""
        head = self._committed().head.position
        limit = min(limit, head - after)
        return [read(record) for record in self._store.records(after, limit)] if limit > 0 else []

    def table_events(self, table_id: str) -> Iterator[events_pb2.Event]:
        """Yield a table's committed events from its first, or refuse."""
        last = self.table(table_id).version
        for event in stream_events(self._store, TABLES + table_id):
            if event.version > last:
                return
            yield event

    def _committed(self) -> Committed:
        self._writer.refresh()
        return self._writer.committed


def _no_table(table_id: str, field: str) -> Refused:
    return Refused(
        Reason.TABLE_NOT_FOUND,
        f"table {shown(table_id)} does not exist",
        field=field,
        table=table_id,
    )
