"""Chance of the service's own: dice from the system's generator, nonces from the draw key.

A nonce is derived and never stored, so every process that has the key finds the same one, before a
restart and after it.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from croupier.domain.dice import Dice
from croupier.domain.draws import NONCE_BYTES
from croupier.services.files import read

KEY_BYTES_LEAST = 16
KEY_BYTES = 32
_SALT = b"croupier.v1 draw key"

_generator = secrets.SystemRandom()


def draw(count: int) -> Dice:
    """Draw dice from the operating system's cryptographic generator."""
    return tuple(_generator.randint(1, 6) for _ in range(count))


class Nonces:
    """The nonces of a draw key: HKDF-SHA256 (RFC 5869), one for each context."""

    def __init__(self, key: bytes) -> None:
        self._key = hmac.digest(_SALT, key, "sha256")

    def __call__(self, context: str) -> bytes:
        """Return the nonce for a context."""
        nonce = hmac.digest(self._key, context.encode() + b"\x01", "sha256")
        return nonce[:NONCE_BYTES]


def load_key(path: Path) -> bytes:
    """Return the draw key in a file.

    Raises:
        OSError: the file cannot be read, or holds no key.

    """
    key = read(path, "draw_key")
    if len(key) < KEY_BYTES_LEAST:
        msg = f"{path}: a draw key has {KEY_BYTES_LEAST} bytes or more"
        raise OSError(msg)
    return key


def own_key(path: Path) -> bytes:
    """Return the draw key in a file, which is made where there is none.

    Of several processes that make it at once, one does.

    Raises:
        OSError: the file cannot be made or read, or holds no key.

    """
    if not path.exists():
        made = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            _make_key(made)
            with suppress(FileExistsError):
                path.hardlink_to(made)
        except OSError as error:
            msg = f"{path}: {error.strerror}"
            raise OSError(msg) from error
        finally:
            made.unlink(missing_ok=True)
    return load_key(path)


def _make_key(path: Path) -> None:
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
