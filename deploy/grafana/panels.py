"""What a dashboard is made of: rows of panels, and the expressions that recur in them."""

from __future__ import annotations

from dataclasses import dataclass, field

STAT, SERIES = "stat", "timeseries"


@dataclass(frozen=True)
class Panel:
    """One panel; `unit` as Grafana names it."""

    title: str
    unit: str
    tells: str
    shows: dict[str, str]
    kind: str = SERIES


@dataclass(frozen=True)
class Dashboard:
    """One page: rows of panels, and the labels that can be chosen at its top."""

    uid: str
    title: str
    rows: dict[str, list[Panel]]
    choices: dict[str, str] = field(default_factory=dict)
    """By name of the choice, the series whose label of that name gives its values."""


def rate(metric: str, *by: str, where: str = "") -> str:
    """Return how fast counters grow per second, summed over processes."""
    return f"sum{_by(*by)} (rate({metric}{where}[1m]))"


def hourly(metric: str, *by: str, where: str = "") -> str:
    """Return by how much counters grew within an hour, summed over processes."""
    return f"sum{_by(*by)} (increase({metric}{where}[1h]))"


def worst(gauge: str, *by: str) -> str:
    """Return the largest value that any process reports."""
    return f"max{_by(*by)} ({gauge})"


def quantiles(histogram: str, where: str = "") -> dict[str, str]:
    """Return the median and the 99th percentile over all processes."""
    grown = f"sum by (le) (rate({histogram}_bucket{where}[1m]))"
    return {
        "p50": f"histogram_quantile(0.5, {grown})",
        "p99": f"histogram_quantile(0.99, {grown})",
    }


def mean(histogram: str) -> str:
    """Return the mean over all processes."""
    return f"sum(rate({histogram}_sum[1m])) / sum(rate({histogram}_count[1m]))"


def _by(*labels: str) -> str:
    return f" by ({', '.join(labels)})" if labels else ""
