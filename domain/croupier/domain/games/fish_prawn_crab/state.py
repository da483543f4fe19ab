"""The state of a table of Fish-Prawn-Crab, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.dice import Dice
from croupier.domain.draws import Sealed, seal
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

    `sealed` is the draw committed to when the cup was shaken, `nonce` its secret once revealed.
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
    sealed: Sealed | None = None
    nonce: bytes = b""

    @property
    def is_moving(self) -> bool:
        """Return whether something follows by itself."""
        opened = bool(self.dice or self.nonce)
        return self.phase == PAYING or (self.phase == NO_MORE_BETS and opened)

    def is_sealed(self, nonce: bytes) -> bool:
        """Return whether this is the nonce that was committed to."""
        return self.sealed is not None and seal(nonce, self.sealed.context) == self.sealed

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
