"""What is deployed for watching: dashboards, rules, runbooks, and the series they name."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from croupier.services.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = sorted((DEPLOY / "prometheus/rules").glob("*.yml"))
RULE_TESTS = DEPLOY / "prometheus/tests"
RUNBOOKS = ROOT / "docs/runbooks"

OF_THE_PROCESS = {
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_virtual_memory_bytes",
}
"""What the client library tells of a process."""

OF_PROMETHEUS = {"up", "ALERTS"}


def dashboards() -> ModuleType:
    """Return the module that writes the dashboards."""
    folder = str(DEPLOY / "grafana")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("dashboard")
    finally:
        sys.path.remove(folder)


def panels() -> dict[str, dict[str, Any]]:
    """Return every panel that shows something, by its dashboard and title."""
    module = dashboards()
    return {
        f"{one.title}: {panel['title']}": panel
        for one in module.DASHBOARDS
        for panel in module.dashboard(one)["panels"]
        if panel["type"] != "row"
    }


def shown() -> list[str]:
    """Return every expression of the dashboards, with all choices made."""
    expressions = [one["expr"] for panel in panels().values() for one in panel["targets"]]
    return [re.sub(r"\$\w+", ".*", one) for one in expressions]


def groups(file: Path) -> list[dict[str, Any]]:
    """Return the groups of a file of rules."""
    return yaml.safe_load(file.read_text())["groups"]


def rules() -> list[dict[str, Any]]:
    """Return every rule."""
    return [rule for file in RULES for group in groups(file) for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    """Return every rule that calls somebody."""
    return [rule for rule in rules() if "alert" in rule]


def recorded() -> set[str]:
    """Return the names of all series that rules record."""
    return {rule["record"] for rule in rules() if "record" in rule}


def series() -> set[str]:
    """Return the names of all series that the service has."""
    suffixes = {"histogram": ("_bucket", "_sum", "_count")}
    metrics = Metrics(CollectorRegistry())
    return {one.name + end for one in metrics.declared for end in suffixes.get(one.type, ("",))}


def selectors(expression: str) -> set[str]:
    """Return what an expression selects: names of series, with their matchers."""
    found = re.findall(
        r"(?:croupier[_:][a-z0-9_:]+|process_[a-z_]+|\bup|\bALERTS)(?:\{[^}]*\})?", expression
    )
    return set(found)


def names(expression: str) -> set[str]:
    """Return the names of the series that an expression selects."""
    return {one.partition("{")[0] for one in selectors(expression)}
