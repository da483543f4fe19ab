"""Which commands the rules allow now, with their bounds. `deciding` refuses all others."""

from __future__ import annotations

from croupier.domain.games.ceelo_bank.deciding import DICE
from croupier.domain.games.ceelo_bank.state import (
    BANK_CHOICE,
    BANK_OPEN,
    BANKER_THROWS,
    FADING,
    PLAYER_THROWS,
    State,
)
from croupier.domain.games.protocol import Allowed
from croupier.domain.money import AMOUNT_MAX


def allowed(state: State) -> tuple[Allowed, ...]:
    """Return every command that somebody may play now; none between the facts of one command."""
    if state.is_moving:
        return ()
    match state.phase:
        case phase if phase == BANK_OPEN:
            resigns = (Allowed(state.banker, "resign_bank"),) if state.terms.may_resign else ()
            return (_post_bank(state), *resigns)
        case phase if phase == FADING:
            return (_fade(state), Allowed(state.next_offer, "decline"))
        case phase if phase == BANKER_THROWS:
            return (_roll(state.banker),)
        case phase if phase == PLAYER_THROWS:
            bet = state.next_bet
            return (_roll(bet.player),) if bet else ()
        case phase if phase == BANK_CHOICE:
            return (Allowed(state.banker, "keep_bank"), Allowed(state.banker, "pass_bank"))
        case _:
            return ()


def _post_bank(state: State) -> Allowed:
    """The bank and the reserve that stands behind it are amounts that can be."""
    carried = state.bank
    factor = 1 + state.terms.bank_reserve(1)
    most = AMOUNT_MAX // factor - carried
    return Allowed(state.banker, "post_bank", "amount", least=0 if carried else 1, most=most)


def _fade(state: State) -> Allowed:
    factor = 1 + state.terms.fade_reserve(1)
    most = min(state.uncovered, AMOUNT_MAX // factor)
    return Allowed(state.next_offer, "fade", "stake", least=1, most=most)


def _roll(player: str) -> Allowed:
    return Allowed(player, "roll", "dice", least=DICE, most=DICE)
