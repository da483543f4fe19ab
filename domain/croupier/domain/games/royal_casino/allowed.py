"""Which commands the rules allow now, with their bounds. `deciding` refuses all others."""

from __future__ import annotations

from collections.abc import Iterator

from croupier.domain.games.protocol import Allowed, Eyes
from croupier.domain.games.royal_casino.moves import kinds
from croupier.domain.games.royal_casino.state import ANTE, DEAL, TURN, State

MOVES = ("capture", "create_build", "add_to_build", "raise_build", "trail")
"""All kinds of moves, called as in the API."""


def allowed(state: State, eyes: Eyes = None) -> tuple[Allowed, ...]:
    """Return every command that somebody may play now, as far as these eyes may know.

    Of a player whose cards they do not see, all kinds of moves are said to be allowed: which of
    them are, would tell what he holds.
    """
    match state.phase:
        case phase if phase == TURN:
            mover = state.mover
            known = eyes is None or mover in eyes
            moves = kinds(state.position) if known else MOVES
            return tuple(Allowed(mover, move) for move in moves)
        case phase if phase == ANTE:
            return (*_antes(state), *_shuffle(state))
        case phase if phase == DEAL:
            return (*_shuffle(state), _deal(state))
        case _:
            return ()


def _antes(state: State) -> Iterator[Allowed]:
    ante = state.terms.ante
    for player in state.ante_owed_by:
        yield Allowed(player, "ante", "amount", least=ante, most=ante)


def _shuffle(state: State) -> Iterator[Allowed]:
    """Yield that the dealer may have the deck shuffled: not once stakes are on a match's first."""
    if state.sealed is None and (state.played or not state.is_open):
        dealer, hand = state.seats[state.dealer], state.hand
        yield Allowed(dealer, "shuffle", "hand", least=hand, most=hand)


def _deal(state: State) -> Allowed:
    """Return how the next hand is dealt: from the deck committed to, or from one brought."""
    source = "deck" if state.sealed is None else "draw"
    return Allowed(
        state.seats[state.dealer],
        "deal",
        "hand",
        least=state.hand,
        most=state.hand,
        choices=(source,),
        choice_field="source",
    )
