"""Cards as recorded: rank and suit, "10S" the ten of spades. Nothing here shuffles any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from croupier.domain.errors import Reason, Refused, shown

Card = str
"""Rank and suit: "AS", "2C" ... "10H", "JD", "QS", "KC"."""

SPADES, CLUBS, HEARTS, DIAMONDS = "S", "C", "H", "D"
SUITS = (SPADES, CLUBS, HEARTS, DIAMONDS)
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")

PACK: tuple[Card, ...] = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
"""All 52 cards, in the order of a new pack as it is counted here: by suit, ace to king."""

_ALL = frozenset(PACK)


def rank_of(card: Card) -> str:
    """Return the rank of a card: "A", "2" ... "10", "J", "Q", "K"."""
    return card[:-1]


def suit_of(card: Card) -> str:
    """Return the suit of a card: "S", "C", "H" or "D"."""
    return card[-1]


def check_cards(cards: Sequence[str], field: str) -> tuple[Card, ...]:
    """Return the cards, or refuse what is no card and one that is named twice."""
    for number, card in enumerate(cards):
        if card not in _ALL:
            raise Refused(
                Reason.INVALID_CARDS,
                f"{shown(card)} is no card; a card is rank and suit, as 10S or AH",
                field=field,
                card=card[:64],
            )
        if card in cards[:number]:
            raise Refused(
                Reason.INVALID_CARDS, f"{card} is named twice", field=field, card=card, rule="twice"
            )
    return tuple(cards)


def check_deck(deck: Sequence[str], field: str) -> tuple[Card, ...]:
    """Return a whole pack in its order, or refuse one with a missing, double or unknown card."""
    try:
        cards = check_cards(deck, field)
    except Refused as refusal:
        values = {key: value for key, value in refusal.metadata.items() if key != "rule"}
        raise Refused(Reason.INVALID_DECK, refusal.message, field=field, **values) from None
    if len(cards) != len(PACK):
        missing = sorted(_ALL - set(cards))
        raise Refused(
            Reason.INVALID_DECK,
            f"a deck is {len(PACK)} cards, {len(cards)} were brought",
            field=field,
            count=len(PACK),
            brought=len(cards),
            missing=",".join(missing[:8]),
        )
    return cards
