"""TableService: open, show and close tables."""

from __future__ import annotations

from typing import Any

from croupier.services.ledger.ledgers import Ledgers
from croupier.services.rpc import eyes, names, views, wire
from croupier.services.rpc.calls import caller
from croupier.v1 import tables_pb2 as pb
from croupier.v1.tables_pb2_grpc import TableServiceServicer


class TableService(TableServiceServicer):
    """Translates, calls, translates."""

    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    async def OpenTable(self, request: pb.OpenTableRequest, context: Any) -> pb.OpenTableResponse:
        ledger_id, parsed = wire.open_table_from_wire(request)
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        receipt = eyes.receipt(ledger, await ledger.submit(parsed), caller().eyes)
        return pb.OpenTableResponse(
            receipt=views.receipt_to_wire(receipt),
            table=views.table_to_wire(ledger_id, ledger.table(request.table_id), caller().eyes),
        )

    async def GetTable(self, request: pb.GetTableRequest, context: Any) -> pb.GetTableResponse:
        ledger_id, table_id = names.parse_table(request.name, "name")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        table = views.table_to_wire(ledger_id, ledger.table(table_id), caller().eyes)
        return pb.GetTableResponse(table=table)

    async def ListTables(
        self, request: pb.ListTablesRequest, context: Any
    ) -> pb.ListTablesResponse:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        size = views.page_size(request.page_size)
        (after,) = views.after_page("tables", request.page_token)
        tables = ledger.tables(after, size + 1)
        sees = caller().eyes
        page = views.bounded(views.table_to_wire(ledger_id, one, sees) for one in tables[:size])
        more = len(tables) > len(page)
        return pb.ListTablesResponse(
            tables=page,
            next_page_token=views.page_token("tables", tables[len(page) - 1].id) if more else "",
        )

    async def CloseTable(
        self, request: pb.CloseTableRequest, context: Any
    ) -> pb.CloseTableResponse:
        ledger_id, parsed = wire.close_table_from_wire(request)
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        receipt = eyes.receipt(ledger, await ledger.submit(parsed), caller().eyes)
        _, table_id = names.parse_table(request.name, "name")
        return pb.CloseTableResponse(
            receipt=views.receipt_to_wire(receipt),
            table=views.table_to_wire(ledger_id, ledger.table(table_id), caller().eyes),
        )
