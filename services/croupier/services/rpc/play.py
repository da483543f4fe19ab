"""PlayService: every command of every game."""

from __future__ import annotations

from typing import Any

from croupier.services.ledger.ledgers import Ledgers
from croupier.services.rpc import views, wire
from croupier.services.rpc.calls import caller
from croupier.v1 import play_pb2 as pb
from croupier.v1.play_pb2_grpc import PlayServiceServicer


class PlayService(PlayServiceServicer):
    """Translates, calls, translates."""

    def __init__(self, ledgers: Ledgers, draw: wire.Draw) -> None:
        self._ledgers = ledgers
        self._draw = draw

    async def Play(self, request: pb.PlayRequest, context: Any) -> pb.PlayResponse:
        ledger_id, parsed = wire.play_from_wire(request, self._draw)
        receipt = await self._ledgers.get(caller().check_ledger(ledger_id)).submit(parsed)
        return pb.PlayResponse(
            receipt=views.receipt_to_wire(receipt, self._ledgers.engine.durability)
        )
