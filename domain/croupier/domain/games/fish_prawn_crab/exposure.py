"""What the house can win and lose: exactly, for each of the 56 outcomes, at every moment.

The state keeps one sum for each outcome, to which a bet adds its part, so that what a bet costs
does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES, WAYS
from croupier.domain.games.fish_prawn_crab.places import LINES, PLACES, verdict
from croupier.domain.games.fish_prawn_crab.terms import Terms
from croupier.domain.games.protocol import Exposure, Possible

Nets = tuple[int, ...]
"""What the house nets by each outcome, in the order of `OUTCOMES`, minor units."""

NO_BETS: Nets = (0,) * len(OUTCOMES)


class _Unit(NamedTuple):
    """One minor unit on a place: the house's nets, and the profits that it may have to pay."""

    nets: Nets
    profits: tuple[tuple[int, int], ...]
    """(which outcome, profit) wherever the place wins."""


@lru_cache(maxsize=64)
def _units(pays: tuple[int, ...]) -> Mapping[str, _Unit]:
    profit = dict(zip(LINES, pays, strict=True))
    found = {}
    for place in PLACES:
        lines = [verdict(place, dice) for dice in OUTCOMES]
        found[place] = _Unit(
            nets=tuple(-profit[line] if line else 1 for line in lines),
            profits=tuple((at, profit[line]) for at, line in enumerate(lines) if line),
        )
    return MappingProxyType(found)


def profits(pays: tuple[int, ...], place: str) -> tuple[tuple[int, int], ...]:
    """Return which of the `OUTCOMES` a place wins by, as their numbers, and what one unit wins."""
    return _units(pays)[place].profits


def changed(nets: Nets, terms: Terms, place: str, stake: int) -> Nets:
    """Return the nets with `stake` more on a place; with a negative one, so much less."""
    unit = _units(terms.pays).get(place)
    if unit is None:
        return nets
    return tuple(net + stake * one for net, one in zip(nets, unit.nets, strict=True))


def covered(nets: Nets, bankroll: int, terms: Terms, place: str) -> int:
    """Return the largest further stake on a place that the bankroll covers in every outcome.

    What losing bets bring counts: they are collected before winners are paid.
    """
    wins = profits(terms.pays, place)
    return max(0, min((bankroll + nets[at]) // profit for at, profit in wins))


def exposure(nets: Nets, bankroll: int, staked: int) -> Exposure:
    """Return what every outcome would come to."""
    rows = zip(OUTCOMES, WAYS, nets, strict=True)
    return Exposure(bankroll, staked, tuple(Possible(*row) for row in rows))
