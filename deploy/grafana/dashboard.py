"""The dashboard as code: `python deploy/grafana/dashboard.py` writes its JSON anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent / "dashboards" / "croupier.json"

WIDTH = 8
HEIGHT = 8
PER_ROW = 3

Panel = tuple[str, str, str, dict[str, str]]
"""Title, unit, what it tells, and expressions by legend."""


def _quantiles(histogram: str) -> dict[str, str]:
    """Return the median and the 99th percentile of a histogram over all processes."""
    rate = f"sum by (le) (rate({histogram}_bucket[1m]))"
    return {
        "p50": f"histogram_quantile(0.5, {rate})",
        "p99": f"histogram_quantile(0.99, {rate})",
    }


def _mean(histogram: str) -> str:
    """Return the mean of a histogram over all processes."""
    return f"sum(rate({histogram}_sum[1m])) / sum(rate({histogram}_count[1m]))"


ROWS: dict[str, list[Panel]] = {
    "What happens": [
        (
            "Events recorded",
            "cps",
            "Rolls, fades, payouts and all else, as they are committed.",
            {
                "{{kind}} {{game}}": "sum by (kind, game) (rate(croupier_events_total[1m]))",
                "all commands": "sum(rate(croupier_commands_total[1m]))",
            },
        ),
        (
            "Calls",
            "cps",
            "Calls by method and how they ended.",
            {"{{method}} {{code}}": "sum by (method, code) (rate(croupier_calls_total[1m]))"},
        ),
        (
            "Refusals",
            "cps",
            "Calls refused, by reason; each is explained by what callers do, or worth a look.",
            {"{{reason}}": "sum by (reason) (rate(croupier_refusals_total[1m]))"},
        ),
    ],
    "How fast": [
        (
            "Latency of calls",
            "s",
            "From taking a call to its end. Half of all calls, and all but one of a hundred.",
            _quantiles("croupier_call_seconds"),
        ),
        (
            "Commits",
            "s",
            "Time of a turn that records something. It grows with the disk's, or with the batch.",
            _quantiles("croupier_commit_seconds"),
        ),
        (
            "Size of a commit, and waiting",
            "short",
            "What a commit holds: batches form by load. Waiting returns to 0 between bursts.",
            {
                "commands": _mean("croupier_commit_batch_commands"),
                "events": _mean("croupier_commit_batch_events"),
                "waiting": "sum(croupier_queue_commands)",
                "not begun": "sum(croupier_backlog_calls)",
                "streams": "sum(croupier_streams)",
                "lost races": "sum(rate(croupier_commit_conflicts_total[1m]))",
            },
        ),
    ],
    "Money, in minor units": [
        (
            "Put at risk",
            "short",
            "Money put into escrow per second.",
            {
                "{{game}} {{currency}}": (
                    "sum by (game, currency) (rate(croupier_stakes_minor_units_total[1m]))"
                )
            },
        ),
        (
            "Paid out of escrow",
            "short",
            "Money paid to players per second; of it won, not returned.",
            {
                "{{game}} {{currency}}": (
                    "sum by (game, currency) (rate(croupier_payouts_minor_units_total[1m]))"
                ),
                "won {{game}} {{currency}}": (
                    "sum by (game, currency) (rate(croupier_winnings_minor_units_total[1m]))"
                ),
            },
        ),
        (
            "In and out",
            "short",
            "Money brought in and taken out per second.",
            {
                "in {{currency}}": (
                    "sum by (currency) (rate(croupier_deposits_minor_units_total[1m]))"
                ),
                "out {{currency}}": (
                    "sum by (currency) (rate(croupier_withdrawals_minor_units_total[1m]))"
                ),
            },
        ),
    ],
    "Audit": [
        (
            "Trial balance",
            "short",
            "The sum of all balances. It is 0, or something is very wrong.",
            {
                "{{ledger}} {{currency}}": (
                    "max by (ledger, currency) (croupier_ledger_trial_balance_minor_units)"
                )
            },
        ),
        (
            "Head position",
            "short",
            "The last position of each log; it grows while commands arrive.",
            {"{{ledger}}": "max by (ledger) (croupier_ledger_head_position)"},
        ),
        (
            "Fenced ledgers, strangers",
            "short",
            "Ledgers that are not served, and calls by strangers or beyond a role.",
            {
                "fenced {{ledger}}": "max by (ledger) (croupier_ledger_fenced)",
                "{{reason}}": "sum by (reason) (rate(croupier_authentication_failures_total[1m]))",
            },
        ),
    ],
    "Snapshots": [
        (
            "Unchecked events",
            "short",
            "Events that a start took from a snapshot and are being checked; falls to 0.",
            {"{{ledger}}": "max by (ledger) (croupier_ledger_unchecked_events)"},
        ),
        (
            "Saved",
            "short",
            "Snapshots saved per second.",
            {"{{kind}}": "sum by (kind) (rate(croupier_saved_snapshots_total[1m]))"},
        ),
        (
            "Not used",
            "short",
            "Snapshots that are in doubt, or could not be saved, per second; the log has it all.",
            {
                "{{kind}} {{reason}}": (
                    "sum by (kind, reason) (rate(croupier_dropped_snapshots_total[1m]))"
                )
            },
        ),
    ],
    "Processes": [
        (
            "Programs",
            "short",
            "Processes by what they run; two versions at once are an update under way.",
            {"{{version}} {{python}}": "sum by (version, python) (croupier_build_info)"},
        ),
        (
            "In memory",
            "short",
            "Of each process; the least used tables are let go, and loaded when next played.",
            {
                "tables {{instance}}": "sum by (instance) (croupier_live_tables)",
                "ledgers {{instance}}": "sum by (instance) (croupier_ledgers)",
            },
        ),
        (
            "Since the last event",
            "s",
            "How long each log has been silent.",
            {"{{ledger}}": "time() - max by (ledger) (croupier_ledger_head_time_seconds)"},
        ),
    ],
}


def _panel(number: int, panel: Panel, x: int, y: int) -> dict[str, Any]:
    title, unit, description, expressions = panel
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "description": description,
        "datasource": {"type": "prometheus", "uid": "prometheus"},
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": x, "y": y},
        # No least value: a trial balance below 0 has to be seen.
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "expr": expression, "legendFormat": legend}
            for at, (legend, expression) in enumerate(expressions.items())
        ],
    }


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana reads it."""
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in ROWS.items():
        place = {"h": 1, "w": WIDTH * PER_ROW, "x": 0, "y": y}
        panels.append(
            {"id": len(panels) + 1, "type": "row", "title": title, "gridPos": place, "panels": []}
        )
        for at, panel in enumerate(row):
            panels.append(_panel(len(panels) + 1, panel, at * WIDTH, y + 1))
        y += HEIGHT + 1
    return {
        "uid": "croupier",
        "title": "croupier",
        "tags": ["croupier"],
        "schemaVersion": 39,
        "time": {"from": "now-15m", "to": "now"},
        "refresh": "5s",
        "panels": panels,
    }


def text() -> str:
    """Return the JSON that is committed."""
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text())
