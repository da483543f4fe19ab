"""Commands of games as messages, to be played alone, in a batch or in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.services.store.mapper import value_to_wire
from croupier.v1 import accounts_pb2, play_pb2, values_pb2
from croupier.v1.play_pb2 import PlayRequest


class Once(TypedDict, total=False):
    """What a request that changes something may carry besides."""

    request_id: str
    """The same id with the same request gets the original receipt."""
    actor: str
    """The dealer, player or person who acted."""
    occurred_time: Timestamp
    """When it happened."""
    not_after: Timestamp
    """Refused if it would be decided later than this."""
    correlation_id: str


class OnceAt(Once, total=False):
    """The same for a request about a stream that exists."""

    expected_version: int
    """Refused unless the stream has this version."""


class Move(OnceAt, total=False):
    """The same for a request that moves money."""

    validate_only: bool
    """Only say whether it would be accepted now; nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose command it is: the table's name, the round it is meant for, the seated player.

    Where the house banks, the dealer plays as "house".
    """

    table: str
    round: int
    player: str

    def post_bank(self, amount: int, **once: Unpack[Move]) -> PlayRequest:
        """Post a bank: `amount` new money, minor units, on top of what the bank carried over."""
        return self._command(once, post_bank=play_pb2.PostBank(amount=amount))

    def fade(self, stake: int, **once: Unpack[Move]) -> PlayRequest:
        """Cover `stake` minor units of the bank."""
        return self._command(once, fade=play_pb2.Fade(stake=stake))

    def ante(self, amount: int, **once: Unpack[Move]) -> PlayRequest:
        """Put the ante of the table, `amount` minor units, into the pot."""
        return self._command(once, ante=play_pb2.Ante(amount=amount))

    def decline(self, **once: Unpack[Move]) -> PlayRequest:
        """Cover nothing of the bank."""
        return self._command(once, decline=play_pb2.Decline())

    def roll(
        self, dice: tuple[int, ...], source: tuple[str, str], **once: Unpack[Move]
    ) -> PlayRequest:
        """Record a throw made elsewhere; its source is "device" or "dealer", and which one."""
        kind, source_id = source
        thrown = play_pb2.Dice(values=dice, source=values_pb2.Source(kind=kind, id=source_id))
        return self._command(once, roll=play_pb2.Roll(dice=thrown))

    def draw(self, **once: Unpack[Move]) -> PlayRequest:
        """Throw dice that the service draws."""
        return self._command(once, roll=play_pb2.Roll(draw=play_pb2.Draw()))

    def keep_bank(self, **once: Unpack[Move]) -> PlayRequest:
        """Bank again, where the banker is offered the choice."""
        return self._command(once, keep_bank=play_pb2.KeepBank())

    def pass_bank(self, **once: Unpack[Move]) -> PlayRequest:
        """Hand the bank to the left neighbour, where the banker is offered the choice."""
        return self._command(once, pass_bank=play_pb2.PassBank())

    def resign_bank(self, **once: Unpack[Move]) -> PlayRequest:
        """Give up the bank before posting."""
        return self._command(once, resign_bank=play_pb2.ResignBank())

    def choose_win(self, **once: Unpack[Move]) -> PlayRequest:
        """Take the win for a High Storm, where its thrower is offered the choice."""
        return self._command(once, choose_win=play_pb2.ChooseWin())

    def choose_death_roll(self, **once: Unpack[Move]) -> PlayRequest:
        """Start a Death Roll instead of the win, where the thrower is offered the choice."""
        return self._command(once, choose_death_roll=play_pb2.ChooseDeathRoll())

    def cover(self, **once: Unpack[Move]) -> PlayRequest:
        """Cover the cup, as the dealer; a round begins."""
        return self._command(once, cover=play_pb2.Cover())

    def press_handle(self, **once: Unpack[Move]) -> PlayRequest:
        """Press the handle of the cup, as the dealer: three times in a round."""
        return self._command(once, press_handle=play_pb2.PressHandle())

    def light_on(self, **once: Unpack[Move]) -> PlayRequest:
        """Switch the light on, as the dealer; betting begins."""
        return self._command(once, light_on=play_pb2.LightOn())

    def place_bet(self, place: str, stake: int, **once: Unpack[Move]) -> PlayRequest:
        """Bet `stake` minor units on a place of the layout: "small", "total_9", "triple_coin"."""
        return self._command(once, place_bet=play_pb2.PlaceBet(place=place, stake=stake))

    def ring_bell(self, **once: Unpack[Move]) -> PlayRequest:
        """Ring the bell, as the dealer; no more bets."""
        return self._command(once, ring_bell=play_pb2.RingBell())

    def open_cup(
        self, dice: tuple[int, ...], source: tuple[str, str], **once: Unpack[Move]
    ) -> PlayRequest:
        """Open the cup, as the dealer, on dice that lie in it; the source is as for `roll`."""
        kind, source_id = source
        found = play_pb2.Dice(values=dice, source=values_pb2.Source(kind=kind, id=source_id))
        return self._command(once, open_cup=play_pb2.OpenCup(dice=found))

    def open_cup_drawn(self, **once: Unpack[Move]) -> PlayRequest:
        """Open the cup, as the dealer, on dice that the service draws."""
        return self._command(once, open_cup=play_pb2.OpenCup(draw=play_pb2.Draw()))

    def void_throw(self, reason: str, **once: Unpack[Move]) -> PlayRequest:
        """Open the cup, as the dealer, on a throw that does not count, for a reason."""
        return self._command(once, open_cup=play_pb2.OpenCup(void=reason))

    def shuffle(self, hand: int, **once: Unpack[Move]) -> PlayRequest:
        """Have the service shuffle the deck of a hand and commit to it, as the dealer."""
        return self._command(once, shuffle=play_pb2.Shuffle(hand=hand))

    def deal(
        self, hand: int, deck: tuple[str, ...], source: tuple[str, str], **once: Unpack[Move]
    ) -> PlayRequest:
        """Deal a hand, as the dealer, from a deck that is brought; the source is as for `roll`."""
        kind, source_id = source
        brought = play_pb2.Deck(cards=deck, source=values_pb2.Source(kind=kind, id=source_id))
        return self._command(once, deal=play_pb2.Deal(hand=hand, deck=brought))

    def deal_drawn(self, hand: int, **once: Unpack[Move]) -> PlayRequest:
        """Deal a hand, as the dealer, from the deck that the service has shuffled."""
        return self._command(once, deal=play_pb2.Deal(hand=hand, draw=play_pb2.Draw()))

    def capture(
        self,
        card: str,
        loose: tuple[str, ...] = (),
        builds: tuple[int, ...] = (),
        **once: Unpack[Move],
    ) -> PlayRequest:
        """Play a card and take loose cards and builds, these by their numbers."""
        taken = play_pb2.Capture(card=card, loose=loose, builds=builds)
        return self._command(once, capture=taken)

    def create_build(
        self, card: str, loose: tuple[str, ...], value: int, **once: Unpack[Move]
    ) -> PlayRequest:
        """Make a build of a value, of a card and loose cards."""
        made = play_pb2.CreateBuild(card=card, loose=loose, value=value)
        return self._command(once, create_build=made)

    def add_to_build(
        self, card: str, build: int, loose: tuple[str, ...] = (), **once: Unpack[Move]
    ) -> PlayRequest:
        """Add a card, alone or with loose cards, to a build at its value."""
        added = play_pb2.AddToBuild(card=card, build=build, loose=loose)
        return self._command(once, add_to_build=added)

    def raise_build(
        self, card: str, build: int, loose: tuple[str, ...] = (), **once: Unpack[Move]
    ) -> PlayRequest:
        """Raise a build by the value of a card."""
        raised = play_pb2.RaiseBuild(card=card, build=build, loose=loose)
        return self._command(once, raise_build=raised)

    def trail(self, card: str, **once: Unpack[Move]) -> PlayRequest:
        """Leave a card on the table."""
        return self._command(once, trail=play_pb2.Trail(card=card))

    def move(self, move: play_pb2.Move, **once: Unpack[Move]) -> PlayRequest:
        """Play a move as `ListMoves` gives it."""
        kind = move.WhichOneof("command") or ""
        return self._command(once, **{kind: getattr(move, kind)})

    def _command(self, once: Move, **command: Any) -> PlayRequest:
        return PlayRequest(
            table=self.table, round=self.round, player=self.player, **once, **command
        )


def values_of(options: Mapping[str, int | str | bool]) -> dict[str, values_pb2.Value]:
    """Return options as their messages."""
    return {name: value_to_wire(value) for name, value in options.items()}


def deposit(
    account: str, currency: str, amount: int, **once: Unpack[Move]
) -> accounts_pb2.DepositRequest:
    """Bring `amount` minor units from outside into a player's or the house's account, by name."""
    return accounts_pb2.DepositRequest(account=account, currency=currency, amount=amount, **once)


def withdraw(
    account: str, currency: str, amount: int, **once: Unpack[Move]
) -> accounts_pb2.WithdrawRequest:
    """Take `amount` minor units out of a player's or the house's account, by name."""
    return accounts_pb2.WithdrawRequest(account=account, currency=currency, amount=amount, **once)
