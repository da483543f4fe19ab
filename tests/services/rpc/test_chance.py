"""Nonces come from the draw key, the same wherever it is, and the key is kept for its owner."""

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from croupier.services.rpc.chance import Nonces, draw, load_key, own_key

CONTEXT = "ledgers/casino/tables/cup/rounds/7"


def test_a_nonce_is_hkdf_of_the_key_and_the_context():
    key = b"a secret of some length"
    derived = HKDF(SHA256(), 32, b"croupier.v1 draw key", CONTEXT.encode()).derive(key)
    assert Nonces(key)(CONTEXT) == derived
    assert Nonces(key)(CONTEXT + "0") != derived
    assert Nonces(key + b"!")(CONTEXT) != derived


def test_a_key_is_made_once_and_for_nobody_else_to_read(tmp_path):
    path = tmp_path / "draw.key"
    key = own_key(path)
    assert len(key) == 32
    assert own_key(path) == load_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["draw.key"]
    assert own_key(tmp_path / "other.key") != key


def test_of_two_that_make_a_key_at_once_both_have_the_same(tmp_path, monkeypatch):
    path = tmp_path / "draw.key"
    first = own_key(path)
    monkeypatch.setattr(type(path), "exists", lambda self: False)  # it came meanwhile
    assert own_key(path) == first
    assert [one.name for one in tmp_path.iterdir()] == ["draw.key"]


def test_what_is_no_key_is_refused(tmp_path):
    (tmp_path / "short").write_bytes(b"x" * 15)
    for name in ("short", "absent"):
        with pytest.raises(OSError, match=name):
            load_key(tmp_path / name)


def test_dice_that_are_drawn_at_once_are_dice():
    assert set(draw(500)) == {1, 2, 3, 4, 5, 6}
