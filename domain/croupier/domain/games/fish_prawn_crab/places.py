"""The layout: 39 places to bet on, and when each of them wins.

A winning place is paid by a line of the paytable. All places but Three Armies have one line each;
that one pays by how many dice show its picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from croupier.domain.dice import Dice
from croupier.domain.games.fish_prawn_crab.dice import (
    COLOURS,
    FACES,
    OUTCOMES,
    PICTURES,
    colour,
    picture,
)

SMALL, BIG = "small", "big"
THREE_ARMIES = "three_armies"
SINGLE_COLOUR, DOUBLE_COLOUR, TRIPLE_COLOUR = "single_colour", "double_colour", "triple_colour"
ANY_TRIPLE_COLOUR = "any_triple_colour"
TRIPLE, ANY_TRIPLE = "triple", "any_triple"
TOTAL = "total"

TOTALS = range(4, 18)
_BY_COUNT = (SINGLE_COLOUR, DOUBLE_COLOUR, TRIPLE_COLOUR)


@dataclass(frozen=True, slots=True)
class Place:
    """A place: its `id` as bets name it, and what `kind` it is on which face, colour or total."""

    id: str
    kind: str
    on: int | str | None = None


def _layout() -> Iterator[Place]:
    yield Place(SMALL, SMALL)
    yield Place(BIG, BIG)
    yield from (Place(f"{THREE_ARMIES}_{picture(face)}", THREE_ARMIES, face) for face in FACES)
    for kind in _BY_COUNT:
        yield from (Place(f"{kind}_{one}", kind, one) for one in COLOURS)
    yield Place(ANY_TRIPLE_COLOUR, ANY_TRIPLE_COLOUR)
    yield from (Place(f"{TRIPLE}_{picture(face)}", TRIPLE, face) for face in FACES)
    yield Place(ANY_TRIPLE, ANY_TRIPLE)
    yield from (Place(f"{TOTAL}_{total}", TOTAL, total) for total in TOTALS)


PLACES = MappingProxyType({place.id: place for place in _layout()})
"""Every place by its id, in the order of the layout."""


def winning_line(place: Place, dice: Dice) -> str:
    """Return the line of the paytable by which a place wins with these dice, "" if it loses."""
    triple, total = len(set(dice)) == 1, sum(dice)
    wins, line = False, place.kind
    match place.kind:
        case kind if kind == SMALL:
            wins = 4 <= total <= 10 and not triple
        case kind if kind == BIG:
            wins = 11 <= total <= 17 and not triple
        case kind if kind == THREE_ARMIES:
            count = sum(face == place.on for face in dice)
            wins, line = count > 0, f"{THREE_ARMIES}_{count}"
        case kind if kind in _BY_COUNT:
            count = sum(colour(face) == place.on for face in dice)
            wins = count == 1 + _BY_COUNT.index(kind)
        case kind if kind == ANY_TRIPLE_COLOUR:
            wins = len({colour(face) for face in dice}) == 1
        case kind if kind == TRIPLE:
            wins = triple and dice[0] == place.on
        case kind if kind == ANY_TRIPLE:
            wins = triple
        case _:
            wins, line = total == place.on, place.id
    return line if wins else ""


LINES = (
    SMALL,
    BIG,
    *(f"{THREE_ARMIES}_{count}" for count in (1, 2, 3)),
    *_BY_COUNT,
    ANY_TRIPLE_COLOUR,
    TRIPLE,
    ANY_TRIPLE,
    *(f"{TOTAL}_{total}" for total in TOTALS),
)
"""Every line of the paytable."""

_VERDICTS = MappingProxyType(
    {
        place.id: MappingProxyType({dice: winning_line(place, dice) for dice in OUTCOMES})
        for place in PLACES.values()
    }
)


def verdict(place_id: str, dice: Dice) -> str:
    """Return the line by which a bet on a place wins, "" if it loses; the dice in any order."""
    return _VERDICTS[place_id][tuple(sorted(dice))]


def lit(dice: Dice) -> tuple[str, ...]:
    """Return the ids of the places that win with these dice, in the order of the layout."""
    return tuple(place for place in PLACES if verdict(place, dice))


assert len(PLACES) == 39  # the rules count them
assert set(PICTURES).isdisjoint(COLOURS)  # or two places would share an id
