"""The dashboards as code: `python deploy/grafana/dashboard.py` writes their JSON anew.

What they show stands in `pages`; here it becomes what Grafana reads.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import DASHBOARDS
from panels import STAT, Dashboard, Panel

FOLDER = Path(__file__).parent / "dashboards"

COLUMNS = 24
HEIGHT = {STAT: 4}
"""Of a panel by its kind; any other is twice as high."""
PER_ROW_MAX = 4

SOURCE = {"type": "prometheus", "uid": "prometheus"}


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.tells,
        "datasource": SOURCE,
        "gridPos": place,
        # No least value: a trial balance below 0 has to be seen.
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "expr": expression, "legendFormat": legend}
            for at, (legend, expression) in enumerate(panel.shows.items())
        ],
    }


def _panels(rows: dict[str, list[Panel]]) -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in rows.items():
        place = {"h": 1, "w": COLUMNS, "x": 0, "y": y}
        number = len(panels) + 1
        panels.append({"id": number, "type": "row", "title": title, "gridPos": place, "panels": []})
        y += 1
        across = min(len(row), PER_ROW_MAX) if len(row) % 3 else 3
        for first in range(0, len(row), across):
            line = row[first : first + across]
            height = max(HEIGHT.get(panel.kind, 8) for panel in line)
            for at, panel in enumerate(line):
                width = COLUMNS // across
                place = {"h": height, "w": width, "x": at * width, "y": y}
                panels.append(_panel(len(panels) + 1, panel, place))
            y += height
    return panels


def _choice(name: str, series: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "query",
        "datasource": SOURCE,
        "query": f"label_values({series}, {name})",
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }


def dashboard(one: Dashboard) -> dict[str, Any]:
    """Return a dashboard as Grafana reads it."""
    return {
        "uid": one.uid,
        "title": one.title,
        "tags": ["croupier"],
        "schemaVersion": 39,
        "time": {"from": "now-15m", "to": "now"},
        "refresh": "5s",
        # From each of them to the others.
        "links": [
            {"type": "dashboards", "title": "croupier", "tags": ["croupier"], "asDropdown": True}
        ],
        "templating": {"list": [_choice(name, of) for name, of in one.choices.items()]},
        "panels": _panels(one.rows),
    }


def texts() -> dict[Path, str]:
    """Return the JSON that is committed, by file."""
    return {
        FOLDER / f"{one.uid}.json": json.dumps(dashboard(one), indent=2) + "\n"
        for one in DASHBOARDS
    }


if __name__ == "__main__":
    for file, text in texts().items():
        file.write_text(text)
