"""Draws committed to: fair dice from a nonce, and a hash that gives nothing away."""

import hmac
from collections import Counter
from hashlib import sha256

from croupier.domain.draws import dice_of, seal


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
