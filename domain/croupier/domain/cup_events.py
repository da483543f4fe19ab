"""Facts of a cup of dice that a dealer covers, shakes and opens for the house."""

from __future__ import annotations

from croupier.domain.dice import Dice, Source
from croupier.domain.event import event


@event("croupier.v1.CupCovered")
class CupCovered:
    """The cup was covered; `carried` are the bets that a void throw before left standing."""

    carried: tuple[int, ...] = ()


@event("croupier.v1.HandlePressed")
class HandlePressed:
    """The handle was pressed, for the `press`th time since the cup was covered."""

    press: int


@event("croupier.v1.DrawCommitted")
class DrawCommitted:
    """The service committed to a draw: SHA-256 of a secret nonce and then of the `context`."""

    commitment: bytes
    context: str


@event("croupier.v1.DrawRevealed")
class DrawRevealed:
    """The nonce of the draw that was committed to; the dice follow from it."""

    nonce: bytes


@event("croupier.v1.LightSwitchedOn")
class LightSwitchedOn:
    """The light went on: place your bets."""


@event("croupier.v1.BetPlaced")
class BetPlaced:
    """A player bet `stake` on a place. `bet` is its number, which no other bet of the table has."""

    bet: int
    player: str
    place: str
    stake: int


@event("croupier.v1.BellRung")
class BellRung:
    """The bell rang: no more bets."""


@event("croupier.v1.CupOpened")
class CupOpened:
    """The cup was opened, and the dice lay flat."""

    dice: Dice
    source: Source


@event("croupier.v1.ThrowVoided")
class ThrowVoided:
    """The cup was opened, and the throw does not count: no bet wins or loses."""

    reason: str


@event("croupier.v1.PlacesLit")
class PlacesLit:
    """The winning places were lit."""

    places: tuple[str, ...]
