"""Looks whether engines are as they have to be, for as long as ledgers are served from them."""

from __future__ import annotations

from croupier.services.housekeeping import for_ever
from croupier.services.ledger.blocking import in_thread
from croupier.services.metrics import Metrics
from croupier.services.store.choosing import Engines

INTERVAL_S = 5.0
"""How long after one look the next begins, seconds."""


class EngineWatch:
    """Looks at the engines of one process, and reports how they are."""

    def __init__(self, engines: Engines, metrics: Metrics) -> None:
        self._engines = engines
        self._metrics = metrics
        metrics.engines(engines.standing())

    async def run(self) -> None:
        """Look again and again, in a thread: a server that stalls keeps nobody else waiting."""
        if self._engines.may_change:
            await for_ever(self._look, INTERVAL_S)

    async def _look(self) -> None:
        await in_thread(self._engines.look_again, "looks at engines")
        self._metrics.engines(self._engines.standing())
