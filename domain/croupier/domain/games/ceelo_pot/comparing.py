"""What follows by itself when a pass is over: one player takes the pot, or a shoot-out is called.

Source: "Cee-lo", the game without a bank: those who tie for the best combination have a shoot-out.
"""

from __future__ import annotations

from croupier.domain.events import (
    Fact,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot.ranking import best
from croupier.domain.games.ceelo_pot.state import COMPARE, State
from croupier.domain.settlement import LOST, TAKES, Claim, Outcome

BEST_THROW = "best_throw"
"""The rule under which one player alone has the best throw and takes the pot."""

INSTANT = "instant_456"
"""The same, where a 4-5-6 ended the round before everybody had thrown."""

ANTE_LOST = "ante_lost"
"""The rule under which everybody else loses what he has in the pot."""


def follow(state: State) -> tuple[Fact, ...]:
    """Return the facts that follow without anybody acting."""
    if state.phase != COMPARE or state.winner:
        return ()
    return (
        ShootOutCalled(
            players=state.leaders, reading=best(state.readings), number=state.shoot_outs + 1
        ),
    )


def outcome(state: State) -> Outcome | None:
    """Return what is owed now: to the winner all that the others have in the pot."""
    winner = state.winner
    if not winner:
        return None
    losses = [
        Claim(player=player, rule=ANTE_LOST, result=LOST, stake=ante)
        for player, ante in state.stakes
        if ante and player != winner
    ]
    rule = INSTANT if state.waiting else BEST_THROW
    takes = Claim(player=winner, rule=rule, result=TAKES, stake=dict(state.stakes)[winner])
    return Outcome((*losses, takes), bank=state.collected)
