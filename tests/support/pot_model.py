"""A second opinion on winner-take-all cee-lo: the rules as numbers, apart from the game's code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

HIGHEST = 1000


def worth(dice: Iterable[int]) -> int | None:
    """Return a number that is greater for a better throw, None for one that is thrown again."""
    low, middle, high = sorted(dice)
    if (low, middle, high) == (4, 5, 6):
        return HIGHEST
    if (low, middle, high) == (1, 2, 3):
        return 0
    if low == middle == high:
        return 100 + low
    if low == middle:
        return high
    return low if middle == high else None


@dataclass
class Round:
    """What a round came to: the winner, what each put in, who threw again, how many throws."""

    winner: str = ""
    stakes: dict[str, int] = field(default_factory=dict)
    shoot_outs: list[tuple[str, ...]] = field(default_factory=list)
    throws: int = 0

    @property
    def nets(self) -> dict[str, int]:
        pot = sum(self.stakes.values())
        return {
            player: (pot if player == self.winner else 0) - stake
            for player, stake in self.stakes.items()
        }


def play(order, ante, throws, *, instant=False, re_ante=False) -> Round:
    """Return what a round comes to; `throws` are all throws in order, meaningless ones too."""
    coming = iter(throws)
    seen = Round(stakes=dict.fromkeys(order, ante))
    field_of_play = tuple(order)
    while not seen.winner:
        thrown = {}
        for player in field_of_play:
            value = None
            while value is None:
                value = worth(next(coming))
                seen.throws += 1
            thrown[player] = value
            if instant and value == HIGHEST:
                seen.winner = player
                return seen
        most = max(thrown.values())
        field_of_play = tuple(player for player in field_of_play if thrown[player] == most)
        if len(field_of_play) == 1:
            (seen.winner,) = field_of_play
        else:
            seen.shoot_outs.append(field_of_play)
            for player in field_of_play if re_ante else ():
                seen.stakes[player] += ante
    return seen
