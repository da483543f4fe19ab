"""The points of a hand: what the piles of the sides and their sweeps are worth.

Nothing here depends on the score, nor on the order of the cards in a pile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.domain.cards import SPADES, Card, rank_of, suit_of

MOST_CARDS = 3
MOST_SPADES = 1
BIG_CASINO = "10D", 2
LITTLE_CASINO = "2S", 1
ACE = "A", 1


@dataclass(frozen=True, slots=True)
class Points:
    """What a side scores in a hand, in points, item by item in the order of counting.

    `sweeps` are those that others' did not cancel.
    """

    cards: int = 0
    spades: int = 0
    big_casino: int = 0
    little_casino: int = 0
    aces: int = 0
    sweeps: int = 0

    @property
    def total(self) -> int:
        """Return the sum of all items."""
        items = self.cards + self.spades + self.big_casino + self.little_casino + self.aces
        return items + self.sweeps


def points_of(piles: Sequence[Sequence[Card]], sweeps: Sequence[int]) -> tuple[Points, ...]:
    """Return the points of every side, by what it captured and how often it swept the table."""
    cards = _most([len(pile) for pile in piles], MOST_CARDS)
    spades = _most([sum(suit_of(card) == SPADES for card in pile) for pile in piles], MOST_SPADES)
    return tuple(
        Points(
            cards=cards[side],
            spades=spades[side],
            big_casino=_for(BIG_CASINO, pile),
            little_casino=_for(LITTLE_CASINO, pile),
            aces=ACE[1] * sum(rank_of(card) == ACE[0] for card in pile),
            sweeps=net,
        )
        for side, (pile, net) in enumerate(zip(piles, uncancelled(sweeps), strict=True))
    )


def uncancelled(sweeps: Sequence[int]) -> tuple[int, ...]:
    """Return the sweeps that each side keeps: those it has beyond the most of any other side.

    Sweeps of two sides cancel one against one. Where three have some, it is the same: own ones
    against those of the rival who has most.
    """
    return tuple(
        max(0, own - max(other for rival, other in enumerate(sweeps) if rival != side))
        for side, own in enumerate(sweeps)
    )


def _most(counts: Sequence[int], points: int) -> tuple[int, ...]:
    """Return the points for whoever alone has more than each other; a tie gives nobody any."""
    highest = max(counts)
    alone = counts.count(highest) == 1
    return tuple(points if alone and count == highest else 0 for count in counts)


def _for(card: tuple[Card, int], pile: Sequence[Card]) -> int:
    name, points = card
    return points if name in pile else 0
