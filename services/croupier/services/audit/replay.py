"""Replays a table from its events and recomputes what was paid. Any difference is a finding."""

from __future__ import annotations

from croupier.domain import table as rules
from croupier.domain.bookkeeping import table_postings
from croupier.domain.events import Collected, PaidOut, TableClosed, TableEvent
from croupier.domain.names import escrow
from croupier.domain.postings import deltas
from croupier.domain.table import TABLE_CLOSED, Table
from croupier.services.store.mapper import payload_from_wire, posting_from_wire
from croupier.v1 import events_pb2


class Replay:
    """A table's stream folded event by event, with its escrow summed beside it.

    The payouts are recomputed by the function with which the server settles, from the state before
    them; the postings are recomputed from the events; escrow must equal what the state holds.
    """

    def __init__(self) -> None:
        self._table: Table | None = None
        self._escrow = 0
        self._due: tuple[TableEvent, ...] = ()

    @property
    def table(self) -> Table:
        """Return the table after the last event folded."""
        if self._table is None:
            msg = "nothing was replayed yet"
            raise ValueError(msg)
        return self._table

    def fold(self, stored: events_pb2.Event) -> list[str]:
        """Fold the next event of the stream and return what is wrong with it.

        Raises:
            UnknownEventError: a newer program wrote it.

        """
        event: TableEvent = payload_from_wire(stored)  # type: ignore[assignment]  # a table's stream
        findings = self._check_due(event)
        self._table = rules.fold(self._table, event)
        at = self._table
        if stored.version != at.version:
            findings.append(f"version {stored.version} where {at.version} was expected")
        recorded = tuple(posting_from_wire(posting) for posting in stored.postings)
        expected = table_postings(event, at.id, at.opened.currency)
        if recorded != expected:
            findings.append(f"postings {recorded} where {expected} were expected")
        self._escrow += deltas(recorded).get((escrow(at.id), at.opened.currency), 0)
        if self._escrow != at.at_risk:
            findings.append(f"escrow holds {self._escrow}, the state {at.at_risk}")
        if not self._due:
            self._due = rules.due(at)
        return findings

    def _check_due(self, event: TableEvent) -> list[str]:
        if self._due:
            expected, *rest = self._due
            self._due = tuple(rest)
            if event != expected:
                return [f"recorded {event} where settlement gives {expected}"]
        elif isinstance(event, Collected | PaidOut) and not self._closing(event):
            return [f"recorded {event} where nothing is due"]
        elif isinstance(event, TableClosed) and self._escrow:
            return [f"closed while escrow holds {self._escrow}"]
        return []

    def _closing(self, event: Collected | PaidOut) -> bool:
        """Return whether a payout returns a whole holding to its owner as the table closes."""
        if not isinstance(event, PaidOut) or event.rule != TABLE_CLOSED or self._table is None:
            return False
        held = [(one.player, one.amount) for one in self._table.holdings]
        return (event.player, event.returned) in held and not event.winnings + event.top_up
