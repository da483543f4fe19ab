"""The Merkle tree over a log (RFC 6962, section 2.1), grown one leaf at a time.

Only the frontier is kept: the roots of the complete subtrees that make up the tree, largest
first. Their sizes are the binary digits of the tree's size, so a frontier of n leaves has as many
hashes as n has ones, and it is all that is needed to append and to know the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

EMPTY_ROOT = sha256(b"").digest()
HASH_SIZE = 32


def leaf_hash(record: bytes) -> bytes:
    """Return the hash of a leaf: SHA-256(0x00 || record)."""
    return sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256(0x01 || left || right)."""
    return sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """A tree of `size` leaves, known by the roots of its complete subtrees, largest first."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        """The number of subtrees is given by the size; anything else is corrupt."""
        if self.size < 0 or len(self.hashes) != self.size.bit_count():
            msg = f"a tree of {self.size} leaves has not {len(self.hashes)} complete subtrees"
            raise ValueError(msg)

    def append(self, leaf: bytes) -> Frontier:
        """Return the frontier of the tree with one more leaf, given by its hash."""
        hashes, size = list(self.hashes), self.size
        while size & 1:
            leaf = node_hash(hashes.pop(), leaf)
            size >>= 1
        hashes.append(leaf)
        return Frontier(self.size + 1, tuple(hashes))

    @property
    def root(self) -> bytes:
        """Return the root hash of the tree."""
        if not self.hashes:
            return EMPTY_ROOT
        *rest, root = self.hashes
        for left in reversed(rest):
            root = node_hash(left, root)
        return root

    def to_bytes(self) -> bytes:
        """Return the hashes joined; the size is kept beside them."""
        return b"".join(self.hashes)

    @classmethod
    def from_bytes(cls, size: int, joined: bytes) -> Frontier:
        """Return the frontier kept as `joined` for a tree of `size` leaves.

        Raises:
            ValueError: these bytes are not the hashes of such a tree's complete subtrees.

        """
        if len(joined) % HASH_SIZE:
            msg = f"{len(joined)} bytes are no whole number of hashes"
            raise ValueError(msg)
        cuts = range(0, len(joined), HASH_SIZE)
        return cls(size, tuple(joined[cut : cut + HASH_SIZE] for cut in cuts))
