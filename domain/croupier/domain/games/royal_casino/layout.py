"""What lies on the table and what the player to move holds: all that legality depends on."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.cards import Card
from croupier.domain.games.royal_casino.terms import Terms


@dataclass(frozen=True, slots=True)
class Build:
    """A pile that is captured as a whole, with the `value` that it was announced with.

    `number` is its own in the hand. It is `multiple` if it has two groups of its value or more.
    The `owner` is who last added a card to it.
    """

    number: int
    value: int
    cards: tuple[Card, ...]
    multiple: bool
    owner: str


@dataclass(frozen=True, slots=True)
class Position:
    """What the player to move sees: his hand and the table. `partner` is "" where he has none.

    `builds` are in the order of their numbers; the next one made is number `next_build`.
    """

    player: str
    partner: str
    hand: tuple[Card, ...]
    loose: tuple[Card, ...]
    builds: tuple[Build, ...]
    next_build: int
    terms: Terms
