"""Which commands the rules allow now, with their bounds. `deciding` refuses all others."""

from __future__ import annotations

from collections.abc import Iterator

from croupier.domain.games.fish_prawn_crab.deciding import VOID_REASON_MAX
from croupier.domain.games.fish_prawn_crab.dice import DICE
from croupier.domain.games.fish_prawn_crab.places import PLACES
from croupier.domain.games.fish_prawn_crab.state import (
    BETS_MAX,
    BETTING,
    COVERED,
    NO_MORE_BETS,
    READY,
    SHAKEN,
    State,
)
from croupier.domain.games.protocol import Allowed
from croupier.domain.names import HOUSE


def allowed(state: State) -> tuple[Allowed, ...]:
    """Return every command that somebody may play now; none while something follows by itself."""
    if state.is_moving:
        return ()
    match state.phase:
        case phase if phase == READY:
            return (Allowed(HOUSE, "cover"),)
        case phase if phase == COVERED:
            return (Allowed(HOUSE, "press_handle"),)
        case phase if phase == SHAKEN:
            return (Allowed(HOUSE, "light_on"),)
        case phase if phase == BETTING:
            return (Allowed(HOUSE, "ring_bell"), *_bets(state))
        case phase if phase == NO_MORE_BETS:
            return (
                Allowed(HOUSE, "open_cup", "dice", DICE, DICE),
                Allowed(HOUSE, "open_cup", "void", 1, VOID_REASON_MAX),
            )
        case _:
            return ()


def _bets(state: State) -> Iterator[Allowed]:
    """Yield what each player may bet: places of the same bounds together."""
    if len(state.bets) >= BETS_MAX:
        return
    places: dict[int, list[str]] = {}
    for place in PLACES:
        if most := state.most(place):
            places.setdefault(most, []).append(place)
    for player in state.seats:
        for most, choices in places.items():
            yield Allowed(
                player,
                "place_bet",
                "stake",
                least=state.terms.least,
                most=most,
                choices=tuple(choices),
                choice_field="place",
            )
