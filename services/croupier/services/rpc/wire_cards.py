"""Commands of card games from the wire, and moves to it.

Cards are checked here, whether they are there is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from google.protobuf.message import Message

from croupier.domain import card_commands as commands
from croupier.domain.cards import PACK, Card, check_cards, check_deck
from croupier.domain.dice import DRAWN, Source
from croupier.domain.draws import seal
from croupier.domain.errors import Reason, Refused
from croupier.v1 import play_pb2

BUILDS_MAX = 26
"""More builds than this cannot lie on a table: each has two cards or more."""

BY_COMMITMENT = Source(DRAWN, "hmac-sha256")
"""Where a deck that the service committed to comes from."""

Nonces = Callable[[str], bytes]


def card_command(
    message: play_pb2.PlayRequest,
    player: str,
    nonces: Nonces,
    source: Callable[[play_pb2.Deck], Source],
) -> commands.CardCommand | None:
    """Return a command of a card game, None where the message has none of them.

    `source` reads where a deck that is brought comes from.
    """
    match message.WhichOneof("command"):
        case "shuffle":
            hand = _hand(message.shuffle.hand, "shuffle.hand")
            context = _context(message, hand)
            return commands.Shuffle(player, hand, seal(nonces(context), context))
        case "deal":
            return _deal(message, player, nonces, source)
        case "capture":
            capture = message.capture
            return commands.Capture(
                player,
                *_played(capture.card, capture.loose, "capture"),
                _builds(capture.builds, "capture.builds"),
            )
        case "create_build":
            create = message.create_build
            cards = _played(create.card, create.loose, "create_build")
            return commands.CreateBuild(player, *cards, create.value)
        case "add_to_build":
            add = message.add_to_build
            card, loose = _played(add.card, add.loose, "add_to_build")
            return commands.AddToBuild(player, card, _build(add.build, "add_to_build"), loose)
        case "raise_build":
            up = message.raise_build
            card, loose = _played(up.card, up.loose, "raise_build")
            return commands.RaiseBuild(player, card, _build(up.build, "raise_build"), loose)
        case "trail":
            return commands.Trail(player, _played(message.trail.card, (), "trail")[0])
        case _:
            return None


_MOVES: dict[type, str] = {
    getattr(commands, one.message_type.name): one.name
    for one in play_pb2.Move.DESCRIPTOR.oneofs_by_name["command"].fields
    if one.message_type is not None
}


def move_to_wire(move: commands.Move) -> play_pb2.Move:
    """Return a move as its message; whose it is, is not in it."""
    kind: Any = type(move)
    values = {one.name: getattr(move, one.name) for one in fields(kind) if one.name != "player"}
    made: Message = getattr(play_pb2, kind.__name__)(**values)
    return play_pb2.Move(**{_MOVES[kind]: made})  # type: ignore[arg-type]  # the field of this kind


def _context(message: play_pb2.PlayRequest, hand: int) -> str:
    """Return what the deck of a hand is for: no two hands have the same."""
    return f"{message.table}/rounds/{message.round}/hands/{hand}"


def _hand(number: int, field: str) -> int:
    if not number:
        raise Refused(Reason.MISSING_FIELD, "hand is required, from 1", field=field)
    if number < 0:
        raise Refused(Reason.INVALID_POSITION, "hands are numbered from 1", field=field)
    return number


def _deal(
    message: play_pb2.PlayRequest,
    player: str,
    nonces: Nonces,
    source: Callable[[play_pb2.Deck], Source],
) -> commands.Deal:
    deal = message.deal
    hand = _hand(deal.hand, "deal.hand")
    match deal.WhichOneof("source"):
        case "deck":
            deck = check_deck(deal.deck.cards[: len(PACK) + 1], "deal.deck.cards")
            return commands.Deal(player, hand, deck, source(deal.deck))
        case "draw":
            nonce = nonces(_context(message, hand))
            return commands.Deal(player, hand, (), BY_COMMITMENT, nonce)
        case _:
            raise Refused(
                Reason.MISSING_FIELD,
                "a deal brings its deck or asks for the one that was shuffled",
                field="deal.source",
            )


def _played(card: str, loose: Sequence[str], command: str) -> tuple[Card, tuple[Card, ...]]:
    """Return the card that is played and the loose cards named with it: all different."""
    if not card:
        raise Refused(Reason.MISSING_FIELD, "card is required", field=f"{command}.card")
    check_cards((card,), f"{command}.card")
    named = check_cards(tuple(loose[: len(PACK) + 1]), f"{command}.loose")
    check_cards((*named, card), f"{command}.loose")
    return card, named


def _build(number: int, command: str) -> int:
    if not number:
        raise Refused(Reason.MISSING_FIELD, "build is required, from 1", field=f"{command}.build")
    return number


def _builds(numbers: Sequence[int], field: str) -> tuple[int, ...]:
    if len(numbers) > BUILDS_MAX or len(set(numbers)) != len(numbers):
        raise Refused(
            Reason.INVALID_CARDS,
            f"each build is named once, and there are no more than {BUILDS_MAX}",
            field=field,
            most=BUILDS_MAX,
        )
    return tuple(numbers)
