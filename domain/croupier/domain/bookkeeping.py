"""Which postings an event makes: the one place that turns events into movements of money."""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain import names
from croupier.domain.events import Anted, BankPosted, Deposited, Event, Faded, PaidOut, Withdrawn
from croupier.domain.postings import Posting


def account_postings(event: Deposited | Withdrawn) -> tuple[Posting, ...]:
    """Return the posting of money that enters or leaves the ledger."""
    source, destination = names.EXTERNAL, event.account
    if isinstance(event, Withdrawn):
        source, destination = destination, source
    return (Posting(source, destination, event.currency, event.amount),)


def table_postings(event: Event, table_id: str, currency: str) -> tuple[Posting, ...]:
    """Return the postings of a table's event, between its escrow and its players.

    A payout has one posting for the player's own money, one for what he won out of the bank and
    one for the banker's extra payment beyond the bank, so that each can be read by itself.
    """
    escrow = names.escrow(table_id)

    def made(player: str, amounts: Iterable[int], *, pays_in: bool) -> tuple[Posting, ...]:
        account = names.player(player)
        source, destination = (account, escrow) if pays_in else (escrow, account)
        return tuple(Posting(source, destination, currency, a) for a in amounts if a > 0)

    match event:
        case BankPosted():
            return made(event.player, (event.added, event.reserve), pays_in=True)
        case Faded():
            return made(event.player, (event.stake, event.reserve), pays_in=True)
        case Anted():
            return made(event.player, (event.amount,), pays_in=True)
        case PaidOut():
            paid = (event.returned, event.winnings, event.top_up)
            return made(event.player, paid, pays_in=False)
        case _:
            return ()
