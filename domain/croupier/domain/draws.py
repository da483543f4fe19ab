"""Draws that are committed to before anybody bets: a secret nonce, its hash, and its dice.

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


def _fair_bytes(nonce: bytes) -> Iterator[int]:
    for number in counting():
        block = hmac.digest(nonce, number.to_bytes(8, "big"), "sha256")
        yield from (byte for byte in block if byte < FAIR_BYTES)
