"""Wake-ups between processes: hints, and never more than that.

A process that commits says so, and others that are watched look at once instead of when they next
ask for themselves. Nothing rests on it: a message that is lost, late, doubled or false costs time
or a look in vain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from croupier.services.config import OFF, Settings
from croupier.services.store.redis_address import KINDS, parse


class Wakeups(Protocol):
    """Who is told of commits and runs for as long as the process."""

    def committed(self, ledger: str, position: int) -> None:
        """Let others know that a ledger's log ends at a position."""
        ...

    async def run(self) -> None:
        """Pass on what is heard, until cancelled."""
        ...


class NoWakeups:
    """There is no channel: others ask for themselves."""

    def committed(self, ledger: str, position: int) -> None:
        """Do nothing."""

    async def run(self) -> None:
        """Do nothing."""


def wakeups_of(settings: Settings, heard: Callable[[str], None]) -> Wakeups:
    """Return the wake-ups that settings ask for.

    With ledgers in Redis and other processes beside this one, they come from the same server.
    """
    url = settings.wakeups
    if url is None and settings.peers and settings.engine.partition(":")[0] in KINDS:
        url = settings.engine
    if url is None or url == OFF:
        return NoWakeups()
    from croupier.services.redis_wakeups import RedisWakeups  # noqa: PLC0415  # it loads the driver, which only who uses Redis pays for

    return RedisWakeups(parse(url), heard)
