"""PlayService: every command of every game, one at a time, in batches or in a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.turn import Answer
from croupier.services.rpc import batches, eyes, moves, names, views, wire
from croupier.services.rpc.ahead import Ahead
from croupier.services.rpc.batches import Batch, Pending
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.calls import caller
from croupier.services.rpc.permissions import check_commands
from croupier.services.rpc.streams import Streams
from croupier.v1 import play_pb2 as pb
from croupier.v1 import receipts_pb2
from croupier.v1.play_pb2_grpc import PlayServiceServicer

STOPPED = Refused(Reason.SERVER_STOPPING, "this server stops")
"""Ends a stream of commands; where that came to is known when what it had taken is answered."""


class PlayService(PlayServiceServicer):
    """Translates, calls, translates."""

    def __init__(
        self,
        ledgers: Ledgers,
        draw: wire.Draw,
        nonces: wire.Nonces,
        *,
        streams: Streams,
        bulk: Bulk,
        command_refused: Callable[[str], None],
    ) -> None:
        """Report the reason of every command among several that is refused."""
        self._ledgers = ledgers
        self._draw = draw
        self._nonces = nonces
        self._streams = streams
        self._bulk = bulk
        self._command_refused = command_refused

    async def Play(self, request: pb.PlayRequest, context: Any) -> pb.PlayResponse:
        check_commands(caller(), (request,), "")
        ledger_id, parsed = wire.play_from_wire(request, self._draw, self._nonces)
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        receipt = eyes.receipt(ledger, await ledger.submit(parsed), caller().eyes)
        _, table_id = names.parse_table(request.table, "table")
        return pb.PlayResponse(
            receipt=views.receipt_to_wire(receipt),
            allowed=views.allowed_to_wire(
                ledger.table(table_id, "table", decided=True), caller().eyes
            ),
        )

    async def PlayBatch(self, request: pb.PlayBatchRequest, context: Any) -> pb.PlayBatchResponse:
        pending = await self._begin(request)
        answers = await batches.finish(pending, "commands")
        return pb.PlayBatchResponse(results=await self._results(pending, answers))

    async def PlayStream(
        self, requests: AsyncIterator[pb.PlayStreamRequest], context: Any
    ) -> AsyncIterator[pb.PlayStreamResponse]:
        ahead, messages = Ahead(), 0
        taking = asyncio.create_task(self._take(requests, ahead))
        try:
            with self._streams.one(caller().name, taking.cancel):
                while (pending := await ahead.get()) is not None:
                    if isinstance(pending, Exception):
                        if pending is STOPPED:
                            self._streams.check_serving(messages=messages)
                        raise pending
                    answers = await pending.answers()
                    yield pb.PlayStreamResponse(results=await self._results(pending, answers))
                    ahead.answered(len(answers))
                    messages += 1
        finally:
            taking.cancel()
            ahead.cancel()

    async def ListMoves(self, request: pb.ListMovesRequest, context: Any) -> pb.ListMovesResponse:
        ledger_id, table_id = names.parse_table(request.table, "table")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        return await moves.listed(request, ledger.table(table_id, "table"), caller(), self._bulk)

    async def _take(
        self,
        requests: AsyncIterator[pb.PlayStreamRequest],
        ahead: Ahead,
    ) -> None:
        """Begin each message of a stream as it comes; what is wrong with one ends the stream."""
        end: Exception | None = None
        try:
            async for request in requests:
                await ahead.room()
                await ahead.put(await self._begin(request))
        except asyncio.CancelledError:
            if self._streams.stopping.is_set():
                end = STOPPED
        except Exception as error:  # noqa: BLE001  # raised again where the stream is answered
            end = error
        await ahead.put(end)

    async def _begin(self, request: pb.PlayBatchRequest | pb.PlayStreamRequest) -> Pending:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        check_commands(caller(), request.commands, "commands")
        batch = await Batch.parse(
            self._bulk,
            "commands",
            request.commands,
            lambda message: wire.play_in(ledger_id, message, self._draw, self._nonces),
            atomic=request.atomic,
        )
        return batch.begin(ledger)

    async def _results(
        self, pending: Pending, answers: list[Answer]
    ) -> list[receipts_pb2.CommandResult]:
        ledger, sees = pending.ledger, caller().eyes
        results = views.Results(
            self._command_refused,
            lambda receipt: eyes.receipt(ledger, receipt, sees),
        )
        return await self._bulk.each(results.add, answers)
