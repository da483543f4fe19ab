"""The exact odds, by enumeration of the 108 decisive throws.

A throw is decisive with probability 1/2, and one that is not is repeated, so only decisive throws
count. The ranking is that of play itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

from croupier.domain.games.ceelo_pot.ranking import RANKS
from croupier.domain.games.ceelo_throws import DECISIVE, FOUR_FIVE_SIX, read


@cache
def distribution() -> Mapping[str, Fraction]:
    """Return the chance of each of the 14 ranks, best to worst."""
    ways = Counter(read(dice) for dice in DECISIVE)
    return {rank: Fraction(ways[rank], len(DECISIVE)) for rank in RANKS}


def tie(players: int) -> Fraction:
    """Return the chance that a pass of so many players ends in a shoot-out."""
    alone = Fraction(0)
    for equal, below in _thresholds(instant=False):
        alone += players * equal * below ** (players - 1)
    return 1 - alone


@cache
def wins(players: int, place: int, *, instant: bool) -> Fraction:
    """Return the chance of taking the pot for who throws as number `place`, from 1.

    It is the same for all unless the first 4-5-6 ends the round. Shoot-outs are followed to any
    depth: one among all players is the same pass again.
    """
    if players == 1:
        return Fraction(1)
    first = distribution()[FOUR_FIVE_SIX] if instant else Fraction(0)
    chance = first * (1 - first) ** (place - 1)
    again = Fraction(0)
    for equal, below in _thresholds(instant=instant):
        for before, after in product(range(place), range(players - place + 1)):
            tied = before + after + 1
            ways = comb(place - 1, before) * comb(players - place, after)
            happens = ways * equal**tied * below ** (players - tied)
            if tied == players:
                again += happens
            else:
                chance += happens * wins(tied, before + 1, instant=instant)
    return chance / (1 - again)


def _thresholds(*, instant: bool) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield for each rank that a pass can be decided by the chances of that rank and of a lower."""
    chances = distribution()
    below = Fraction(1)
    for rank in RANKS:
        below -= chances[rank]
        if not (instant and rank == FOUR_FIVE_SIX):
            yield chances[rank], below
