"""Which commands the rules allow now, with their bounds. `deciding` refuses all others."""

from __future__ import annotations

from croupier.domain.games.ceelo_pot.deciding import DICE
from croupier.domain.games.ceelo_pot.state import State
from croupier.domain.games.protocol import Allowed


def allowed(state: State) -> tuple[Allowed, ...]:
    """Return every command that somebody may play now: antes in any order, throws in turn."""
    if state.thrower:
        return (Allowed(state.thrower, "roll", "dice", least=DICE, most=DICE),)
    ante = state.terms.ante
    return tuple(Allowed(player, "ante", "amount", least=ante, most=ante) for player in state.owing)
