"""Groups of a value among loose cards: what they are, which cards split into them, how many.

A group of a value is one card of it, or two or more loose cards whose pips add up to it. In a sum
an ace counts 1; a single ace is a group of 14. It is also one of 1, but whatever an ace captures
as 1 it captures as 14 too, and no build has the value 1 (a pair of aces is a build of 14), so 14
is the only value of an ace by itself here.

Sets of loose cards are *masks*: bit i stands for card i. Sets of masks are *bitmaps*: bit m stands
for mask m, so one whole number holds any choice of sets, and joining a group to every mask of a
bitmap that does not overlap it is one shift. A table never has more than 16 loose cards (the first
four, and no two more of one rank, since trailing onto a rank that lies loose is forbidden): then a
bitmap is 8 KB. More cards cost more, by a factor of two each, and are judged just as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from croupier.domain.cards import PACK, RANKS, Card, rank_of

ACE = 1
"""The pips of an ace."""

ACE_HIGH = 14
"""The value of an ace by itself, and the highest that a build can have."""

VALUE_LEAST = 2
"""The lowest value of a build: two aces."""

PIPS: dict[Card, int] = {card: RANKS.index(rank_of(card)) + 1 for card in PACK}
"""What a card counts in a sum: 1 for an ace to 13 for a king. Equal pips are equal rank."""

WORTH: dict[Card, int] = {card: ACE_HIGH if pips == ACE else pips for card, pips in PIPS.items()}
"""What a card is worth by itself, and so what it captures: 2 to 13, an ace 14."""

EMPTY = 1
"""The bitmap of the empty mask alone."""


def group_count(pips: Sequence[int], value: int) -> int:
    """Return into how many groups of `value` these cards split, all of them, or 0 if they do not.

    There is only one such number. Below 14 it is the sum by the value. At 14 a split with h aces
    that stand alone has (sum + 13 h) / 14 groups; so h leaves the remainder of the sum by 14, and
    there are only four aces: h, and with it the number, is the same in every split.
    """
    total = sum(pips)
    high = total % value
    if high and value != ACE_HIGH:
        return 0
    count = (total + (ACE_HIGH - ACE) * high) // value
    if count < 2 or Splits(pips).unions(value) >> (1 << len(pips)) - 1 & 1:
        return count
    return 0


class Splits:
    """Which masks of some cards split into groups. What was asked for once is kept."""

    __slots__ = ("_completions", "_lacks", "_sums", "_unions", "pips")

    def __init__(self, pips: Sequence[int]) -> None:
        self.pips = pips
        self._lacks = _lacks(len(pips))
        self._sums: list[int] | None = None
        self._unions: dict[int, int] = {}
        self._completions: dict[tuple[int, int], int] = {}

    def unions(self, value: int) -> int:
        """Return the bitmap of the masks that split into groups of `value`; the empty one does.

        The groups of a split have different highest cards. So masks grow by groups in the order of
        these: what a group with highest card i joins is made of cards below i, and is complete.
        """
        found = self._unions.get(value)
        if found is None:
            found, grown, width = EMPTY, 0, 0
            for group in members(self._groups(value)):
                if group.bit_length() != width:
                    found, grown, width = found | grown, 0, group.bit_length()
                grown |= self._joined(found, group)
            found = self._unions[value] = found | grown
        return found

    def completions(self, pips: int, value: int) -> int:
        """Return the bitmap of the masks that, with one more card of `pips`, split into groups.

        Of `value`; the further card is in one of the groups, by itself if it is of that value.
        """
        found = self._completions.get((pips, value))
        if found is None:
            found = self.unions(value) if pips == value or (pips, value) == (ACE, ACE_HIGH) else 0
            if pips < value:
                for rest in members(self._sum(value - pips)):
                    found |= self._joined(self.unions(value), rest)
            self._completions[pips, value] = found
        return found

    def with_all(self, bitmap: int, mask: int) -> int:
        """Return those masks of a bitmap that contain the whole of `mask`."""
        for card in members(mask):
            bitmap &= ~self._lacks[card]
        return bitmap

    def with_some(self, bitmap: int, mask: int) -> int:
        """Return those masks of a bitmap that contain a card of `mask`."""
        return bitmap & ~self._without(bitmap, mask)

    def of(self, pips: int) -> int:
        """Return the mask of all cards of these pips."""
        return sum(1 << card for card, other in enumerate(self.pips) if other == pips)

    def _joined(self, bitmap: int, group: int) -> int:
        return self._without(bitmap, group) << group

    def _without(self, bitmap: int, mask: int) -> int:
        for card in members(mask):
            bitmap &= self._lacks[card]
        return bitmap

    def _groups(self, value: int) -> int:
        groups = self._sum(value)
        if value == ACE_HIGH:
            for card in members(self.of(ACE)):
                groups |= 1 << (1 << card)
        return groups

    def _sum(self, total: int) -> int:
        """Return the bitmap of the masks whose pips add up to `total`, 0 to 14."""
        if self._sums is None:
            self._sums = [EMPTY] + [0] * ACE_HIGH
            for card, pips in enumerate(self.pips):
                for more in range(ACE_HIGH, pips - 1, -1):
                    self._sums[more] |= self._sums[more - pips] << (1 << card)
        return self._sums[total]


def members(bitmap: int) -> Iterator[int]:
    """Yield the places of the ones of a whole number, ascending."""
    digits = bin(bitmap)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def reach(pips: Sequence[int]) -> int:
    """Return which sums from 0 to 14 some of the cards have: bit s is set if s is one."""
    sums = 1
    for more in pips:
        sums |= sums << more
    return sums & (2 << ACE_HIGH) - 1


@lru_cache(maxsize=32)
def _lacks(cards: int) -> tuple[int, ...]:
    """Return for each card the bitmap of all masks of so many cards that lack it."""
    everything = (1 << (1 << cards)) - 1
    return tuple(everything // ((1 << (1 << card)) + 1) for card in range(cards))
