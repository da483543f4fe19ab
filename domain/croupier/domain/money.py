"""Amounts in minor units, the currency table, and odds as exact ratios. No floats, ever."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.errors import Reason, Refused, shown

AMOUNT_MAX = 10**15
"""The largest amount, and the most money of one currency that a ledger may hold, minor units."""

_EXPONENT_0 = (
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF XTS"  # XTS: play money
)
_EXPONENT_2 = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD "
    "CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ "
    "GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL "
    "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
    "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT "
    "TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG"
)
_EXPONENT_3 = "BHD IQD JOD KWD LYD OMR TND"

CURRENCIES: dict[str, int] = {
    code: exponent
    for exponent, codes in ((0, _EXPONENT_0), (2, _EXPONENT_2), (3, _EXPONENT_3))
    for code in codes.split()
}
"""ISO 4217 code to exponent: how many decimal places the major unit has in minor units."""


def check_currency(code: str) -> str:
    """Return `code`, or refuse it: only codes of the currency table can be held."""
    if code not in CURRENCIES:
        raise Refused(
            Reason.UNKNOWN_CURRENCY,
            f"{shown(code)} is no currency of the table (ISO 4217, upper case)",
            field="currency",
            currency=code[:64],
        )
    return code


def check_amount(amount: int, *, least: int = 1) -> int:
    """Return `amount` in minor units, or refuse one below `least` or above `AMOUNT_MAX`."""
    if not least <= amount <= AMOUNT_MAX:
        raise Refused(
            Reason.AMOUNT_OUT_OF_RANGE,
            f"an amount of {amount} is not between {least} and {AMOUNT_MAX} minor units",
            field="amount",
            amount=amount,
            least=least,
            most=AMOUNT_MAX,
        )
    return amount


@dataclass(frozen=True, slots=True)
class Odds:
    """What a winning stake adds, "x to 1": `profit` minor units for each `per` staked."""

    profit: int
    per: int = 1

    def __post_init__(self) -> None:
        """Odds are positive: what returns no profit is a push, not a price."""
        if self.profit < 1 or self.per < 1:
            msg = f"odds of {self.profit} to {self.per} are not positive"
            raise ValueError(msg)

    def on(self, stake: int) -> int:
        """Return the profit on a winning `stake`; breakage (the fraction) stays with the payer."""
        return stake * self.profit // self.per

    def __str__(self) -> str:
        """Return the odds as they are called at a table: "3 to 1"."""
        return f"{self.profit} to {self.per}"


EVEN = Odds(1)
