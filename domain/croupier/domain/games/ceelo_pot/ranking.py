"""The 14 ranks of a decisive throw, and who shares the best of them.

Source: "Cee-lo", the game without a bank. 4-5-6 is the best throw, 1-2-3 "the lowest possible";
between them triples by their face, then points by the odd die, the pair being irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain.games.ceelo_throws import FOUR_FIVE_SIX, ONE_TWO_THREE, POINTS, TRIPLES

RANKS: tuple[str, ...] = (FOUR_FIVE_SIX, *reversed(TRIPLES), *reversed(POINTS), ONE_TWO_THREE)
"""Every decisive reading, best to worst."""

_PLACES = {reading: place for place, reading in enumerate(RANKS)}


def best(readings: Iterable[str]) -> str:
    """Return the best of decisive readings, "" if there are none."""
    ranked = [reading for reading in readings if reading in _PLACES]
    return min(ranked, key=_PLACES.__getitem__, default="")
