"""What a session is made of: who sits where, who does what, and what has to come of it.

Amounts are minor units. Seats are listed clockwise: the next one is the left neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from croupier.domain.commands import Command, KeepBank, PassBank, Roll
from croupier.domain.dice import Source
from croupier.domain.event import (
    Value,
)

DEALER = Source("dealer", "kim")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a round comes to: every net, and where a player banks, what becomes of the bank.

    `next_banker` is "" where the banker has to choose. `beyond` is what the banker paid beyond
    the bank. Where the house banks, it is one of the nets.
    """

    nets: Mapping[str, int]
    bank_left: int = 0
    next_banker: str = ""
    rule: str = ""
    uncovered: int = 0
    carried: int = 0
    beyond: int = 0
    winner: str = ""
    """Who won the pot, in a game that has one."""
    shoot_outs: int = 0


@dataclass(frozen=True, slots=True)
class Round:
    """Commands in order, and what they must come to; then the banker's choice, if he has one."""

    commands: tuple[Command, ...]
    expected: Outcome
    choice: KeepBank | PassBank | None = None
    banks_next: str = ""
    """Who banks after the choice."""


@dataclass(frozen=True, slots=True)
class Session:
    """A table from its opening to its closing. The first seat banks first.

    `purse` is what each player has to own before it begins; what he lacks, he deposits. With a
    `bankroll` the house banks instead, and deposits it before.
    """

    key: str
    title: str
    story: str
    seats: tuple[str, ...]
    currency: str
    purse: int
    rounds: tuple[Round, ...]
    options: Mapping[str, Value] = field(default_factory=dict)
    game: str = "ceelo_bank"
    bankroll: int = 0


def throw(player: str, *dice: int) -> Roll:
    """Return a throw that the dealer read from the table."""
    return Roll(player, dice, DEALER)
