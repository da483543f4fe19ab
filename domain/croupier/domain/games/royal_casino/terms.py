"""What the players of a table agreed on: the options of Royal Casino, typed."""

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

TARGET_LEAST = 4
"""The lowest target: the conditions begin three points below it, and nobody begins with one."""

TARGET_MAX = 1000

OPTIONS = (
    Option(
        "ante",
        100,
        "what every player puts into the pot of a match, minor units",
        least=1,
        most=ANTE_MAX,
    ),
    Option("stakes", "pot", "what is played for: the winners take all antes", choices=("pot",)),
    Option(
        "target",
        21,
        "how many points win a match; three, two and one below it the conditions hold",
        least=TARGET_LEAST,
        most=TARGET_MAX,
    ),
    Option(
        "direction",
        "counter_clockwise",
        "which way cards, turns and the deal go round the table",
        choices=("counter_clockwise", "clockwise"),
    ),
    Option(
        "all_matching",
        True,
        "who captures takes all loose cards of the rank he plays; else one of them is enough",
    ),
    Option("partner_add", False, "cards may be added to a partner's build"),
    Option("partner_raise", False, "a partner's single build may be raised"),
    Option("raise_own", False, "a player may raise his own single build"),
    Option(
        "raise_absorbs", False, "loose groups of the new value may join a build as it is raised"
    ),
    Option("same_value_builds", True, "two builds of one value may lie on the table"),
    Option("final_sweep", True, "a sweep with the last card of the pack counts"),
    Option(
        "win_at_20",
        "little_casino",
        "what wins for a side one point below the target",
        choices=("little_casino", "most_spades"),
    ),
    Option(
        "near_target_scoring",
        "accumulate_cap20",
        "the points of a side close to the target that misses its condition: "
        "they count up to one below the target, or not at all",
        choices=("accumulate_cap20", "frozen"),
    ),
    Option(
        "double_auto",
        "overtime",
        "when two sides meet their conditions in one hand: further hands decide, "
        "or the order of scoring",
        choices=("overtime", "scoring_order"),
    ),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {"standard": {}}


@dataclass(frozen=True, slots=True)
class Terms:
    """The options, typed. The ante is minor units."""

    ante: int
    target: int
    clockwise: bool
    all_matching: bool
    partner_add: bool
    partner_raise: bool
    raise_own: bool
    raise_absorbs: bool
    same_value_builds: bool
    final_sweep: bool
    spades_win_at_20: bool
    frozen_near_target: bool
    scoring_order_decides: bool

    @classmethod
    def of(cls, options: Mapping[str, Value]) -> Terms:
        """Return the terms of resolved options."""
        return cls(
            ante=int(options["ante"]),
            target=int(options["target"]),
            clockwise=options["direction"] == "clockwise",
            all_matching=bool(options["all_matching"]),
            partner_add=bool(options["partner_add"]),
            partner_raise=bool(options["partner_raise"]),
            raise_own=bool(options["raise_own"]),
            raise_absorbs=bool(options["raise_absorbs"]),
            same_value_builds=bool(options["same_value_builds"]),
            final_sweep=bool(options["final_sweep"]),
            spades_win_at_20=options["win_at_20"] == "most_spades",
            frozen_near_target=options["near_target_scoring"] == "frozen",
            scoring_order_decides=options["double_auto"] == "scoring_order",
        )

    @property
    def paytable(self) -> Paytable:
        """Return even money alone: antes are equal, and the winners take the pot by no odds."""
        return Paytable({"even": Odds(1)})
