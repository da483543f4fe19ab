"""Every legal move of a position, each one once, without trying those that are not."""

from __future__ import annotations

from collections.abc import Iterator

from croupier.domain.card_commands import Move
from croupier.domain.games.royal_casino.layout import Position


def legal_moves(position: Position, start: int = 0) -> Iterator[Move]:
    """Yield every move that `legality.check` accepts, each once, from number `start` on."""
    raise NotImplementedError


def count_moves(position: Position) -> int:
    """Return how many moves `legal_moves` yields, without making them."""
    raise NotImplementedError


def kinds(position: Position) -> tuple[str, ...]:
    """Return which kinds of moves are legal, called as in the API, in the order of the API.

    Of "capture", "create_build", "add_to_build", "raise_build" and "trail".
    """
    raise NotImplementedError
