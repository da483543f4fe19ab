"""What a game must be able to say. A game is a value with pure functions and no memory.

    decide   a command -> the facts it causes, or a refusal    runs once, when it is accepted
    follow   the facts that follow by themselves               runs again on every replay
    outcome  what is owed now                                  runs again on every replay
    fold     one fact -> the next state, never refuses         runs again on every replay

A change that makes any of those that run again, or `paytable`, read old facts differently is a new
`edition`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from croupier.domain.commands import Command
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.options import Option
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome

S = TypeVar("S")

Detail = int | str | bool | tuple[int | str, ...]
"""A value of a game's state as shown to callers."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a game is opened with: seats clockwise or in play order, options, who banks first.

    `bankroll` is what the house puts at risk, minor units, where the house banks.
    """

    seats: tuple[str, ...]
    options: Mapping[str, Value]
    banker: str
    bankroll: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """Money of `player` in the table's escrow, `amount` minor units, as `purpose`."""

    player: str
    amount: int
    purpose: str


@dataclass(frozen=True, slots=True)
class SeatView:
    """One seat as shown: what it has at risk and how it stands in the round."""

    player: str
    at_risk: int
    stake: int
    standing: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """A command that a player may play now, called as in the API: "fade".

    Where it carries an amount, `field` names it and `least` and `most` are its bounds, minor units
    (a player may have less); of "dice" they are how many, of a text how long. Where it carries a
    choice, `choices` are all there are; beside an amount `choice_field` names it, and the bounds
    hold for each of these choices.
    """

    player: str
    command: str
    field: str = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    choice_field: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A game's state as shown: its phase, and every command that its rules allow now."""

    phase: str
    allowed: tuple[Allowed, ...]
    seats: tuple[SeatView, ...]
    details: Mapping[str, Detail] = field(default_factory=dict)

    @property
    def to_act(self) -> tuple[str, ...]:
        """Return who may act, in the order of `allowed`."""
        return tuple(dict.fromkeys(one.player for one in self.allowed))

    @property
    def expects(self) -> tuple[str, ...]:
        """Return which commands may be played by anybody, in the order of `allowed`."""
        return tuple(dict.fromkeys(one.command for one in self.allowed))


@dataclass(frozen=True, slots=True)
class Quote:
    """The exact odds of a bet on one place of a game, for one unit staked.

    `on` is what the place is for (a face, a colour, a total), None where there is one of its kind.
    `pays` is the profit of a win, on average where wins pay differently. `edge` is what the house
    or the banker gains on average; the player gains as much less.
    """

    place: str
    on: int | str | None
    win: Fraction
    push: Fraction
    pays: Fraction
    edge: Fraction


class Game(Protocol[S]):
    """The rules of one game."""

    code: str
    """The folder's name, stored in `TableOpened`."""
    title: str
    edition: int
    state_type: type[S]
    """The state's class: frozen, with fields of plain values, tuples, mappings and such classes."""
    options: tuple[Option, ...]
    presets: Mapping[str, Mapping[str, Value]]
    """Named settings of options; the first is the default."""

    def open(self, setup: Setup) -> S:
        """Return the state of a table just opened, or refuse seats or banker."""
        ...

    def paytable(self, options: Mapping[str, Value]) -> Paytable:
        """Return the odds of every line that can win under these options."""
        ...

    def quotes(self, options: Mapping[str, Value]) -> tuple[Quote, ...]:
        """Return the exact odds of every place under these options, by the rules that play uses.

        It is empty where players play for a pot, against each other and not against odds.
        """
        ...

    def decide(self, state: S, command: Command) -> tuple[Fact, ...]:
        """Return at least one fact, or raise `Refused`. `command.player` is seated."""
        ...

    def follow(self, state: S) -> tuple[Fact, ...]:
        """Return what happens by itself in this state; empty when somebody has to act.

        It is empty, as `outcome` is None, between the facts of one command.
        """
        ...

    def outcome(self, state: S) -> Outcome | None:
        """Return what is owed now, or None. Folding the payouts must clear it."""
        ...

    def fold(self, state: S, fact: Fact) -> S:
        """Return the state after a recorded fact. Never raises.

        A payout by a rule of the table itself (it closes, the round is void) returns one whole
        holding. After `RoundVoided` no round is open and nothing is held.
        """
        ...

    def holdings(self, state: S) -> tuple[Holding, ...]:
        """Return whose money the table holds; the sum is exactly what its escrow contains."""
        ...

    def in_round(self, state: S) -> bool:
        """Return whether a round is open: from its first stake until nothing is owed from it."""
        ...

    def allowed(self, state: S) -> tuple[Allowed, ...]:
        """Return every command that the rules allow now: exactly those that `decide` accepts."""
        ...

    def view(self, state: S) -> View:
        """Return the state as shown to callers.

        `allowed` and `decide` say the same: a command is allowed exactly if it is not refused.
        """
        ...


# --- where not everybody may see everything ------------------------------------------------------

Eyes = frozenset[str] | None
"""Whose hands somebody may see: those of these players; None means everybody's."""

NOBODYS: frozenset[str] = frozenset()
"""The eyes of somebody who may see what lies open, and no hand."""


@runtime_checkable
class Secretive(Protocol):
    """What a game has beyond `Game` if players hold what others may not see.

    What nobody may see yet, as the order of the deck, not even `eyes` of None see. When it is over
    (a hand is scored, a round is void) everybody may see everything.
    """

    secrets: frozenset[type]
    """The kinds of facts that can hold something to conceal.

    What a command that brings such a thing causes is all of these kinds: of other facts everything
    is shown, the digest of the command too.
    """

    def seen(self, state: Any, eyes: Eyes) -> View:
        """Return the state as these eyes may see it."""
        ...

    def conceal(self, state: Any, fact: Fact, eyes: Eyes) -> Fact:
        """Return any fact of the table's past without what these eyes may not see yet.

        `state` is the table's as it is now. A fact of which nothing is concealed is returned as it
        is, the same object.
        """
        ...

    def moves(self, state: Any, start: int = 0) -> Iterator[Command]:
        """Yield every command that the player to move may play now, each one once.

        They are in an order that depends on the state alone, from number `start` (from 0) on. Where
        a phase has no such commands it yields none.
        """
        ...


def secretive(game: Game[Any]) -> Secretive | None:
    """Return what a game has beyond others if players hold secrets, else None."""
    # Asked for every answer of every game, so it is looked up once for each.
    return _secretive(cast("Hashable", game))


@cache
def _secretive(game: Hashable) -> Secretive | None:
    return game if isinstance(game, Secretive) else None


# --- where the house banks ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Possible:
    """One outcome that a throw can have: in how many `ways`, and what the house nets by it."""

    dice: tuple[int, ...]
    ways: int
    net: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """What a round can come to for the house by all bets that stand now, minor units."""

    bankroll: int
    staked: int
    outcomes: tuple[Possible, ...]

    @property
    def worst(self) -> int:
        """Return the lowest net that an outcome can have for the house."""
        return min(one.net for one in self.outcomes)

    @property
    def best(self) -> int:
        """Return the highest net that an outcome can have for the house."""
        return max(one.net for one in self.outcomes)

    @property
    def expected(self) -> Fraction:
        """Return the house's net on average, exactly."""
        ways = sum(one.ways for one in self.outcomes)
        return Fraction(sum(one.ways * one.net for one in self.outcomes), ways)


@runtime_checkable
class HouseBanked(Protocol):
    """What a game has beyond `Game` if the house banks it, out of the table's own bankroll.

    Its tables have the banker `names.HOUSE`, as whom the dealer plays. Losing stakes go to the
    bankroll, wins are paid from it, and no outcome may require more than it has.
    """

    def bankroll(self, state: Any) -> int:
        """Return what the table's bankroll contains, exactly."""
        ...

    def exposure(self, state: Any) -> Exposure:
        """Return what every outcome would come to for the house."""
        ...


def house_banked(game: Game[Any]) -> HouseBanked | None:
    """Return what a game has beyond others if the house banks it, else None."""
    return game if isinstance(game, HouseBanked) else None
