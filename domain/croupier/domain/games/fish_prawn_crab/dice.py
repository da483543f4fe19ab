"""Three picture dice: six pictures in three colours, and the 56 outcomes that a throw can have.

Dice are not told apart, so the 216 throws are 56 outcomes, in 1, 3 or 6 ways each.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

from croupier.domain.dice import Dice

DICE = 3
FACES = range(1, 7)
PICTURES = ("fish", "prawn", "gourd", "coin", "crab", "rooster")
"""By face: the fish is 1, the rooster 6."""

COLOURS = ("red", "green", "blue")
_COLOUR_OF_FACE = ("red", "green", "blue", "blue", "green", "red")

_WAYS = Counter(tuple(sorted(dice)) for dice in product(FACES, repeat=DICE))
OUTCOMES: tuple[Dice, ...] = tuple(sorted(_WAYS))
"""Every outcome once, its dice in ascending order."""

WAYS: tuple[int, ...] = tuple(_WAYS[dice] for dice in OUTCOMES)
"""In how many of the 216 throws each outcome comes."""


def picture(face: int) -> str:
    """Return what is on a face."""
    return PICTURES[face - 1]


def colour(face: int) -> str:
    """Return the colour of a face; opposite faces, which add up to seven, share one."""
    return _COLOUR_OF_FACE[face - 1]
