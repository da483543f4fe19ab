"""What tells somebody how chance fell. Once it has fallen it stands: nobody may take it back."""

from __future__ import annotations

from croupier.domain.cup_events import CupOpened, DrawRevealed
from croupier.domain.dice import DRAWN
from croupier.domain.events import Event, Rolled
from croupier.domain.games import SECRETS


def reveals(event: Event) -> bool:
    """Return whether an event tells what nobody knew before: a draw, or cards turned over.

    Dice that were brought are known to whoever brings them. What a game conceals counts: what comes
    after it may tell what it is.
    """
    if isinstance(event, Rolled | CupOpened):
        return event.source.kind == DRAWN
    return isinstance(event, DrawRevealed) or type(event) in SECRETS
