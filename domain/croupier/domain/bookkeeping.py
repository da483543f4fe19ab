"""Which postings an event makes: the one place that turns events into movements of money."""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain import names
from croupier.domain.cup_events import (
    BetPlaced,
)
from croupier.domain.events import (
    Anted,
    BankPosted,
    Collected,
    Deposited,
    Event,
    Faded,
    PaidOut,
    TableClosed,
    TableOpened,
    Withdrawn,
)
from croupier.domain.postings import Posting


def account_postings(event: Deposited | Withdrawn) -> tuple[Posting, ...]:
    """Return the posting of money that enters or leaves the ledger."""
    source, destination = names.EXTERNAL, event.account
    if isinstance(event, Withdrawn):
        source, destination = destination, source
    return (Posting(source, destination, event.currency, event.amount),)


def table_postings(
    event: Event, table_id: str, currency: str, *, house_banks: bool = False
) -> tuple[Posting, ...]:
    """Return the postings of a table's event, between its escrow and its players.

    A payout has one posting for the player's own money, one for what he won out of the bank and
    one for the banker's extra payment beyond the bank, so that each can be read by itself. Where
    the house banks, it puts a bankroll at risk as the table opens, which gets what is lost, pays
    what is won, and goes back as the table closes.
    """
    escrow = names.escrow(table_id)
    bank = names.bankroll(table_id) if house_banks else escrow

    def moved(source: str, destination: str, amount: int) -> tuple[Posting, ...]:
        return (Posting(source, destination, currency, amount),) if amount > 0 else ()

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
        case BetPlaced():
            return made(event.player, (event.stake,), pays_in=True)
        case PaidOut() if house_banks:
            winner = names.player(event.player)
            own = moved(escrow, winner, event.returned)
            return (*own, *moved(bank, winner, event.winnings))
        case PaidOut():
            paid = (event.returned, event.winnings, event.top_up)
            return made(event.player, paid, pays_in=False)
        case Collected() if house_banks:
            return moved(escrow, bank, event.amount)
        case TableOpened() if house_banks:
            return moved(names.HOUSE, bank, event.bankroll)
        case TableClosed() if house_banks:
            return moved(bank, names.HOUSE, event.bankroll)
        case _:
            return ()
