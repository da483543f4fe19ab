"""Facts of a card game in which cards are captured from the table. Cards are called as in `cards`.

What nobody may see while a hand is played (the deck, its nonce, the hands of others) is recorded
like all else; who is shown what, the game says (`Secretive`).
"""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.cards import Card
from croupier.domain.dice import Source
from croupier.domain.event import event


@dataclass(frozen=True, slots=True)
class DealtCards:
    """The cards that a player was dealt."""

    player: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class CapturedBuild:
    """A build that was captured: its number in the hand, its value and all its cards."""

    build: int
    value: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class SideScore:
    """What a side scored in a hand, item by item, in points; `side` is from 0.

    `sweeps` are the points for sweeps that others' did not cancel. `before` and `after` are the
    side's points in the match.
    """

    side: int
    cards: int
    spades: int
    big_casino: int
    little_casino: int
    aces: int
    sweeps: int
    before: int
    after: int


@event("croupier.v1.DeckBrought")
class DeckBrought:
    """The dealer brought the deck of a hand; cards are dealt from its front."""

    hand: int
    dealer: str
    deck: tuple[Card, ...]
    source: Source


@event("croupier.v1.DeckDrawn")
class DeckDrawn:
    """The hand is dealt from the deck that was committed to; its order follows from the nonce."""

    hand: int
    dealer: str
    nonce: bytes


@event("croupier.v1.HandDealt")
class HandDealt:
    """Cards were dealt, for the `deal`th time in a hand: to each player, and to the table.

    To the table only with the first deal.
    """

    hand: int
    deal: int
    hands: tuple[DealtCards, ...]
    table: tuple[Card, ...]


@event("croupier.v1.CardsCaptured")
class CardsCaptured:
    """A player played `card` and captured loose cards and whole builds with it."""

    player: str
    card: Card
    loose: tuple[Card, ...]
    builds: tuple[CapturedBuild, ...]


@event("croupier.v1.BuildCreated")
class BuildCreated:
    """A player played `card` and made a build of it and loose cards; he owns it.

    `build` is its number, which no other build of the hand has. A multiple build has two groups of
    its value or more, a single build one.
    """

    player: str
    build: int
    value: int
    card: Card
    loose: tuple[Card, ...]
    multiple: bool


@event("croupier.v1.BuildExtended")
class BuildExtended:
    """A player added groups of a build's value to it; it is multiple now, and his."""

    player: str
    build: int
    value: int
    card: Card
    loose: tuple[Card, ...]


@event("croupier.v1.BuildRaised")
class BuildRaised:
    """A player raised a single build by the value of `card`; it is his, and of this new `value`."""

    player: str
    build: int
    value: int
    card: Card
    loose: tuple[Card, ...]
    multiple: bool


@event("croupier.v1.CardTrailed")
class CardTrailed:
    """A player left `card` as a loose card on the table."""

    player: str
    card: Card


@event("croupier.v1.TableSwept")
class TableSwept:
    """A capture with `card` left nothing on the table: a sweep for the player's side."""

    player: str
    card: Card


@event("croupier.v1.LeftoversTaken")
class LeftoversTaken:
    """The hand is played out; the loose cards left go to the side of who captured last."""

    player: str
    cards: tuple[Card, ...]


@event("croupier.v1.HandScored")
class HandScored:
    """A hand was counted, side by side.

    In `overtime`, from this hand on or before, the match goes on without conditions until one side
    alone is ahead.
    """

    hand: int
    scores: tuple[SideScore, ...]
    overtime: bool


@event("croupier.v1.MatchWon")
class MatchWon:
    """A side won the match, and with it the pot, in equal parts.

    `rule` is "most_cards", "big_casino", "little_casino" or "most_spades" (the condition of a side
    that began the hand close to the target), "target", or "overtime".
    """

    side: int
    players: tuple[str, ...]
    rule: str
