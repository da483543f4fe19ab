"""The exact odds, by enumeration of all 108 x 108 decisive throws of banker and player.

A throw is decisive with probability 1/2, and one that is not is repeated, so only decisive throws
count. Verdicts and payouts are those of play itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    PaidOut,
)
from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.ceelo_bank.verdicts import banker_verdict, player_verdict, rule_of
from croupier.domain.games.ceelo_throws import DECISIVE, point_of, read
from croupier.domain.games.protocol import Quote
from croupier.domain.settlement import LOST, PUSHED, WON, Claim, Outcome, settle


@dataclass(frozen=True, slots=True)
class BankerEdge:
    """A fader's chances, and what the banker gains on average for each unit faded."""

    win: Fraction
    lose: Fraction
    push: Fraction
    pays: Fraction
    """What a win adds to a unit, on average over the wins."""
    advantage: Fraction

    @property
    def advantage_not_pushed(self) -> Fraction:
        """Return the banker's advantage per unit that was not pushed."""
        return self.advantage / (1 - self.push)


class Verdict(NamedTuple):
    """What a pair of readings comes to, for one unit faded; `ways` of 108 x 108 throws have it."""

    banker: str
    result: str
    ways: int
    banker_gain: int


def verdicts(terms: Terms) -> Iterator[Verdict]:
    """Yield every pair of readings of banker and player, with what the rules of play say of it."""
    readings = Counter(read(dice) for dice in DECISIVE)
    for banker, banker_ways in readings.items():
        automatic = banker_verdict(terms, banker)
        for player, player_ways in readings.items():
            result, line = automatic or player_verdict(terms, point_of(banker), player)
            rule = rule_of(result, player, by_banker=automatic is not None)
            gain = _banker_gain(terms, result, line, rule)
            yield Verdict(banker, result, banker_ways * player_ways, gain)


def edge(options: Mapping[str, Value]) -> BankerEdge:
    """Return the exact odds of a bet under resolved options, each win paid in full."""
    total = len(DECISIVE) ** 2
    chances: Counter[str] = Counter()
    gained = won = 0
    for one in verdicts(Terms.of(options)):
        chances[one.result] += one.ways
        gained += one.ways * one.banker_gain
        won -= one.ways * one.banker_gain if one.result == WON else 0
    return BankerEdge(
        win=Fraction(chances[WON], total),
        lose=Fraction(chances[LOST], total),
        push=Fraction(chances[PUSHED], total),
        pays=Fraction(won, chances[WON]),
        advantage=Fraction(gained, total),
    )


def quotes(options: Mapping[str, Value]) -> tuple[Quote, ...]:
    """Return the odds of the one bet there is, a fade; the edge is the banker's."""
    exact = edge(options)
    return (Quote("fade", None, exact.win, exact.push, exact.pays, exact.advantage),)


def _banker_gain(terms: Terms, result: str, line: str, rule: str) -> int:
    """Return what the banker gains on one unit, settled as in play."""
    claim = Claim("fader", rule, result, stake=1, reserve=terms.fade_reserve(1), line=line)
    own = claim.stake + claim.reserve
    # Odds are of bets paid in full, also where the table caps what a bank can pay.
    outcome = Outcome((claim,), bank=1, reserve=terms.banker_factor - 1)
    paid = sum(
        event.returned + event.winnings + event.top_up
        for event in settle(outcome, terms.paytable)
        if isinstance(event, PaidOut)
    )
    return own - paid
