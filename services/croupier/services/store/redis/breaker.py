"""Keeps a server that does not answer from being asked again and again.

Turns run on the event loop, and so do the calls of a store. A server that is stalled costs the loop
one time-out; after it everybody is told at once that it is away, and a thread asks until it answers
again. So an outage stops the loop once, and for no longer than the time-out.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic

import structlog
from eventsourcing.persistence import OperationalError

from croupier.services.store.redis.errors import said

logger = structlog.get_logger()

PAUSE_S, PAUSE_MAX_S = 0.02, 1.0
"""Between two attempts to reach the server, at first and at most, seconds."""


class Breaker:
    """Open while a server is away; `probe` raises for as long as it is."""

    def __init__(self, name: str, probe: Callable[[], None]) -> None:
        self._name = name
        self.probe = probe
        self._since = 0.0
        self._why = ""
        self._lock = Lock()
        self._ended = Event()

    @property
    def is_open(self) -> bool:
        """Return whether the server is away."""
        return bool(self._why)

    def check(self) -> None:
        """Refuse to ask a server that is away.

        Raises:
            OperationalError: it is; nothing was sent.

        """
        if self._why:
            away_s = monotonic() - self._since
            msg = f"{self._name} has not answered for {away_s:.1f} s: {self._why}"
            raise OperationalError(msg)

    def trip(self, error: Exception) -> None:
        """Remember that the server did not answer, and ask it from now on until it does."""
        with self._lock:
            if self._why or self._ended.is_set():
                return
            self._since = monotonic()
            self._why = said(error)
        logger.error("redis is away", server=self._name, why=self._why)
        Thread(target=self._ask, daemon=True, name=f"asks for {self._name}").start()

    def _ask(self) -> None:
        pause_s = PAUSE_S
        while not self._ended.is_set():
            try:
                self.probe()
            except Exception as error:  # noqa: BLE001  # whatever it is, the server is not back
                self._why = said(error)
            else:
                away_s = round(monotonic() - self._since, 1)
                logger.info("redis is back", server=self._name, away_s=away_s)
                self._why = ""
                return
            self._ended.wait(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()
