"""What watches the service fits it: scrapes, dashboards, and every name of a metric in them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from croupier.services.config import Settings

DEPLOY = Path(__file__).parents[1] / "deploy"


@pytest.mark.parametrize("file", sorted(DEPLOY.rglob("*.yml")), ids=lambda file: file.name)
def test_yaml_parses(file):
    assert yaml.safe_load(file.read_text())


def test_prometheus_scrapes_the_default_port():
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
    assert targets == ["localhost:" + Settings().metrics_listen.rpartition(":")[2]]
