"""Where the cards of a hand are: 52 of them, from its first card to its last."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.cards import Card
from croupier.domain.games.royal_casino.layout import Build

PARTNERSHIPS = 4
"""With so many seats two sides play, each of two players who sit opposite."""

IN_A_DEAL = 4
"""Cards that a player is dealt at once, and the table with the first deal."""


def sides_of(seats: int) -> int:
    """Return how many sides play: each seat one, but two of four seats."""
    return 2 if seats == PARTNERSHIPS else seats


@dataclass(frozen=True, slots=True)
class Board:
    """One hand, from its deck on; `number` is its own in the life of the table, 0 before the first.

    `stock` is what is left of the deck, to be dealt from its front. `hands` are by seat, `piles`
    and `sweeps` by side. `turn` is the seat to play. `capturer` captured last, and `cleared` the
    table with this card, which has not been counted as a sweep yet.
    """

    number: int
    stock: tuple[Card, ...]
    hands: tuple[tuple[Card, ...], ...]
    piles: tuple[tuple[Card, ...], ...]
    sweeps: tuple[int, ...]
    turn: int
    deal: int = 0
    loose: tuple[Card, ...] = ()
    builds: tuple[Build, ...] = ()
    next_build: int = 1
    capturer: str = ""
    cleared: Card = ""

    @classmethod
    def of(cls, number: int, deck: tuple[Card, ...], seats: int, turn: int) -> Board:
        """Return a hand of which no card has been dealt yet."""
        sides = sides_of(seats)
        return cls(number, deck, ((),) * seats, ((),) * sides, (0,) * sides, turn)

    @property
    def is_dealt_out(self) -> bool:
        """Return whether nobody holds a card."""
        return not any(self.hands)

    @property
    def cards(self) -> tuple[Card, ...]:
        """Return all cards of the hand, wherever they are."""
        held = [card for hand in self.hands for card in hand]
        built = [card for build in self.builds for card in build.cards]
        taken = [card for pile in self.piles for card in pile]
        return (*self.stock, *held, *self.loose, *built, *taken)
