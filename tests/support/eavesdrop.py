"""What is secret at a table of cards at any moment, and whether anything that was sent tells it.

The truth is read from the engine, past all that the service does, and folded here once
more, in a few lines: which cards lie open, who holds which, which nobody has been dealt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from croupier.domain.draws import deck_of
from croupier.v1 import audit_pb2, events_pb2, play_pb2, tables_pb2
from tests.support.cards import SEATS, TABLE, hand_of
from tests.support.engines import records
from tests.support.serving import Refusal

CARD = re.compile(r"\b(?:10|[2-9AJQK])[SHDC]\b")
PLAYS = ("cards_captured", "build_created", "build_extended", "build_raised", "card_trailed")
MOVES = {"capture", "create_build", "add_to_build", "raise_build", "trail"}
HIDING = ("deck_brought", "deck_drawn", "hand_dealt")


@dataclass(slots=True)
class Truth:
    """What is so at a table now; `since` is the position at which the open hand began."""

    records: list[bytes]
    version: int = 0
    since: int | None = None
    open_cards: set[str] = field(default_factory=set)
    held: dict[str, set[str]] = field(default_factory=dict)
    undealt: list[str] = field(default_factory=list)
    tokens: list[bytes] = field(default_factory=list)
    """What the deck, or a hand, could be found out by."""

    @classmethod
    def of(cls, data: Path, table: str = "cards") -> Truth:
        """Return what is so at a table of the ledger of a service whose folder is `data`."""
        truth = cls(records(data, "casino"))
        for record in truth.records:
            event = events_pb2.Event.FromString(record)
            if event.stream == f"tables/{table}":
                truth._fold(event)
        return truth

    def _fold(self, event: events_pb2.Event) -> None:
        kind = event.WhichOneof("payload") or ""
        fact: Any = getattr(event, kind)
        self.version = event.version
        if kind in HIDING[:2]:
            self.since = event.position
            self.undealt = list(fact.deck if kind == "deck_brought" else deck_of(fact.nonce))
            self.tokens = [event.request_digest]
            if kind == "deck_drawn":
                self.tokens.append(fact.nonce)
        if kind in HIDING:
            assert len(event.salt) == 16
            self.tokens.append(event.salt)
        else:
            assert not event.salt
        if kind == "hand_dealt":
            self.open_cards |= set(fact.table)
            for dealt in fact.hands:
                self.held.setdefault(dealt.player, set()).update(dealt.cards)
            gone = self.open_cards.union(*self.held.values())
            self.undealt = [card for card in self.undealt if card not in gone]
        elif kind in PLAYS:
            self.held[fact.player].remove(fact.card)
            self.open_cards.add(fact.card)
        elif kind in ("hand_scored", "round_voided"):
            self.since, self.tokens = None, []
            self.open_cards, self.held, self.undealt = set(), {}, []

    def visible(self, eyes: frozenset[str] | None) -> set[str]:
        """Return the cards of the open hand that somebody may know of."""
        mine = (cards for player, cards in self.held.items() if eyes is None or player in eyes)
        return self.open_cards.union(*mine)

    def is_over(self, event: events_pb2.Event) -> bool:
        """Return whether an event hides nothing any more."""
        return self.since is None or event.position < self.since


def check(truth: Truth, eyes: frozenset[str] | None, request: Message, response: Message) -> None:
    """Check that a response tells all that the caller may see now, and nothing besides."""
    raw = response.SerializeToString()
    for token in truth.tokens:
        assert token not in raw, type(response)
    told: set[str] = set()
    for part, over in _parts(response, truth):
        if isinstance(part, events_pb2.Event):
            _check_event(truth, eyes, part)
        elif isinstance(part, tables_pb2.Table) and part.name == TABLE:
            _check_view(truth, None if over else eyes, part, over=over)
        elif isinstance(part, play_pb2.PlayResponse):
            _check_allowed(truth, eyes, part)
        elif isinstance(part, play_pb2.ListMovesResponse) and part.moves:
            assert eyes is None or part.player in eyes
        if not over:
            told |= _cards_in(part)
    _check_told(truth, eyes, request, told)


def check_refusal(
    truth: Truth, eyes: frozenset[str] | None, request: Message, refusal: Refusal
) -> None:
    """Check that a refusal tells nothing that the caller may not see."""
    said = f"{refusal}"
    _check_told(truth, eyes, request, set(CARD.findall(said)))
    assert not any(token.hex() in said for token in truth.tokens)


def _check_told(
    truth: Truth, eyes: frozenset[str] | None, request: Message, told: set[str]
) -> None:
    if truth.since is None:
        return
    asked: set[str] = set()
    if not (isinstance(request, play_pb2.PlayRequest) and request.HasField("deal")):
        asked = {card for part, _ in _parts(request, truth) for card in _cards_in(part)}
    assert told <= truth.visible(eyes) | asked, told - truth.visible(eyes) - asked


def _check_event(truth: Truth, eyes: frozenset[str] | None, event: events_pb2.Event) -> None:
    kind = event.WhichOneof("payload")
    record = truth.records[event.position - 1]
    if truth.is_over(event) or kind not in HIDING:
        assert event.SerializeToString(deterministic=True) == record, kind
        return
    assert event.concealed
    assert not event.request_digest
    full = events_pb2.Event.FromString(record)
    for name in ("position", "stream", "version", "type", "caller", "request_id", "round"):
        assert getattr(event, name) == getattr(full, name)
    assert not event.deck_brought.deck
    assert not event.deck_drawn.nonce
    assert event.hand_dealt.table == full.hand_dealt.table
    for shown, dealt in zip(event.hand_dealt.hands, full.hand_dealt.hands, strict=True):
        assert shown.player == dealt.player
        sees = eyes is None or dealt.player in eyes
        assert list(shown.cards) == (list(dealt.cards) if sees else [])


def _check_view(
    truth: Truth, eyes: frozenset[str] | None, table: tables_pb2.Table, *, over: bool
) -> None:
    if over:  # a step of a replay of what is over
        assert all(hand_of(table, player) is not None for player in SEATS)
        return
    _check_allowed(truth, eyes, table)
    for player, cards in truth.held.items():
        shown = hand_of(table, player)
        assert (shown is not None) == (eyes is None or player in eyes), player
        if shown is not None:
            # A replay shows the hand as it was: what was played since lies open.
            assert set(shown) <= cards | truth.open_cards
            assert set(shown) == cards or table.version < truth.version


def _check_allowed(
    truth: Truth, eyes: frozenset[str] | None, answer: tables_pb2.Table | play_pb2.PlayResponse
) -> None:
    """Check that of a hand that is not seen not even the kinds of its moves are told."""
    if truth.since is None or eyes is None:
        return
    for player in {one.player for one in answer.allowed} - eyes:
        kinds = {one.command for one in answer.allowed if one.player == player}
        assert kinds == MOVES, player


def _parts(message: Message, truth: Truth) -> Iterator[tuple[Message, bool]]:
    """Yield a message and all in it, each with whether it tells of what is over."""
    over = False
    if isinstance(message, events_pb2.Event):
        over = truth.is_over(message)
    elif isinstance(message, audit_pb2.ReplayTableResponse):
        over = truth.is_over(message.event)
    yield message, over
    if over and isinstance(message, events_pb2.Event):
        return
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        if descriptor.message_type.GetOptions().map_entry:
            many = [one for one in value.values() if isinstance(one, Message)]
        else:
            many = [value] if isinstance(value, Message) else list(value)
        for one in many:
            for part, part_over in _parts(one, truth):
                yield part, over or part_over


def _cards_in(message: Message) -> set[str]:
    """Return the cards that are named in the texts of a message itself."""
    said = []
    for descriptor, value in message.ListFields():
        if descriptor.message_type is not None and descriptor.message_type.GetOptions().map_entry:
            said += [f"{key} {one}" for key, one in value.items() if isinstance(one, str)]
            said += list(map(str, value))
        elif isinstance(value, str):
            said.append(value)
        elif descriptor.type == descriptor.TYPE_STRING:
            said += value
    return {card for text in said for card in CARD.findall(text)}
