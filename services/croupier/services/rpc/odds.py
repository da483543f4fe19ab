"""OddsService: what bets can come to, exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from croupier.domain.errors import Reason, Refused
from croupier.domain.money import CURRENCIES
from croupier.domain.table import Table
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.rpc import names
from croupier.services.rpc.calls import caller
from croupier.v1 import odds_pb2 as pb
from croupier.v1.odds_pb2_grpc import OddsServiceServicer


class OddsService(OddsServiceServicer):
    """Translates, calls, translates."""

    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    async def GetExposure(
        self, request: pb.GetExposureRequest, context: Any
    ) -> pb.GetExposureResponse:
        ledger_id, table_id = names.parse_table(request.table, "table")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        return exposure_to_wire(ledger_id, ledger.table(table_id))


def exposure_to_wire(ledger: str, table: Table) -> pb.GetExposureResponse:
    """Return what a table's open round can come to for the house, or refuse."""
    exposure = table.exposure
    if exposure is None:
        raise Refused(
            Reason.NOT_OFFERED,
            f"a player banks in {table.opened.game}; the house has nothing at risk",
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
        expected_value=ratio_to_wire(exposure.expected),
        outcomes=[
            pb.PossibleOutcome(dice=one.dice, ways=one.ways, net=one.net)
            for one in exposure.outcomes
        ],
    )


def ratio_to_wire(ratio: Fraction) -> pb.Ratio:
    """Return an exact ratio as its message."""
    return pb.Ratio(
        numerator=ratio.numerator, denominator=ratio.denominator, decimal=decimal_of(ratio)
    )


def decimal_of(ratio: Fraction) -> str:
    """Return a ratio for people: rounded to six places, never in powers of ten."""
    millionths = round(ratio * 1_000_000)
    return f"{Decimal(millionths).scaleb(-6):f}"
