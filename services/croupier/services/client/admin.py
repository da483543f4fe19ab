"""AdminService as Python methods: ledgers and the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from croupier.services.client.calls import Calls
from croupier.services.client.commands import Once, OnceAt
from croupier.services.rpc.names import ledger_name
from croupier.v1 import admin_pb2

if TYPE_CHECKING:  # this is a name of the stubs' types only
    from croupier.v1.admin_pb2_grpc import AdminServiceAsyncStub

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Admin:
    """Ledgers and the server."""

    _calls: Calls
    _stub: AdminServiceAsyncStub

    async def create_ledger(
        self, ledger: str, **once: Unpack[Once]
    ) -> admin_pb2.CreateLedgerResponse:
        """Create a ledger: a closed world of tables, accounts and one log."""
        request = admin_pb2.CreateLedgerRequest(ledger_id=ledger, **once)
        return await self._calls.ask(self._stub.CreateLedger, request)

    async def get_ledger(self, ledger: str) -> admin_pb2.Ledger:
        """Return a ledger as it stands."""
        request = admin_pb2.GetLedgerRequest(name=ledger_name(ledger))
        return (await self._calls.ask(self._stub.GetLedger, request)).ledger

    async def ledgers(self) -> AsyncIterator[admin_pb2.Ledger]:
        """Yield the ledgers that the caller may see, page after page."""
        request = admin_pb2.ListLedgersRequest(page_size=PAGE)
        while True:
            page = await self._calls.ask(self._stub.ListLedgers, request)
            for ledger in page.ledgers:
                yield ledger
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def void_round(
        self, table: str, round_number: int, reason: str, **once: Unpack[OnceAt]
    ) -> admin_pb2.VoidRoundResponse:
        """End an open round of a table, given by name, and give every stake back."""
        request = admin_pb2.VoidRoundRequest(table=table, round=round_number, reason=reason, **once)
        return await self._calls.ask(self._stub.VoidRound, request)

    async def fence(self, ledger: str) -> admin_pb2.Fence:
        """Return why a ledger is not served, and what its log has lost."""
        request = admin_pb2.GetFenceRequest(name=ledger_name(ledger))
        return (await self._calls.ask(self._stub.GetFence, request)).fence

    async def unfence(
        self, ledger: str, accept_position: int, reason: str, **once: Unpack[Once]
    ) -> admin_pb2.UnfenceLedgerResponse:
        """Let a fenced ledger be served again whose log ends at this position."""
        request = admin_pb2.UnfenceLedgerRequest(
            name=ledger_name(ledger), accept_position=accept_position, reason=reason, **once
        )
        return await self._calls.ask(self._stub.UnfenceLedger, request)

    async def server_info(self, ledger: str = "") -> admin_pb2.GetServerInfoResponse:
        """Return what the server is, which games it has, and who the caller is to it.

        With a ledger, given by id, also which server is best for it.
        """
        request = admin_pb2.GetServerInfoRequest(ledger=ledger_name(ledger) if ledger else "")
        return await self._calls.ask(self._stub.GetServerInfo, request)
