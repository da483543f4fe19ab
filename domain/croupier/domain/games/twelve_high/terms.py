"""What the players of a table agreed on: the options of Two Alike 12 High, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from croupier.domain.event import (
    Value,
)
from croupier.domain.games.options import Option
from croupier.domain.money import Odds
from croupier.domain.paytable import Paytable

ANTE_MAX = 10**13
"""The highest ante, minor units: no pot is more than an amount can be."""

TARGET_MAX = 1000

OPTIONS = (
    Option(
        "ante",
        100,
        "what every player puts into the pot, minor units",
        least=1,
        most=ANTE_MAX,
    ),
    Option("target", 12, "how many points win the game", least=1, most=TARGET_MAX),
    Option("reroll_nothing", False, "a throw that is nothing is thrown again in a turn"),
    Option("storm_scores", True, "a plain storm in a turn scores its storm score"),
    Option(
        "bar",
        "fixed",
        "the bar of a Death Roll: the starter's, or rising to what beats it",
        choices=("fixed", "rising"),
    ),
    Option("house_rule", False, "in the first round a High Storm may be played as a Death Roll"),
    Option("house_bar", 5, "the bar of a Death Roll that a High Storm starts", least=1, most=6),
    Option("stakes", "pot", "what is played for: the winner takes all antes", choices=("pot",)),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {"standard": {}, "house": {"house_rule": True}}


@dataclass(frozen=True, slots=True)
class Terms:
    """The options, typed. The ante is minor units."""

    ante: int
    target: int
    reroll_nothing: bool
    storm_scores: bool
    bar_rises: bool
    house_rule: bool
    house_bar: int

    @classmethod
    def of(cls, options: Mapping[str, Value]) -> Terms:
        """Return the terms of resolved options."""
        return cls(
            ante=int(options["ante"]),
            target=int(options["target"]),
            reroll_nothing=bool(options["reroll_nothing"]),
            storm_scores=bool(options["storm_scores"]),
            bar_rises=options["bar"] == "rising",
            house_rule=bool(options["house_rule"]),
            house_bar=int(options["house_bar"]),
        )

    @property
    def paytable(self) -> Paytable:
        """Return even money alone: antes are equal, and the winner takes the pot by no odds."""
        return Paytable({"even": Odds(1)})
