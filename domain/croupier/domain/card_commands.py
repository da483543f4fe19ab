"""What players and dealers ask for at a table of cards. Cards are called as in `cards`."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.cards import Card
from croupier.domain.dice import Source
from croupier.domain.draws import Sealed


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The dealer has the service shuffle the deck of a hand and commit to it, unseen.

    Hands are numbered from 1 through the life of a table, so the number says of which match it is.
    """

    player: str
    hand: int
    draw: Sealed


@dataclass(frozen=True, slots=True)
class Deal:
    """The dealer deals a hand: from a deck that he brings, in its order, or the one shuffled.

    With a `nonce` the deck is the one that was committed to; then `deck` is empty.
    """

    player: str
    hand: int
    deck: tuple[Card, ...]
    source: Source
    nonce: bytes = b""


@dataclass(frozen=True, slots=True)
class Capture:
    """A player plays `card` and takes these loose cards and these builds, by their numbers."""

    player: str
    card: Card
    loose: tuple[Card, ...] = ()
    builds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateBuild:
    """A player plays `card` and makes a build of `value` of it and these loose cards."""

    player: str
    card: Card
    loose: tuple[Card, ...]
    value: int


@dataclass(frozen=True, slots=True)
class AddToBuild:
    """A player adds `card`, alone or with loose cards, to build number `build` at its value."""

    player: str
    card: Card
    build: int
    loose: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class RaiseBuild:
    """A player raises build number `build` by the value of `card`.

    Loose cards of the new value may come along only where the table's options say so.
    """

    player: str
    card: Card
    build: int
    loose: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """A player leaves `card` as a loose card."""

    player: str
    card: Card


Move = Capture | CreateBuild | AddToBuild | RaiseBuild | Trail
"""What a player whose turn it is plays: always exactly one card from his hand."""

CardCommand = Shuffle | Deal | Move
