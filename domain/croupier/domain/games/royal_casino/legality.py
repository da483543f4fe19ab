"""Whether a move is legal: the fact that it causes, or the first rule that it breaks."""

from __future__ import annotations

from croupier.domain.card_commands import Move
from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CardsCaptured,
    CardTrailed,
)
from croupier.domain.games.royal_casino.layout import Position

MoveFact = CardsCaptured | BuildCreated | BuildExtended | BuildRaised | CardTrailed
"""What a legal move causes: always exactly one of these."""


def check(position: Position, move: Move) -> MoveFact:
    """Return the fact that a legal move causes, or raise `Refused`."""
    raise NotImplementedError
