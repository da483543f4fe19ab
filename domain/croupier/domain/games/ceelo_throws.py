"""Reading three dice as cee-lo does. The order of the dice never matters.

Readings are "four_five_six", "triple_1" to "triple_6", "point_1" to "point_6", "one_two_three" and
"meaningless". The point is the odd die, never the pair: 6-6-1 is point 1.
"""

from __future__ import annotations

from itertools import product

from croupier.domain.dice import Dice

FOUR_FIVE_SIX = "four_five_six"
ONE_TWO_THREE = "one_two_three"
MEANINGLESS = "meaningless"
TRIPLES = tuple(f"triple_{face}" for face in range(1, 7))
POINTS = tuple(f"point_{face}" for face in range(1, 7))


def read(dice: Dice) -> str:
    """Return the reading of three dice."""
    low, middle, high = sorted(dice)
    if low == high:
        return TRIPLES[low - 1]
    if middle in (low, high):
        odd = high if low == middle else low
        return POINTS[odd - 1]
    straights = {(4, 5, 6): FOUR_FIVE_SIX, (1, 2, 3): ONE_TWO_THREE}
    return straights.get((low, middle, high), MEANINGLESS)


def point_of(reading: str) -> int:
    """Return the point of a reading, 0 for one that is no point."""
    return POINTS.index(reading) + 1 if reading in POINTS else 0


DECISIVE: tuple[Dice, ...] = tuple(
    dice for dice in product(range(1, 7), repeat=3) if read(dice) != MEANINGLESS
)
"""All decisive throws of the 216, in order of the dice; each is as likely as any other."""
