"""The state of a table of winner-take-all cee-lo, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.games.ceelo_pot.ranking import best
from croupier.domain.games.ceelo_pot.terms import Terms
from croupier.domain.games.protocol import Holding

ANTE = "ANTE"
RE_ANTE = "RE_ANTE"
THROWING = "THROWING"
COMPARE = "COMPARE"


@dataclass(frozen=True, slots=True)
class State:
    """Amounts are minor units.

    A *pass* is one throw by each of `order`, who throw one after the other; `readings` are the
    decisive throws of this pass so far. `antes` is what each seat has in the pot, in the order of
    `seats`; what losers had there becomes `collected`. `paid` is who has anted since antes were
    last asked for.
    """

    terms: Terms
    seats: tuple[str, ...]
    order: tuple[str, ...]
    antes: tuple[int, ...]
    phase: str = ANTE
    round_open: bool = False
    paid: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    shoot_outs: int = 0
    collected: int = 0
    last_reading: str = ""
    last_winner: str = ""

    @property
    def stakes(self) -> tuple[tuple[str, int], ...]:
        """Return every seat with what it has in the pot, clockwise."""
        return tuple(zip(self.seats, self.antes, strict=True))

    @property
    def pot(self) -> int:
        """Return all that the winner will take."""
        return sum(self.antes) + self.collected

    @property
    def owing(self) -> tuple[str, ...]:
        """Return who has to ante now, in the order of throwing."""
        if self.phase not in (ANTE, RE_ANTE):
            return ()
        return tuple(player for player in self.order if player not in self.paid)

    @property
    def thrower(self) -> str:
        """Return whose turn it is to throw, "" if it is nobody's."""
        thrown = len(self.readings)
        waits = self.phase == THROWING and thrown < len(self.order)
        return self.order[thrown] if waits else ""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Return who has no decisive throw in this pass."""
        return self.order[len(self.readings) :]

    @property
    def leaders(self) -> tuple[str, ...]:
        """Return who shares the best rank of this pass, in the order of throwing."""
        shared = best(self.readings)
        thrown = zip(self.order, self.readings, strict=False)
        return tuple(player for player, reading in thrown if reading == shared)

    @property
    def winner(self) -> str:
        """Return who takes the pot, "" while that is open or shared."""
        leaders = self.leaders if self.phase == COMPARE else ()
        return leaders[0] if len(leaders) == 1 else ""

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds: each his antes, until they are the winner's."""
        held = [Holding(player, ante, "ante") for player, ante in self.stakes]
        held.append(Holding(self.winner, self.collected, "pot"))
        return tuple(holding for holding in held if holding.amount)
