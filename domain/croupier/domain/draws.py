"""Draws that are committed to before anybody bets: a secret nonce, its hash, its dice or deck.

Whoever knows the commitment can check afterwards, from the nonce alone, that the dice were what
they were all along; before, 256 unknown bits keep him from trying out all 216 throws.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import count as counting
from itertools import islice

from croupier.domain.cards import PACK, Card
from croupier.domain.dice import Dice

NONCE_BYTES = 32
FAIR_BYTES = 252
"""Bytes below this are as often each remainder of six; those above are passed over."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A draw that nobody has seen: the hash of its nonce and of what it is for."""

    commitment: bytes
    context: str


def seal(nonce: bytes, context: str) -> Sealed:
    """Return the commitment to a draw: SHA-256 of the nonce followed by the context."""
    return Sealed(sha256(nonce + context.encode()).digest(), context)


def dice_of(nonce: bytes, count: int) -> Dice:
    """Return the dice of a nonce: bytes of HMAC-SHA256(nonce, 0, 1, 2 ...) modulo six."""
    return tuple(1 + byte % 6 for byte in islice(_fair_bytes(nonce), count))


def deck_of(nonce: bytes) -> tuple[Card, ...]:
    """Return the deck of a nonce: the pack, shuffled by Fisher and Yates from the last place on.

    Place 51 and then each before it changes with one of those up to itself: the next byte of
    HMAC-SHA256(nonce, 0, 1, 2 ...) modulo their number, where bytes that would favour some of them
    are passed over.
    """
    deck = list(PACK)
    stream = _bytes(nonce)
    for last in range(len(deck) - 1, 0, -1):
        count = last + 1
        fair = 256 - 256 % count
        other = next(byte for byte in stream if byte < fair) % count
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def _bytes(nonce: bytes) -> Iterator[int]:
    for number in counting():
        yield from hmac.digest(nonce, number.to_bytes(8, "big"), "sha256")


def _fair_bytes(nonce: bytes) -> Iterator[int]:
    return (byte for byte in _bytes(nonce) if byte < FAIR_BYTES)
