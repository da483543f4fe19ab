"""The exact odds, by enumeration of all 216 throws with the functions that play uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from croupier.domain.games.twelve_high.throws import THROWS, read, survives

POINT = "point"
TRIPS = "trips"
STORM = "storm"


def class_of(reading: str) -> str:
    """Return the class of a reading: points are one class, so are trips, so are plain storms."""
    kind, _, rest = reading.partition("_")
    return kind if rest.isdigit() else reading


def classes() -> Mapping[str, int]:
    """Return how many of the 216 throws are of each class."""
    return Counter(class_of(read(dice)) for dice in THROWS)


def survival(bar: int) -> Fraction:
    """Return the chance to survive a Death Roll with this bar."""
    return Fraction(sum(survives(read(dice), bar) for dice in THROWS), len(THROWS))
