"""Writes the rules of Prometheus as a resource of its operator: the same groups, word for word.

Run it after a change of the rules; a test fails until somebody did.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

PROMETHEUS = Path(__file__).parents[1] / "prometheus" / "prometheus.yml"
OUTPUT = Path(__file__).parent / "components" / "monitoring" / "prometheus-rule.yaml"

HEAD = "# Written by deploy/kubernetes/prometheus_rule.py from the rules in deploy/prometheus.\n"


def groups() -> list[dict[str, Any]]:
    """Return the groups of all files that the configuration of Prometheus names, in its order."""
    config = yaml.safe_load(PROMETHEUS.read_text())
    return [
        group
        for pattern in config.get("rule_files", ())
        for file in sorted(PROMETHEUS.parent.glob(pattern))
        for group in yaml.safe_load(file.read_text())["groups"]
    ]


def text() -> str:
    """Return the resource."""
    resource = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "croupier"},
        "spec": {"groups": groups()},
    }
    return HEAD + yaml.safe_dump(resource, sort_keys=False, allow_unicode=True, width=100)


if __name__ == "__main__":
    OUTPUT.write_text(text())
