"""Which commands the rules allow now, with their bounds. `deciding` refuses all others."""

from __future__ import annotations

from croupier.domain.games.protocol import Allowed
from croupier.domain.games.twelve_high.deciding import dice_of
from croupier.domain.games.twelve_high.state import (
    ANTE,
    DEATH_ROLL,
    HOUSE_OPTION,
    ORDER,
    TURN,
    State,
)


def allowed(state: State) -> tuple[Allowed, ...]:
    """Return every command that somebody may play now."""
    match state.phase:
        case phase if phase == ANTE:
            ante = state.terms.ante
            return tuple(
                Allowed(player, "ante", "amount", least=ante, most=ante)
                for player in state.ante_owed_by
            )
        case phase if phase == ORDER:
            return tuple(_roll(state, player) for player in state.called)
        case phase if phase in (TURN, DEATH_ROLL) and state.called:
            return (_roll(state, state.next_thrower),)
        case phase if phase == HOUSE_OPTION:
            chooser = state.thrower
            return (Allowed(chooser, "choose_win"), Allowed(chooser, "choose_death_roll"))
        case _:
            return ()


def _roll(state: State, player: str) -> Allowed:
    dice = dice_of(state)
    return Allowed(player, "roll", "dice", least=dice, most=dice)
