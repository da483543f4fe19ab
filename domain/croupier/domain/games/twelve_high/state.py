"""The state of a table of Two Alike 12 High, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.games.protocol import Holding
from croupier.domain.games.twelve_high.terms import Terms
from croupier.domain.games.twelve_high.throws import NOTHING

ANTE = "ANTE"
ORDER = "ORDER"
ROUND_START = "ROUND_START"
TURN = "TURN"
HOUSE_OPTION = "HOUSE_OPTION"
DEATH_ROLL = "DEATH_ROLL"
WON = "WON"

HOUSE_PLAYERS_LEAST = 4
"""The house rule is for so many players or more, counted at the start of the game."""


@dataclass(frozen=True, slots=True)
class Racer:
    """A seat in the race. `held` is its ante in escrow, minor units.

    `order_dice` are its throws for the rolling order, `award` what it gets when the next round
    starts. Whoever is out keeps his points for the record.
    """

    player: str
    held: int = 0
    order_dice: tuple[int, ...] = ()
    points: int = 0
    award: int = 0
    is_out: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """One race. When it is over it stays to be seen until the next ante.

    `called` are those who still have to throw: for the rolling order in any order, in a round or
    a Death Roll one after the other. `thrower` and `reading` are of the last throw, which is
    `judged` once the facts say what came of it. `scorer` added points with the last fact.
    `pot` is what was collected for the winner, minor units.
    """

    terms: Terms
    racers: tuple[Racer, ...]
    phase: str = ANTE
    order: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    game_round: int = 0
    thrower: str = ""
    reading: str = ""
    judged: bool = True
    scorer: str = ""
    starter: str = ""
    bar: int = 0
    choice: str = ""
    winner: str = ""
    win_rule: str = ""
    pot: int = 0

    @classmethod
    def before(cls, terms: Terms, seats: tuple[str, ...]) -> State:
        """Return the state before anybody has paid his ante."""
        return cls(terms, tuple(Racer(seat) for seat in seats))

    @property
    def seats(self) -> tuple[str, ...]:
        """Return the players as they sit."""
        return tuple(racer.player for racer in self.racers)

    @property
    def waits_for_verdict(self) -> bool:
        """Return whether a throw was recorded, and not yet what comes of it."""
        again = self.terms.reroll_nothing and self.phase == TURN and self.reading == NOTHING
        return not self.judged and not again

    @property
    def active(self) -> tuple[str, ...]:
        """Return the players still in the game, in rolling order."""
        out = {racer.player for racer in self.racers if racer.is_out}
        return tuple(player for player in self.order if player not in out)

    @property
    def next_thrower(self) -> str:
        """Return who has to throw first of those called, "" if nobody has to."""
        return self.called[0] if self.called else ""

    @property
    def ante_owed_by(self) -> tuple[str, ...]:
        """Return who has not yet paid the ante of the race to come."""
        if self.phase != ANTE:
            return ()
        return tuple(racer.player for racer in self.racers if not racer.held)

    @property
    def house_option_applies(self) -> bool:
        """Return whether the thrower of a High Storm may choose a Death Roll instead of the win.

        He may by the house rule, with enough players at the start of the game, in its first round,
        while somebody has not yet had a turn.
        """
        enough = len(self.racers) >= HOUSE_PLAYERS_LEAST
        first_round = self.game_round == 1 and self.phase == TURN
        return self.terms.house_rule and enough and first_round and len(self.called) > 1

    @property
    def leader(self) -> str:
        """Return who alone has the highest total, at least the target, of those still in, or ""."""
        totals = {racer.player: racer.points for racer in self.racers if not racer.is_out}
        highest = max(totals.values(), default=0)
        leaders = [player for player, total in totals.items() if total == highest]
        return leaders[0] if len(leaders) == 1 and highest >= self.terms.target else ""

    @property
    def is_open(self) -> bool:
        """Return whether the race has begun and the pot is not paid."""
        return self.phase != ANTE or any(racer.held for racer in self.racers)

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds: an ante until it is lost, then it is the winner's."""
        held = [Holding(racer.player, racer.held, "ante") for racer in self.racers]
        held.append(Holding(self.winner, self.pot, "pot"))
        return tuple(holding for holding in held if holding.amount)

    def racer(self, player: str) -> Racer:
        """Return a player's place in the race; one who has none has nothing."""
        return next((one for one in self.racers if one.player == player), Racer(player))

    def after(self, player: str) -> tuple[str, ...]:
        """Return the other players still in, in rolling order from the one after `player`."""
        at = self.order.index(player) + 1 if player in self.order else 0
        others = self.order[at:] + self.order[:at]
        return tuple(one for one in others if one in self.active and one != player)
