"""What the players of a table agreed on: the options of winner-take-all cee-lo, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from croupier.domain.event import (
    Value,
)
from croupier.domain.games.options import Option
from croupier.domain.money import AMOUNT_MAX

OPTIONS = (
    Option("ante", 1, "what each player puts into the pot, minor units", least=1, most=AMOUNT_MAX),
    Option("instant_456", False, "the first 4-5-6 ends the round, nobody throws after it"),
    Option(
        "shootout_ante",
        "none",
        "whether those who tied for the best throw ante again before they throw again",
        choices=("none", "re_ante"),
    ),
    Option(
        "first_thrower",
        "seat_order",
        "who throws first: the first seat, or the winner of the round before; then clockwise",
        choices=("seat_order", "previous_winner"),
    ),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {"standard": {}}


@dataclass(frozen=True, slots=True)
class Terms:
    """The options, typed. `ante` is minor units."""

    ante: int
    instant_456: bool
    re_ante: bool
    winner_first: bool

    @classmethod
    def of(cls, options: Mapping[str, Value]) -> Terms:
        """Return the terms of resolved options."""
        return cls(
            ante=int(options["ante"]),
            instant_456=bool(options["instant_456"]),
            re_ante=options["shootout_ante"] == "re_ante",
            winner_first=options["first_thrower"] == "previous_winner",
        )
