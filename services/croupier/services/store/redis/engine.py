"""Ledgers in Redis."""

from __future__ import annotations

from collections.abc import Sequence

from eventsourcing.persistence import DataError, PersistenceError

from croupier.services.store.engine_error import EngineError
from croupier.services.store.redis.checks import check
from croupier.services.store.redis.keys import FORMAT, Directory, Keys
from croupier.services.store.redis.levels import asked
from croupier.services.store.redis.reaching import servers_of
from croupier.services.store.redis.recorder import Recorder
from croupier.services.store.redis_address import Address


class RedisEngine:
    """Ledgers as keys of one server or of one Cluster."""

    name = "redis"

    def __init__(self, address: Address) -> None:
        """Connect, and look whether ledgers are safe there.

        Raises:
            EngineError: they are not, or nobody answers.

        """
        self.where = address.shown
        self.durability = asked(address)
        self._prefix = address.prefix
        self._directory = Directory(address.prefix)
        try:
            self._servers = servers_of(address)
        except PersistenceError as error:
            raise EngineError(f"{address.shown}: {error}") from error
        try:
            self.unknown: Sequence[str] = check(self._servers)
        except BaseException:
            self._servers.close()
            raise

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers that were ever opened here, sorted."""
        key = self._directory.ledgers
        # What is no text is no id of a ledger either, and is left out by whoever asks.
        found = self._servers.ask(key, "SMEMBERS", key)
        return sorted(one.decode(errors="replace") for one in found)

    def exists(self, ledger: str) -> bool:
        """Return whether the ledger has keys here."""
        key = Keys(self._prefix, ledger).head
        return bool(self._servers.ask(key, "EXISTS", key))

    def open(self, ledger: str) -> Recorder:
        """Return the store of a ledger; its keys are made if they do not exist."""
        self._note(ledger)
        recorder = Recorder(self._servers, Keys(self._prefix, ledger))
        recorder.create()
        return recorder

    def _note(self, ledger: str) -> None:
        """Note in the directory that there may be such a ledger, before there is one."""
        form, ledgers = self._directory.format, self._directory.ledgers
        self._servers.ask(form, "SET", form, FORMAT, "NX")
        found = self._servers.ask(form, "GET", form)
        if found != b"%d" % FORMAT:
            msg = f"{form} is not {FORMAT} any more"
            raise DataError(msg)
        self._servers.ask(ledgers, "SADD", ledgers, ledger)

    def close(self) -> None:
        """Let go of every connection."""
        self._servers.close()
