"""What players and dealers ask for at a table: kinds of command, shared by all games.

A command may be refused. Amounts are minor units of the table's currency.
"""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.card_commands import CardCommand
from croupier.domain.dice import Dice, Source
from croupier.domain.draws import Sealed


@dataclass(frozen=True, slots=True)
class PostBank:
    """The banker posts the bank: `amount` new money, on top of what was carried over."""

    player: str
    amount: int


@dataclass(frozen=True, slots=True)
class Fade:
    """A player covers `stake` of the bank."""

    player: str
    stake: int


@dataclass(frozen=True, slots=True)
class Decline:
    """A player covers nothing of the bank."""

    player: str


@dataclass(frozen=True, slots=True)
class Ante:
    """A player puts the ante that all agreed on into the pot."""

    player: str
    amount: int


@dataclass(frozen=True, slots=True)
class Roll:
    """A player throws the dice; the dice are an input, whoever threw or drew them."""

    player: str
    dice: Dice
    source: Source


@dataclass(frozen=True, slots=True)
class KeepBank:
    """The banker, offered the choice, banks again."""

    player: str


@dataclass(frozen=True, slots=True)
class PassBank:
    """The banker, offered the choice, hands the bank to his left neighbour."""

    player: str


@dataclass(frozen=True, slots=True)
class ResignBank:
    """The banker gives up the bank before posting; it goes to his left neighbour."""

    player: str


@dataclass(frozen=True, slots=True)
class ChooseWin:
    """The thrower of a High Storm, offered the choice, takes the win."""

    player: str


@dataclass(frozen=True, slots=True)
class ChooseDeathRoll:
    """The thrower of a High Storm, offered the choice, starts a Death Roll instead."""

    player: str


@dataclass(frozen=True, slots=True)
class Cover:
    """The dealer puts the lid on the cup and fastens it; a round begins."""

    player: str


@dataclass(frozen=True, slots=True)
class PressHandle:
    """The dealer presses the handle of the cup, which shakes the dice.

    `draw` is what the service commits to with the last press, for a cup that is opened on it.
    """

    player: str
    draw: Sealed | None = None


@dataclass(frozen=True, slots=True)
class LightOn:
    """The dealer puts the cup on the table and switches the light on; betting begins."""

    player: str


@dataclass(frozen=True, slots=True)
class PlaceBet:
    """A player bets `stake` on a place of the layout."""

    player: str
    place: str
    stake: int


@dataclass(frozen=True, slots=True)
class RingBell:
    """The dealer rings the bell; no more bets."""

    player: str


@dataclass(frozen=True, slots=True)
class OpenCup:
    """The dealer lifts the lid and reads the dice; with a reason, the throw is `void` instead.

    With a `nonce` the dice are those of the draw that was committed to.
    """

    player: str
    dice: Dice
    source: Source
    void: str = ""
    nonce: bytes = b""


Command = (
    PostBank
    | Fade
    | Decline
    | Ante
    | Roll
    | KeepBank
    | PassBank
    | ResignBank
    | ChooseWin
    | ChooseDeathRoll
    | Cover
    | PressHandle
    | LightOn
    | PlaceBet
    | RingBell
    | OpenCup
    | CardCommand
)
