"""Reading three dice as Two Alike 12 High does. The order of the dice never matters.

Readings are "point_1" to "point_6", "trips_1" to "trips_6", "storm_3", "storm_4", "high_storm",
"low_storm" and "nothing"; the one die thrown for the rolling order reads "order_1" to "order_6".
"""

from __future__ import annotations

from itertools import product

from croupier.domain.dice import Dice

HIGH_STORM = "high_storm"
LOW_STORM = "low_storm"
NOTHING = "nothing"
POINTS = tuple(f"point_{face}" for face in range(1, 7))
TRIPS = tuple(f"trips_{face}" for face in range(1, 7))
STORMS = ("storm_3", "storm_4")
"""The plain storms, by their storm score."""

_STRAIGHTS = {
    (1, 2, 3): LOW_STORM,
    (2, 3, 4): STORMS[0],
    (3, 4, 5): STORMS[1],
    (4, 5, 6): HIGH_STORM,
    (1, 5, 6): STORMS[1],
    (1, 2, 6): STORMS[0],
}
"""All storms; 5-6-1 and 6-1-2 wrap around."""

_STORM_SCORES = {LOW_STORM: 2, STORMS[0]: 3, STORMS[1]: 4, HIGH_STORM: 5}
"""The sum of the dice divided by three."""

THROWS: tuple[Dice, ...] = tuple(product(range(1, 7), repeat=3))
"""All 216 throws, each as likely as any other."""


def read(dice: Dice) -> str:
    """Return the reading of three dice."""
    low, middle, high = sorted(dice)
    if low == high:
        return TRIPS[low - 1]
    if middle in (low, high):
        odd = high if low == middle else low
        return POINTS[odd - 1]
    return _STRAIGHTS.get((low, middle, high), NOTHING)


def read_order(die: int) -> str:
    """Return the reading of the one die that is thrown for the rolling order."""
    return f"order_{die}"


def point_of(reading: str) -> int:
    """Return the odd die of a reading, 0 where there is no pair or no odd die."""
    return POINTS.index(reading) + 1 if reading in POINTS else 0


def trips_of(reading: str) -> int:
    """Return the digit of trips, 0 for any other reading."""
    return TRIPS.index(reading) + 1 if reading in TRIPS else 0


def storm_score_of(reading: str) -> int:
    """Return the storm score, 0 for what is no storm."""
    return _STORM_SCORES.get(reading, 0)


def score_of(reading: str, *, storm_scores: bool) -> int:
    """Return what a throw adds to the thrower's points in a turn.

    Only points and plain storms add anything, storms where the table plays so.
    """
    return point_of(reading) or (storm_score_of(reading) if storm_scores else 0)


def survives(reading: str, bar: int) -> bool:
    """Return whether a throw survives a Death Roll: trips match the bar, storms are above it."""
    return storm_score_of(reading) > bar or trips_of(reading) >= bar


def award_of(reading: str) -> int:
    """Return what a survivor gets for his throw: his own trip digit, or his storm score."""
    return trips_of(reading) or storm_score_of(reading)
