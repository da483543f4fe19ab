"""Metrics for Prometheus: `Metrics` is told what happens, `serve` answers who scrapes.

`labels` says what a label can be, `declaring` how a metric is declared; `commits`, `bets` and
`ledgers` declare what they raise, `metrics` the rest. `reference` writes docs/metrics.md.
"""

from croupier.services.metrics.labels import LEDGERS_MAX, METHODS, OTHER, UNKNOWN
from croupier.services.metrics.metrics import Metrics
from croupier.services.metrics.serving import MetricsServer, serve

__all__ = ["LEDGERS_MAX", "METHODS", "OTHER", "UNKNOWN", "Metrics", "MetricsServer", "serve"]
