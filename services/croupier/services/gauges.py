"""Takes the gauges of one process: of the ledgers that it reports, and of itself."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from croupier.domain.errors import Refused
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.sealing import MICROS
from croupier.services.metrics import Metrics


class Gauges:
    """What is looked at now and then, since nobody tells when it changes."""

    def __init__(
        self, ledgers: Ledgers, metrics: Metrics, data: Path, clock: Callable[[], int]
    ) -> None:
        """Report ledgers whose files are in `data`; `clock` gives microseconds since 1970."""
        self._ledgers = ledgers
        self._metrics = metrics
        self._data = data
        self._clock = clock

    def take(self) -> None:
        """Take all of them at once."""
        for ledger in self._ledgers:
            self.take_of(ledger)
        self.take_sums()

    def take_of(self, ledger: Ledger) -> None:
        """Take those of a ledger, if this is the process that reports it."""
        # Each ledger is reported by one process; what others do with it shows in its log.
        if not self._ledgers.is_assigned(ledger.id):
            return
        with contextlib.suppress(Refused):  # a fenced ledger has no state to report
            position, sums = ledger.trial_balance()
            head = ledger.head()
            self._metrics.head(ledger.id, position, head.recorded_us / MICROS)
            self._metrics.fenced(ledger.id, fenced=False)
            for currency, by_kind in sums.items():
                self._metrics.trial_balance(ledger.id, currency, sum(by_kind.values()))
            rounds, since_us = ledger.open_rounds()
            age_us = max(0, self._clock() - since_us) if rounds else 0
            self._metrics.open_rounds(ledger.id, rounds, age_us / MICROS)

    def take_sums(self) -> None:
        """Take those of the process."""
        # What is wrong is reported by whoever sees it.
        for ledger_id in self._ledgers.not_served():
            self._metrics.fenced(ledger_id, fenced=True)
        self._metrics.ledgers_open(len(list(self._ledgers)))
        self._metrics.live_tables(sum(ledger.live_tables for ledger in self._ledgers))
        self._metrics.quote()
        with contextlib.suppress(OSError):  # the folder is away, which its ledgers say
            volume = os.statvfs(self._data)
            free, size = volume.f_bavail, volume.f_blocks
            self._metrics.volume(free * volume.f_frsize, size * volume.f_frsize)
