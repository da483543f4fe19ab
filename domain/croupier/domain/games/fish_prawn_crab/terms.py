"""What a table is opened with: the options of Fish-Prawn-Crab, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from croupier.domain.errors import Reason, Refused
from croupier.domain.event import (
    Value,
)
from croupier.domain.games.fish_prawn_crab.places import LINES
from croupier.domain.games.options import Option
from croupier.domain.money import AMOUNT_MAX, Odds
from croupier.domain.paytable import Paytable

PAYS_MAX = 1000

_PAYS = (
    *(1, 1),  # small, big
    *(1, 2, 3),  # three armies: one, two, three dice
    *(1, 3, 20),  # one, two, three dice of a named colour
    7,  # three dice of any colour
    *(150, 24),  # a named triple, any triple
    *(50, 18, 14, 12, 8, 6, 6),  # totals 4 to 10
    *(6, 6, 8, 12, 14, 18, 50),  # totals 11 to 17
)


def pays_option(line: str) -> str:
    """Return the name of the option that prices a line of the paytable."""
    return f"pays_{line}"


OPTIONS = (
    Option(
        "void_bets",
        "carry",
        "what a void throw does to the bets: they stand for the next shake, or go back",
        choices=("carry", "refund"),
    ),
    Option("min", 1, "the least stake of a bet, minor units", least=1, most=AMOUNT_MAX),
    Option("max", AMOUNT_MAX, "the largest stake of a bet, minor units", least=1, most=AMOUNT_MAX),
    *(
        Option(
            pays_option(line),
            pays,
            f'what {line.replace("_", " ")} pays, "x to 1"',
            least=1,
            most=PAYS_MAX,
        )
        for line, pays in zip(LINES, _PAYS, strict=True)
    ),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {"macau": {}}


@dataclass(frozen=True, slots=True)
class Terms:
    """The options, typed. `pays` is "x to 1" by line, in the order of `LINES`."""

    pays: tuple[int, ...]
    carries: bool
    least: int
    most: int

    @classmethod
    def of(cls, options: Mapping[str, Value]) -> Terms:
        """Return the terms of resolved options."""
        return cls(
            pays=tuple(int(options[pays_option(line)]) for line in LINES),
            carries=options["void_bets"] == "carry",
            least=int(options["min"]),
            most=int(options["max"]),
        )

    @property
    def paytable(self) -> Paytable:
        """Return what each line pays."""
        pairs = zip(LINES, self.pays, strict=True)
        return Paytable({line: Odds(profit) for line, profit in pairs})

    def check(self) -> None:
        """Refuse limits between which there is no stake."""
        if self.most < self.least:
            raise Refused(
                Reason.INVALID_OPTION,
                f"no stake is at least {self.least} and at most {self.most}",
                field="options.max",
                option="max",
                least=self.least,
            )
