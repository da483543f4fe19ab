"""Outcome and odds give payouts, in one pure function.

The server calls it before it commits, replay and verification call it over the log; where they
differ, something was changed.

Every minor unit that leaves a stake leaves it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from croupier.domain.events import (
    Collected,
    PaidOut,
)
from croupier.domain.paytable import Paytable

WON, LOST, PUSHED, RETURNED = "won", "lost", "pushed", "returned"

TAKES = "takes"
"""A winner of a pot: he takes all that is in the bank, by no odds. Several share it equally.

What cannot be shared equally goes, unit by unit, to the first of them.
"""

RESERVE_RETURNED = "reserve_returned"


@dataclass(frozen=True, slots=True)
class Claim:
    """What the rules say of one stake: whose it is, what became of it, by which named rule.

    `stake` was at risk; `reserve` is escrow of the same player beyond it. `line` names the odds
    of a won or lost stake in the round's paytable, "" for even money. `bet` is the number of the
    bet, where several of one player's can be at risk.
    """

    player: str
    rule: str
    result: str
    stake: int
    reserve: int = 0
    line: str = ""
    bet: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Claims in the order in which they are paid, and the money that wins are paid from.

    Wins come out of `bank` first, then out of the banker's `reserve`. Where both are used up
    (a capped liability) the rest of a win is not paid; in every other game they suffice, because
    all that an outcome can require was in escrow before the throw.
    """

    claims: tuple[Claim, ...]
    bank: int = 0
    reserve: int = 0


def settle(outcome: Outcome, paytable: Paytable) -> tuple[Collected | PaidOut, ...]:
    """Return what is collected and paid, losing stakes first, since they fill the bank."""
    return (*_collect(outcome, paytable), *_pay(outcome, paytable))


def _loss(claim: Claim, paytable: Paytable) -> int:
    """Return what a lost stake costs, never more than its owner has in escrow for it."""
    return min(paytable.odds(claim.line).on(claim.stake), claim.stake + claim.reserve)


def _collect(outcome: Outcome, paytable: Paytable) -> Iterator[Collected]:
    for claim in outcome.claims:
        if claim.result == LOST:
            yield Collected(
                player=claim.player,
                stake=claim.stake,
                odds=paytable.odds(claim.line),
                amount=_loss(claim, paytable),
                rule=claim.rule,
                bet=claim.bet,
            )


def _pay(outcome: Outcome, paytable: Paytable) -> Iterator[PaidOut]:
    bank = outcome.bank + sum(_loss(c, paytable) for c in outcome.claims if c.result == LOST)
    reserve = outcome.reserve
    takers = sum(claim.result == TAKES for claim in outcome.claims)
    for claim in outcome.claims:
        own = claim.stake + claim.reserve
        if claim.result == WON:
            odds = paytable.odds(claim.line)
            owed = odds.on(claim.stake)
            winnings = min(owed, bank)
            top_up = min(owed - winnings, reserve)
            bank -= winnings
            reserve -= top_up
            yield PaidOut(
                player=claim.player,
                rule=claim.rule,
                stake=claim.stake,
                odds=odds,
                returned=own,
                winnings=winnings,
                top_up=top_up,
                owed=owed,
                bet=claim.bet,
            )
        elif claim.result == TAKES:
            share = -(-bank // takers)
            yield PaidOut(
                player=claim.player,
                rule=claim.rule,
                stake=claim.stake,
                returned=own,
                winnings=share,
                owed=share,
            )
            bank -= share
            takers -= 1
        elif claim.result == LOST:
            if (left := own - _loss(claim, paytable)) > 0:
                yield PaidOut(
                    player=claim.player, rule=RESERVE_RETURNED, stake=claim.stake, returned=left
                )
        elif own > 0:
            yield PaidOut(
                player=claim.player,
                rule=claim.rule,
                stake=claim.stake,
                returned=own,
                bet=claim.bet,
            )
