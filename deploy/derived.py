"""Writes what follows from other files here: a test fails until somebody ran this after a change.

From the configuration of Prometheus on one machine: the same for compose, where machines have other
names and there is an Alertmanager, and its rules as a resource of the Prometheus operator. From
Grafana's data source: the same for compose.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parent
PROMETHEUS = DEPLOY / "prometheus" / "prometheus.yml"
SOURCES = DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yml"

HOSTS = {
    "localhost:9464": "croupier:9464",
    "http://localhost:9090": "http://prometheus:9090",
    "localhost:9093": "alertmanager:9093",
}
"""The same places, as one machine and as the network of compose.yaml name them."""

ALERTING = {"alertmanagers": [{"static_configs": [{"targets": ["localhost:9093"]}]}]}


def renamed(value: Any) -> Any:
    """Return a value with the names that hosts have in compose.yaml."""
    if isinstance(value, dict):
        return {key: renamed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [renamed(one) for one in value]
    return HOSTS.get(value, value) if isinstance(value, str) else value


def groups() -> list[dict[str, Any]]:
    """Return the groups of rules in all files that Prometheus is told of, in its order."""
    return [
        group
        for pattern in yaml.safe_load(PROMETHEUS.read_text()).get("rule_files", ())
        for file in sorted(PROMETHEUS.parent.glob(pattern))
        for group in yaml.safe_load(file.read_text())["groups"]
    ]


def documents() -> dict[Path, Any]:
    """Return what is written, by where."""
    prometheus = {"alerting": ALERTING} | yaml.safe_load(PROMETHEUS.read_text())
    return {
        DEPLOY / "compose" / "prometheus.yml": renamed(prometheus),
        DEPLOY / "compose" / "datasources" / "prometheus.yml": renamed(
            yaml.safe_load(SOURCES.read_text())
        ),
        DEPLOY / "kubernetes" / "components" / "monitoring" / "prometheus-rule.yaml": {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {"name": "croupier"},
            "spec": {"groups": groups()},
        },
    }


def text(document: Any) -> str:
    """Return a document as it is written."""
    said = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return f"# Written by deploy/derived.py.\n{said}"


if __name__ == "__main__":
    for place, document in documents().items():
        place.write_text(text(document))
