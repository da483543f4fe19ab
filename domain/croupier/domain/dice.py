"""Dice as recorded: in the order observed, each from 1 to 6. Nothing here throws any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.domain.errors import Reason, Refused

Dice = tuple[int, ...]

DRAWN = "service"
"""The kind of a throw's source where the service drew the dice."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a throw comes from: `kind` "device", "dealer" or "service", and who or what it was."""

    kind: str
    id: str = ""


def check_dice(dice: Sequence[int], count: int) -> Dice:
    """Return the dice, or refuse any number of them but `count` and any face but 1 to 6."""
    if len(dice) != count or not all(1 <= die <= 6 for die in dice):
        raise Refused(
            Reason.INVALID_DICE,
            f"a throw is {count} dice from 1 to 6, not {list(dice[:8])}",
            field="roll.dice",
            count=count,
            dice=list(dice[:8]),
        )
    return tuple(dice)
