"""What follows by itself when a pass is over: one player takes the pot, or a shoot-out is called.

"If there is a tie for the best combination", those who share it throw again among themselves.
"""

from __future__ import annotations

from croupier.domain.events import Fact, ShootOutCalled
from croupier.domain.games.ceelo_pot.ranking import best
from croupier.domain.games.ceelo_pot.state import COMPARE, State
from croupier.domain.settlement import LOST, TAKES, Claim, Outcome

BEST_THROW = "best_throw"
"""The rule under which one player alone has the best throw and takes the pot."""

NOT_BEST = "not_the_best_throw"
"""The rule under which everybody else loses what he has in the pot."""

INSTANT = "instant_456"
"""The rule of both where a 4-5-6 ended the round before everybody had thrown."""


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
    early = state.waiting
    losses = [
        Claim(
            player=player,
            rule=INSTANT if player in early else NOT_BEST,
            result=LOST,
            stake=ante,
        )
        for player, ante in state.stakes
        if ante and player != winner
    ]
    rule = INSTANT if early else BEST_THROW
    own = dict(state.stakes)[winner]
    takes = Claim(player=winner, rule=rule, result=TAKES, stake=own)
    return Outcome((*losses, takes), bank=state.collected)
