"""A table of cards over the wire: four callers, a deck, and what is written on its cards."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from croupier.domain.cards import PACK
from croupier.v1 import audit_pb2, events_pb2, play_pb2, tables_pb2, values_pb2
from tests.support.serving import Client, Served, Tokens
from tests.support.stories import furnish, open_table, play

TABLE = "ledgers/casino/tables/cards"
SEATS = ("anna", "bela")
"""In play order; bela deals the first hand."""
ANTE = 100


def shuffled(seed: object) -> tuple[str, ...]:
    """Return a pack in an order of its own for each seed."""
    return tuple(random.Random(f"{seed}").sample(PACK, len(PACK)))


def brought(hand: int, deck: tuple[str, ...]) -> play_pb2.Deal:
    """Return the deal of a hand from a deck that a machine has shuffled."""
    source = values_pb2.Source(kind="device", id="shuffler-7")
    return play_pb2.Deal(hand=hand, deck=play_pb2.Deck(cards=deck, source=source))


def drawn(hand: int) -> play_pb2.Deal:
    """Return the deal of a hand from the deck that the service has shuffled."""
    return play_pb2.Deal(hand=hand, draw=play_pb2.Draw())


def at_table(player: str, command: Message, **more: Any) -> play_pb2.PlayRequest:
    """Return the request to play a command at the table of cards."""
    return play("cards", player, command, **more)


def moved(player: str, move: play_pb2.Move, **more: Any) -> play_pb2.PlayRequest:
    """Return the request to play a move as it was listed."""
    return at_table(player, getattr(move, move.WhichOneof("command")), **more)


def open_cards(table: str = "cards", **more: Any) -> tables_pb2.OpenTableRequest:
    """Return the request to open a table of Royal Casino."""
    given = {
        "game": "royal_casino",
        "seats": SEATS,
        "banker": "",
        "options": {"ante": ANTE},
    }
    return open_table(table, **given | more)


@dataclass(slots=True)
class Room:
    """A server with one caller of each role, and one for each player."""

    served: Served
    callers: dict[str, Client] = field(default_factory=dict)

    @property
    def operator(self) -> Client:
        """Return who runs the casino."""
        return self.callers["operator"]

    async def table(self) -> tables_pb2.Table:
        """Return the table as the operator sees it."""
        return (await self.operator.ask(tables_pb2.GetTableRequest(name=TABLE))).table

    async def act(self, player: str, command: Message, **more: Any) -> list[events_pb2.Event]:
        """Let the operator play a command, and return what it caused as he sees it."""
        return list((await self.operator.ask(at_table(player, command, **more))).receipt.events)

    async def seat(self, *, options: dict[str, Any] | None = None) -> None:
        """Open the table and let everybody ante."""
        await furnish(self.operator)
        await self.operator.ask(open_cards(options={"ante": ANTE} | (options or {})))

    async def ante(self, round_number: int = 1) -> None:
        """Let everybody pay for a match."""
        for seat in SEATS:
            await self.act(seat, play_pb2.Ante(amount=ANTE), round=round_number)

    async def log(self, caller: str = "operator") -> list[events_pb2.Event]:
        """Return the whole log as a caller may see it."""
        request = audit_pb2.ListEventsRequest(parent="ledgers/casino", page_size=1000)
        return list((await self.callers[caller].ask(request)).events)


ROLES = ("operator", "dealer", "auditor", "ops")


def room_tokens(tokens: Tokens) -> dict[str, str]:
    """Return the tokens of everybody in the room, by name: a role, or a player."""
    held = {role: tokens.new(f"{role}-1", role) for role in ROLES}
    return held | {seat: tokens.new(f"seat-{seat}", "player", players=(seat,)) for seat in SEATS}


async def room_of(served: Served, held: dict[str, str]) -> Room:
    """Return the room of a server."""
    return Room(served, {name: await served.client(token) for name, token in held.items()})


def hand_of(table: tables_pb2.Table, player: str) -> tuple[str, ...] | None:
    """Return the cards that a view shows of a player's hand, None if it shows none."""
    name = f"hand_of_{player}"
    if name not in table.details:
        return None
    return tuple(one.string_value for one in table.details[name].list_value.values)
