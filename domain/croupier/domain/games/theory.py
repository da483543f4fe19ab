"""What bets come to by the exact odds: the mean and the variance of a throw, before it is seen.

What a game has paid says little by itself: a high return may be luck. Against the mean and the
variance of the very bets that were made it says how much luck that would have to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

from croupier.domain.event import Value
from croupier.domain.games.protocol import Game


class Bet(NamedTuple):
    """A stake that a throw decides, minor units, settled by the `rule` that its payout names."""

    rule: str
    stake: int


@dataclass(frozen=True, slots=True)
class Moments:
    """Of all bets on one throw, exactly: minor units, the variance minor units squared.

    `won` is what winning bets bring above their stakes and `lost` what losing ones cost, both on
    average and paid in full; `variance` is that of won less lost, and `furthest` the most by which
    won less lost can differ from its mean.
    """

    won: Fraction
    lost: Fraction
    variance: Fraction
    furthest: Fraction


@runtime_checkable
class OddsBased(Protocol):
    """What a game has beyond `Game` if its bets are decided by chance alone and paid by odds.

    All bets on one throw, or on throws that depend on each other, are settled by one command.
    """

    pushes: frozenset[str]
    """The rules under which a throw gives a stake back, neither won nor lost."""

    def moments(self, options: Mapping[str, Value], bets: Sequence[Bet]) -> Moments:
        """Return what the bets of one round come to, before any of its throws."""
        ...


def odds_based(game: Game[Any]) -> OddsBased | None:
    """Return what a game has beyond others if its bets are paid by odds, else None."""
    return game if isinstance(game, OddsBased) else None
