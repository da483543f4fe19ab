"""Ledgers in Redis."""

from __future__ import annotations

from collections.abc import Sequence

from croupier.services.store.redis.address import Address
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.reaching import servers_of
from croupier.services.store.redis.recorder import Recorder


class RedisEngine:
    """Ledgers as keys of one server or of one Cluster."""

    name = "redis"

    def __init__(self, address: Address) -> None:
        self._address = address
        self._servers = servers_of(address)
        self._directory = f"{address.prefix}:ledgers"
        self.durability = "fsync"

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers that were ever opened here, sorted."""
        found = self._servers.ask(self._directory, "SMEMBERS", self._directory)
        return sorted(one.decode() for one in found)

    def exists(self, ledger: str) -> bool:
        """Return whether the ledger has keys here."""
        key = self._keys(ledger).head
        return bool(self._servers.ask(key, "EXISTS", key))

    def _keys(self, ledger: str) -> Keys:
        return Keys(self._address.prefix, ledger)

    def open(self, ledger: str) -> Recorder:
        """Return the store of a ledger; its keys are made if they do not exist."""
        recorder = Recorder(self._servers, self._keys(ledger))
        recorder.create()
        self._servers.ask(self._directory, "SADD", self._directory, ledger)
        return recorder

    def close(self) -> None:
        """Let go of every connection."""
        self._servers.close()
