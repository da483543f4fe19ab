"""The gauges of ledgers, each reported by the process that its ledger is assigned to.

A fence is reported by whoever put it up as well. Beyond `LEDGERS_MAX` ledgers the others share one
label, which shows the worst of them, or the furthest.
"""

from __future__ import annotations

from typing import Any

from prometheus_client import Gauge

from croupier.services.ledger.snapshots import Drop, Kind
from croupier.services.metrics.declaring import Catalogue
from croupier.services.metrics.labels import LEDGERS_MAX, OTHER, UNKNOWN, Currencies, Limited

SNAPSHOTS = frozenset(Kind)
DROPS = frozenset(Drop)
SAME, DIFFERENT = "same", "different"


class LedgerGauges:
    """What is known of each ledger, and of its snapshots."""

    def __init__(self, catalogue: Catalogue, currencies: Currencies) -> None:
        self._catalogue = catalogue
        self._currencies = currencies
        self._ledgers = Limited(LEDGERS_MAX)
        self._furthest = (0, 0.0)
        self._wrong: dict[tuple[Any, ...], dict[tuple[str, ...], float]] = {}
        counter, gauge = catalogue.counter, catalogue.gauge
        catalogue.section("Audit, by ledger")
        self._position = gauge("ledger_head_position", "Last position of a log", "ledger")
        self._recorded = gauge(
            "ledger_head_time_seconds", "When the last event was recorded, Unix time", "ledger"
        )
        self._trial_balance = gauge(
            "ledger_trial_balance_minor_units",
            "Sum of all balances, which must be 0",
            "ledger",
            "currency",
        )
        self._fenced = gauge("ledger_fenced", "Whether a ledger is not served, 1 or 0", "ledger")
        self._unchecked = gauge(
            "ledger_unchecked_events",
            "Events taken from a snapshot at the start and not read again since",
            "ledger",
        )
        self._rounds = gauge(
            "ledger_open_rounds", "Rounds that are neither paid nor void", "ledger"
        )
        self._age = gauge(
            "ledger_oldest_round_age_seconds",
            "How long ago the oldest open round began, 0 without one",
            "ledger",
        )
        catalogue.section("Snapshots")
        self._saved = counter("saved_snapshots_total", "Snapshots saved", "kind")
        self._dropped = counter(
            "dropped_snapshots_total", "Snapshots not used or not saved", "kind", "reason"
        )
        self._rechecked = counter(
            "rechecked_snapshots_total",
            "Snapshots compared with the log in the background",
            "kind",
            "result",
        )
        catalogue.begin(self._saved, Kind)
        catalogue.begin(self._dropped, Kind, Drop)
        catalogue.begin(self._rechecked, Kind, (SAME, DIFFERENT))

    # --- ledgers ---------------------------------------------------------------------------------

    def head(self, ledger: str, position: int, recorded_s: float) -> None:
        """Report the end of a log; of the ledgers that share a label, the furthest."""
        label = self._ledgers.label(ledger)
        if label == OTHER:
            furthest, latest_s = self._furthest
            position, recorded_s = max(furthest, position), max(latest_s, recorded_s)
            self._furthest = (position, recorded_s)
        child = self._catalogue.child
        child(self._position, label).set(position)
        child(self._recorded, label).set(recorded_s)
        child(self._fenced, label)  # a series from the start: 0 until it is fenced

    def trial_balance(self, ledger: str, currency: str, minor_units: int) -> None:
        """Report the sum of a ledger's balances, which must be 0."""
        label = self._currencies.label(currency)
        self._worst(self._trial_balance, ledger, minor_units, label, key=(currency,))

    def fenced(self, ledger: str, *, fenced: bool) -> None:
        """Report whether a ledger is fenced."""
        self._worst(self._fenced, ledger, int(fenced))

    def unchecked(self, ledger: str, events: int) -> None:
        """Report how many events were taken from a snapshot and not read again since."""
        self._worst(self._unchecked, ledger, events)

    def open_rounds(self, ledger: str, count: int, oldest_s: float) -> None:
        """Report how many rounds are open and how long ago the oldest began, 0 without one."""
        self._worst(self._rounds, ledger, count)
        self._worst(self._age, ledger, oldest_s)

    def _worst(
        self, metric: Gauge, ledger: str, value: float, *labels: str, key: tuple[str, ...] = ()
    ) -> None:
        """Set a gauge that is best at 0; what shares a label must not hide each other."""
        label = self._ledgers.label(ledger)
        if OTHER in (label, *labels) or UNKNOWN in labels:
            wrong = self._wrong.setdefault((metric, label, *labels), {})
            wrong.pop((ledger, *key), None)
            if value:
                wrong[ledger, *key] = value
            value = max(wrong.values(), key=abs, default=0)
        self._catalogue.child(metric, label, *labels).set(value)

    # --- snapshots -------------------------------------------------------------------------------

    def snapshots_saved(self, kind: str, count: int) -> None:
        """Count snapshots that were saved."""
        self._catalogue.child(self._saved, _kind(kind)).inc(count)

    def snapshot_dropped(self, kind: str, reason: str) -> None:
        """Count a snapshot that is not used or was not saved."""
        known = reason if reason in DROPS else UNKNOWN
        self._catalogue.child(self._dropped, _kind(kind), known).inc()

    def snapshot_rechecked(self, kind: str, *, same: bool) -> None:
        """Count a snapshot that was compared with the log."""
        self._catalogue.child(self._rechecked, _kind(kind), SAME if same else DIFFERENT).inc()


def _kind(kind: str) -> str:
    return kind if kind in SNAPSHOTS else UNKNOWN
