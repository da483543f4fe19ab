"""Double entry: every movement of money names the account it leaves and the one it enters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass

from croupier.domain.errors import Reason, Refused
from croupier.domain.money import AMOUNT_MAX
from croupier.domain.names import EXTERNAL

Key = tuple[str, str]
"""An account and its currency: what a balance is kept for."""


@dataclass(frozen=True, slots=True)
class Posting:
    """`amount` minor units (positive) leave `source` and enter `destination`."""

    source: str
    destination: str
    currency: str
    amount: int

    def __post_init__(self) -> None:
        """A posting moves something, between two accounts; anything else is a fault of ours."""
        if self.amount < 1 or self.source == self.destination:
            msg = f"no posting: {self}"
            raise ValueError(msg)


def deltas(postings: Iterable[Posting]) -> dict[Key, int]:
    """Return the change of every balance that `postings` touch; the changes sum to zero."""
    changes: dict[Key, int] = {}
    for posting in postings:
        source = (posting.source, posting.currency)
        destination = (posting.destination, posting.currency)
        changes[source] = changes.get(source, 0) - posting.amount
        changes[destination] = changes.get(destination, 0) + posting.amount
    return changes


def post(balances: MutableMapping[Key, int], postings: Iterable[Posting]) -> None:
    """Apply `postings`, which were accepted once, to `balances`. Never refuses."""
    for key, change in deltas(postings).items():
        balances[key] = balances.get(key, 0) + change


def check_cover(balance: Callable[[Key], int], postings: Iterable[Posting]) -> None:
    """Refuse `postings` that would overdraw an account or exceed the ledger's money supply.

    Only `external`, the world outside, may be negative; how far bounds the money of the ledger,
    and with it every other balance, to `AMOUNT_MAX` for each currency.
    """
    for (account, currency), change in deltas(postings).items():
        if change >= 0:
            continue
        before = balance((account, currency))
        after = before + change
        if account == EXTERNAL:
            if after < -AMOUNT_MAX:
                raise Refused(
                    Reason.MONEY_SUPPLY_EXCEEDED,
                    f"the ledger holds {-before} {currency} and may hold {AMOUNT_MAX}",
                    currency=currency,
                    held=-before,
                    most=AMOUNT_MAX,
                )
        elif after < 0:
            raise Refused(
                Reason.INSUFFICIENT_FUNDS,
                f"{account} has {before} {currency}, {-change} are needed",
                account=account,
                currency=currency,
                available=before,
                needed=-change,
            )
