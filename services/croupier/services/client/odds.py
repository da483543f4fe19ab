"""The odds of the API as Python methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from croupier.services.client.calls import Calls
from croupier.services.client.commands import values_of
from croupier.v1 import odds_pb2

if TYPE_CHECKING:  # these are names of the stubs' types only
    from croupier.v1.odds_pb2_grpc import OddsServiceAsyncStub

_NONE: Mapping[str, int | str | bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Odds:
    """What games pay, and what that is worth."""

    _calls: Calls
    _stub: OddsServiceAsyncStub

    async def paytable(
        self, game: str = "", *, table: str = "", options: Mapping[str, int | str | bool] = _NONE
    ) -> odds_pb2.GetPaytableResponse:
        """Return what each winning line pays: of a table, given by name, or of a game."""
        request = odds_pb2.GetPaytableRequest(table=table, game=game, options=values_of(options))
        return await self._calls.ask(self._stub.GetPaytable, request)

    async def quote(
        self,
        game: str = "",
        *,
        table: str = "",
        options: Mapping[str, int | str | bool] = _NONE,
        place: str = "",
    ) -> odds_pb2.QuoteResponse:
        """Return the exact odds of every bet, or of one place: of a table or of a game."""
        request = odds_pb2.QuoteRequest(
            table=table, game=game, options=values_of(options), place=place
        )
        return await self._calls.ask(self._stub.Quote, request)

    async def exposure(self, table: str) -> odds_pb2.GetExposureResponse:
        """Return what the open round of a table, given by name, can come to for the house."""
        request = odds_pb2.GetExposureRequest(table=table)
        return await self._calls.ask(self._stub.GetExposure, request)
