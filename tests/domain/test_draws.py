"""Draws committed to: fair dice from a nonce, and a hash that gives nothing away."""

import hmac
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from croupier.domain.cards import PACK
from croupier.domain.draws import deck_of, dice_of, seal

ROOT = Path(__file__).parents[2]


def test_the_commitment_is_the_hash_of_the_nonce_and_of_what_it_is_for():
    sealed = seal(b"n" * 32, "ledgers/l/tables/t/rounds/1")
    assert sealed.commitment == sha256(b"n" * 32 + b"ledgers/l/tables/t/rounds/1").digest()
    assert seal(b"n" * 32, "ledgers/l/tables/t/rounds/2").commitment != sealed.commitment
    assert seal(b"m" * 32, "ledgers/l/tables/t/rounds/1").commitment != sealed.commitment


def test_dice_are_those_that_anybody_finds_by_the_stated_rule():
    nonce = sha256(b"a nonce").digest()
    blocks = [hmac.new(nonce, n.to_bytes(8, "big"), "sha256").digest() for n in range(20)]
    found = [1 + byte % 6 for byte in b"".join(blocks) if byte < 252]
    assert dice_of(nonce, 3) == tuple(found[:3])
    assert dice_of(nonce, 500) == tuple(found[:500])
    assert any(byte >= 252 for byte in b"".join(blocks))  # some were passed over


def test_every_throw_is_as_likely_as_any_other():
    throws = Counter(dice_of(sha256(b"%d" % n).digest(), 3) for n in range(43_200))
    assert len(throws) == 216
    # Chi-squared with 215 degrees of freedom is above 330 once in 10 million.
    assert sum((seen - 200) ** 2 / 200 for seen in throws.values()) < 330


# --- decks ----------------------------------------------------------------------------------------

VECTOR = (
    "KD 7H 3S 2D JH 7S 7C AD QH 5S 10D 6S 6C 10S 5D 7D 9S JD 10H 8D 8S 10C 9C QC 3H KC "
    "AS 9D 4D 6D QS 8H 9H 4H 6H 3C 8C 5H JC AH 2C 2S QD AC 3D 2H JS 4C KH 5C KS 4S"
)
"""The deck of the nonce 00 01 02 ... 1f, from its front; the same stands in docs/audit.md."""


def stated(nonce):
    """Return the deck that anybody finds by the stated rule, written in another way.

    Each place from the last on takes one of the cards not yet placed, and the card of the place
    goes where that one was.
    """
    blocks = (hmac.new(nonce, n.to_bytes(8, "big"), "sha256").digest() for n in range(1_000))
    stream = (byte for block in blocks for byte in block)
    unplaced, placed = [*PACK], []
    while len(unplaced) > 1:
        many = len(unplaced)
        byte = next(stream)
        while byte // many == 256 // many:
            byte = next(stream)
        card = unplaced[byte % many]
        last = unplaced.pop()
        if card != last:
            unplaced[unplaced.index(card)] = last
        placed.append(card)
    return tuple(unplaced + placed[::-1])


def test_the_published_deck_of_a_nonce():
    assert deck_of(bytes(range(32))) == tuple(VECTOR.split())
    assert VECTOR in (ROOT / "docs" / "audit.md").read_text().replace("\n", " ")


def test_decks_are_those_that_anybody_finds_by_the_stated_rule():
    assert PACK[:2] + PACK[12:14] + PACK[-1:] == ("AS", "2S", "KS", "AC", "KD")
    for number in range(300):
        nonce = sha256(b"deck %d" % number).digest()
        assert deck_of(nonce) == stated(nonce)
        assert sorted(deck_of(nonce)) == sorted(PACK)


def test_no_nonce_needs_to_be_of_a_certain_length():
    for nonce in (b"", b"n", bytes(1_000)):
        assert deck_of(nonce) == stated(nonce)


DECKS = 10_400


def chi_squared(seen, expected, count):
    return sum((seen[one] - expected) ** 2 / expected for one in range(count))


def test_every_card_is_as_likely_in_every_place_as_any_other():
    """Of the places there are 52, and of the cards; and of the pairs that lie one on the other."""
    number = {card: at for at, card in enumerate(PACK)}
    places = [Counter() for _ in PACK]
    pairs = Counter()
    for n in range(DECKS):
        deck = [number[card] for card in deck_of(sha256(b"uniform %d" % n).digest())]
        for place, card in zip(places, deck, strict=True):
            place[card] += 1
        pairs.update(52 * above + below for above, below in pairwise(deck))
    # Chi-squared with 51 degrees of freedom is above 130 once in 100 million.
    assert max(chi_squared(place, DECKS / 52, 52) for place in places) < 130
    # With 52 * 51 - 1 it has a mean of 2651 and a deviation of 73; pairs are nearly independent.
    expected = DECKS * 51 / (52 * 51)
    off = sum(
        (pairs[52 * a + b] - expected) ** 2 / expected
        for a in range(52)
        for b in range(52)
        if a != b
    )
    assert abs(off - 2651) < 6 * 73
