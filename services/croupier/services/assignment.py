"""Which process is best for a ledger: the same answer in every process, client and proxy.

Rendezvous hashing. A ledger belongs to the address for which

    SHA-256(ADDRESS + "/" + LEDGER)

is the largest, compared as bytes; both are UTF-8, ADDRESS is "HOST:PORT" exactly as in `addresses`
of `GetServerInfo`, LEDGER is the ledger's id. The order of the addresses does not matter, and one
that is added or removed moves only the ledgers that it gets or had. The next largest is the next
best, so whoever cannot reach the best address knows where everybody else turns to.

This is about speed only: every process serves every ledger correctly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256


def ranked(addresses: Sequence[str], ledger: str) -> list[str]:
    """Return addresses from the best for a ledger, given by id, to the worst."""
    return sorted(addresses, key=lambda address: _weight(address, ledger), reverse=True)


def best(addresses: Sequence[str], ledger: str) -> str:
    """Return the best of one or more addresses for a ledger, given by id."""
    return max(addresses, key=lambda address: _weight(address, ledger))


def _weight(address: str, ledger: str) -> bytes:
    return sha256(f"{address}/{ledger}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Assignment:
    """This process among those that share its ledgers; `addresses` has `address` too."""

    address: str
    addresses: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """Return the addresses of the other processes."""
        return tuple(one for one in self.addresses if one != self.address)

    def best(self, ledger: str) -> str:
        """Return the address that a ledger, given by id, is assigned to."""
        return best(self.addresses, ledger)

    def is_here(self, ledger: str) -> bool:
        """Return whether a ledger, given by id, is assigned to this process."""
        return self.best(ledger) == self.address
