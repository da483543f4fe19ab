"""Replay, recall and the log as Python methods: names in, messages out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.services.client.calls import Calls
from croupier.services.client.watch import watch
from croupier.services.rpc.names import ledger_name
from croupier.v1 import audit_pb2, events_pb2

if TYPE_CHECKING:  # a name of the stubs' types only
    from croupier.v1.audit_pb2_grpc import AuditServiceAsyncStub

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Audit:
    """Replay, recall and the log: reads only."""

    _calls: Calls
    _stub: AuditServiceAsyncStub

    def replay(
        self, table: str, *, to_version: int = 0, to_time: Timestamp | None = None
    ) -> AsyncIterator[audit_pb2.ReplayTableResponse]:
        """Yield each event of a table with the state after it and what is wrong with it."""
        request = audit_pb2.ReplayTableRequest(name=table, to_version=to_version, to_time=to_time)
        return self._calls.stream(self._stub.ReplayTable, request)

    async def events(self, ledger: str, from_position: int = 1) -> AsyncIterator[events_pb2.Event]:
        """Yield the log of a ledger given by id, from a position to its end."""
        request = audit_pb2.ListEventsRequest(
            parent=ledger_name(ledger), from_position=from_position, page_size=PAGE
        )
        while True:
            page = await self._calls.ask(self._stub.ListEvents, request)
            for event in page.events:
                yield event
            if page.next_position > page.head_position:
                return
            request.from_position = page.next_position

    def watch(
        self, ledger: str, from_position: int = 1, *, table: str = "", kinds: Sequence[str] = ()
    ) -> AsyncIterator[events_pb2.Event]:
        """Yield the log of a ledger given by id from a position on, and for ever what comes.

        Only what happens at a table, given by name, and events of some kinds ("rolled", "paid_out")
        where these are given. To go on another time, begin after the last event's position.
        """
        request = audit_pb2.WatchEventsRequest(
            parent=ledger_name(ledger), from_position=from_position, table=table, kinds=kinds
        )
        return watch(self._calls, self._stub.WatchEvents, request)

    async def round(
        self, table: str, number: int, *, brief: bool = False
    ) -> audit_pb2.GetRoundResponse:
        """Return a round of a table, given by name, with all its events.

        Unless it is to be `brief`, with balances and nets: the longer ago it was, the longer that
        takes, and the call is given all the time that the client's patience has.
        """
        calls = self._calls if brief else self._calls.unhurried()
        request = audit_pb2.GetRoundRequest(table=table, round=number, brief=brief)
        recalled = await calls.ask(self._stub.GetRound, request)
        page = recalled
        while page.next_page_token:
            request.brief, request.page_token = True, page.next_page_token
            page = await self._calls.ask(self._stub.GetRound, request)
            recalled.events.extend(page.events)
        recalled.next_page_token = ""
        return recalled

    async def rounds(self, table: str) -> AsyncIterator[audit_pb2.Round]:
        """Yield the rounds of a table, given by name, the newest first."""
        request = audit_pb2.ListRoundsRequest(table=table, page_size=PAGE)
        while True:
            page = await self._calls.ask(self._stub.ListRounds, request)
            for one in page.rounds:
                yield one
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token
