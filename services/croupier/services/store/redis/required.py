"""Whether a server is as it has to be, while ledgers are on it: somebody may change that."""

from __future__ import annotations

from threading import Lock

import structlog
from redis import exceptions as theirs

from croupier.services.store.redis import settings
from croupier.services.store.redis.settings import Asked
from croupier.services.store.redis_address import Address

logger = structlog.get_logger()

SETTINGS = frozenset({"appendonly", "appendfsync", "maxmemory-policy"})


class Required:
    """What was last found out about one server, or about whichever is the master now."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = Lock()
        self._server = ""
        self._wrong: dict[str, str] = {}

    @property
    def is_met(self) -> bool:
        """Return whether nothing is known to be wrong with it."""
        return not self._wrong

    def look(self, where: str, server: Asked) -> None:
        """Ask the server that is at an address now, and say so when things begin or end.

        Raises:
            redis.RedisError: it does not answer; what was known stays.

        """
        with self._lock:
            before, self._wrong = self._wrong, self._found(where, server)
            self._server = where
            if self._wrong and self._wrong != before:
                why = "; ".join(self._wrong.values())
                logger.error("redis is not as required", server=where, why=why)
            elif before and not self._wrong:
                logger.info("redis is as required again", server=where)

    def _found(self, where: str, server: Asked) -> dict[str, str]:
        try:
            said = settings.info(server)
        except theirs.NoPermissionError:
            said = {}
        known = settings.known(said, settings.config(server))
        found = settings.wrong(known, self._address)
        if "redis_version" in said and (why := settings.too_old(said)):
            found["version"] = why
        if where != self._server:
            return found
        # What was wrong with the same server, and cannot be asked any more, is so still.
        hidden = self._wrong.keys() & (SETTINGS - known.keys())
        stays = {name: self._wrong[name] for name in hidden}
        if "appendonly" in self._wrong and settings.is_being_written(said):
            stays["appendonly"] = self._wrong["appendonly"]
        return {**stays, **found}
