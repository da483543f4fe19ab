"""The state of a table of Fish-Prawn-Crab, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.dice import Dice
from croupier.domain.games.fish_prawn_crab.exposure import NO_BETS, Nets, covered
from croupier.domain.games.fish_prawn_crab.terms import Terms
from croupier.domain.games.protocol import Holding

READY = "READY"
COVERED = "COVERED"
SHAKEN = "SHAKEN"
BETTING = "BETTING"
NO_MORE_BETS = "NO_MORE_BETS"
PAYING = "PAYING"

PRESSES = 3
"""How often the handle is pressed, neither less nor more."""

BETS_MAX = 2_000
"""The most bets that may stand; a limit on everything, so that one answer holds a round's end."""


@dataclass(frozen=True, slots=True)
class Bet:
    """A stake on a place, minor units; `number` is the table's for ever."""

    number: int
    player: str
    place: str
    stake: int


@dataclass(frozen=True, slots=True)
class State:
    """Amounts are minor units.

    `bets` are those not yet settled, in the order of their numbers, and `nets` what they come to by
    each outcome. `dice` and `lit` are of the last throw, none since the cup was covered; while
    bets are `PAYING` without dice, the throw was void.
    """

    terms: Terms
    seats: tuple[str, ...]
    bankroll: int
    phase: str = READY
    presses: int = 0
    bets: tuple[Bet, ...] = ()
    next_bet: int = 1
    nets: Nets = NO_BETS
    dice: Dice = ()
    lit: tuple[str, ...] = ()

    @property
    def is_moving(self) -> bool:
        """Return whether something follows by itself."""
        return self.phase == PAYING or bool(self.phase == NO_MORE_BETS and self.dice)

    @property
    def staked(self) -> int:
        """Return all that is bet."""
        return sum(bet.stake for bet in self.bets)

    @property
    def stakes(self) -> dict[str, int]:
        """Return what each player who has bets has staked."""
        stakes: dict[str, int] = {}
        for bet in self.bets:
            stakes[bet.player] = stakes.get(bet.player, 0) + bet.stake
        return stakes

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds: all bets of a player are one piece."""
        return tuple(Holding(player, stake, "bets") for player, stake in self.stakes.items())

    def most(self, place: str) -> int:
        """Return the largest stake that a bet on a place may have now, 0 if there is none."""
        most = min(self.terms.most, covered(self.nets, self.bankroll, self.terms, place))
        return most if most >= self.terms.least else 0
