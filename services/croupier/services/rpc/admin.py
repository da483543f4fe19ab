"""AdminService: ledgers and the server."""

from __future__ import annotations

from typing import Any

from croupier.services.assignment import Assignment
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.sealing import timestamp
from croupier.services.rpc import eyes, names, views, wire
from croupier.services.rpc.calls import caller
from croupier.services.store.choosing import Engines
from croupier.v1 import admin_pb2 as pb
from croupier.v1.admin_pb2_grpc import AdminServiceServicer


class AdminService(AdminServiceServicer):
    """Translates, calls, translates."""

    def __init__(
        self,
        ledgers: Ledgers,
        engines: Engines,
        assignment: Assignment,
        version: str,
        started_us: int,
    ) -> None:
        self._ledgers = ledgers
        self._engines = engines
        self._assignment = assignment
        self._version = version
        self._started = timestamp(started_us)

    async def CreateLedger(
        self, request: pb.CreateLedgerRequest, context: Any
    ) -> pb.CreateLedgerResponse:
        ledger_id, parsed = wire.create_ledger_from_wire(request)
        receipt = await self._ledgers.create(caller().check_ledger(ledger_id), parsed)
        return pb.CreateLedgerResponse(
            receipt=views.receipt_to_wire(receipt),
            ledger=views.ledger_to_wire(self._ledgers.get(ledger_id).summary()),
        )

    async def GetLedger(self, request: pb.GetLedgerRequest, context: Any) -> pb.GetLedgerResponse:
        ledger_id = caller().check_ledger(names.parse_ledger(request.name, "name"))
        return pb.GetLedgerResponse(
            ledger=views.ledger_to_wire(self._ledgers.get(ledger_id).summary())
        )

    async def ListLedgers(
        self, request: pb.ListLedgersRequest, context: Any
    ) -> pb.ListLedgersResponse:
        size = views.page_size(request.page_size)
        (after,) = views.after_page("ledgers", request.page_token)
        ledgers, more = await self._ledgers.page(after, size, caller().ledgers)
        return pb.ListLedgersResponse(
            ledgers=[views.ledger_to_wire(ledger) for ledger in ledgers],
            next_page_token=views.page_token("ledgers", ledgers[-1].id) if more else "",
        )

    async def VoidRound(self, request: pb.VoidRoundRequest, context: Any) -> pb.VoidRoundResponse:
        ledger_id, parsed = wire.void_round_from_wire(request)
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        receipt = eyes.receipt(ledger, await ledger.submit(parsed), caller().eyes)
        _, table_id = names.parse_table(request.table, "table")
        return pb.VoidRoundResponse(
            receipt=views.receipt_to_wire(receipt),
            table=views.table_to_wire(ledger_id, ledger.table(table_id), caller().eyes),
        )

    async def GetFence(self, request: pb.GetFenceRequest, context: Any) -> pb.GetFenceResponse:
        ledger_id = caller().check_ledger(names.parse_ledger(request.name, "name"))
        return pb.GetFenceResponse(fence=views.fence_to_wire(self._ledgers.fence(ledger_id)))

    async def UnfenceLedger(
        self, request: pb.UnfenceLedgerRequest, context: Any
    ) -> pb.UnfenceLedgerResponse:
        ledger_id, parsed = wire.unfence_from_wire(request)
        receipt = await self._ledgers.unfence(caller().check_ledger(ledger_id), parsed)
        return pb.UnfenceLedgerResponse(
            receipt=views.receipt_to_wire(receipt),
            ledger=views.ledger_to_wire(self._ledgers.get(ledger_id).summary()),
        )

    async def GetServerInfo(
        self, request: pb.GetServerInfoRequest, context: Any
    ) -> pb.GetServerInfoResponse:
        best = ""
        if request.ledger:
            # It need not exist: where it will be best is known before it is created.
            ledger_id = caller().check_ledger(names.parse_ledger(request.ledger, "ledger"))
            best = self._assignment.best(ledger_id)
        return pb.GetServerInfoResponse(
            version=self._version,
            engine=self._engines.name,
            durability=self._engines.durability,
            engines=[
                pb.Engine(ledgers=ledgers, name=engine.name, durability=engine.durability)
                for ledgers, engine in self._engines.by_pattern.items()
            ],
            games=views.games_to_wire(),
            start_time=self._started,
            caller=caller().name,
            roles=sorted(caller().roles),
            address=self._assignment.address,
            addresses=self._assignment.addresses,
            best_address=best,
        )
