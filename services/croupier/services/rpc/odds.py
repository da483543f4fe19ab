"""OddsService: what games pay, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.event import (
    Value,
)
from croupier.domain.games import game_of
from croupier.domain.games.options import resolve
from croupier.domain.games.protocol import Game, Quote
from croupier.domain.money import CURRENCIES, Odds
from croupier.domain.paytable import Paytable
from croupier.domain.table import Table
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.rpc import names, wire
from croupier.services.rpc.calls import caller
from croupier.services.store.mapper import value_to_wire
from croupier.v1 import odds_pb2 as pb
from croupier.v1 import values_pb2
from croupier.v1.odds_pb2_grpc import OddsServiceServicer


@dataclass(frozen=True, slots=True)
class _Asked:
    """A game under resolved options, and the paytable that its rounds are settled by."""

    game: Game[Any]
    options: Mapping[str, Value]
    paytable: Paytable

    @property
    def options_on_wire(self) -> dict[str, values_pb2.Value]:
        return {name: value_to_wire(value) for name, value in self.options.items()}


class OddsService(OddsServiceServicer):
    """Translates, calls, translates."""

    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    async def GetPaytable(
        self, request: pb.GetPaytableRequest, context: Any
    ) -> pb.GetPaytableResponse:
        asked = self._asked(request)
        return pb.GetPaytableResponse(
            game=asked.game.code,
            edition=asked.game.edition,
            options=asked.options_on_wire,
            lines=[_line(line, odds) for line, odds in sorted(asked.paytable.lines.items())],
            digest=asked.paytable.digest(),
        )

    async def Quote(self, request: pb.QuoteRequest, context: Any) -> pb.QuoteResponse:
        asked = self._asked(request)
        quotes = asked.game.quotes(asked.options)
        if request.place:
            quotes = tuple(one for one in quotes if one.place == request.place)
            if not quotes:
                raise Refused(
                    Reason.UNKNOWN_PLACE,
                    f"{asked.game.code} has no place {shown(request.place)}",
                    field="place",
                    place=request.place[:64],
                )
        return pb.QuoteResponse(
            game=asked.game.code,
            options=asked.options_on_wire,
            places=[_place(one) for one in quotes],
        )

    async def GetExposure(
        self, request: pb.GetExposureRequest, context: Any
    ) -> pb.GetExposureResponse:
        ledger_id, table_id = names.parse_table(request.table, "table")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        return exposure_to_wire(ledger_id, ledger.table(table_id, "table"))

    def _asked(self, request: pb.GetPaytableRequest | pb.QuoteRequest) -> _Asked:
        """Return what is asked for: by a table, or by a game and options."""
        if request.table:
            if request.game or request.options:
                raise Refused(
                    Reason.INVALID_OPTION,
                    "a table has its game and its options; ask for it, or for others",
                    field="table",
                )
            ledger_id, table_id = names.parse_table(request.table, "table")
            table = self._ledgers.get(caller().check_ledger(ledger_id)).table(table_id, "table")
            return _Asked(table.game, table.opened.options, table.paytable)
        if not request.game:
            raise Refused(Reason.MISSING_FIELD, "a table or a game is required", field="game")
        game = game_of(request.game)
        options = resolve(game.options, game.presets, wire.options_from_wire(request.options))
        return _Asked(game, options, game.paytable(options))


def _line(line: str, odds: Odds) -> pb.PaytableLine:
    return pb.PaytableLine(line=line, odds=values_pb2.Odds(profit=odds.profit, per=odds.per))


def _place(quote: Quote) -> pb.PlaceOdds:
    return pb.PlaceOdds(
        place=quote.place,
        on="" if quote.on is None else str(quote.on),
        win_probability=_ratio(quote.win),
        push_probability=_ratio(quote.push),
        pays=_ratio(quote.pays),
        edge=_ratio(quote.edge),
    )


def exposure_to_wire(ledger: str, table: Table) -> pb.GetExposureResponse:
    """Return what a table's open round can come to for the house, or refuse."""
    exposure = table.exposure
    if exposure is None:
        raise Refused(
            Reason.NOT_OFFERED,
            f"the house does not bank in {table.opened.game} and has nothing at risk",
            field="table",
            rule="the_house_does_not_bank",
            game=table.opened.game,
        )
    return pb.GetExposureResponse(
        table=names.table_name(ledger, table.id),
        version=table.version,
        round=table.round,
        currency=table.opened.currency,
        currency_exponent=CURRENCIES[table.opened.currency],
        bankroll=table.bankroll,
        staked=exposure.staked,
        worst_case=exposure.worst,
        best_case=exposure.best,
        expected_value=_ratio(exposure.expected),
        outcomes=[
            pb.PossibleOutcome(dice=one.dice, ways=one.ways, net=one.net)
            for one in exposure.outcomes
        ],
    )


def _ratio(exact: Fraction) -> pb.Ratio:
    return pb.Ratio(
        numerator=exact.numerator, denominator=exact.denominator, decimal=decimal(exact)
    )


def decimal(exact: Fraction) -> str:
    """Return a number for people, rounded to six places (half to even); never by a float."""
    millionths = round(exact * 1_000_000)
    sign = "-" if millionths < 0 else ""
    whole, rest = divmod(abs(millionths), 1_000_000)
    return f"{sign}{whole}.{rest:06}"
