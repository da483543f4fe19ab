"""What watches the service fits it: scrapes, dashboards, and every name of a metric in them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry

from croupier.services.config import Settings
from croupier.services.metrics import Metrics

DEPLOY = Path(__file__).parents[1] / "deploy"


def dashboard_module():
    spec = importlib.util.spec_from_file_location("dashboard", DEPLOY / "grafana/dashboard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def series():
    """Return the names of all series that the service can have."""
    registry = CollectorRegistry()
    Metrics(registry)
    names = set()
    for family in registry.collect():
        suffixes = {
            "counter": ("_total",),
            "gauge": ("",),
            "histogram": ("_bucket", "_sum", "_count"),
        }[family.type]
        names |= {family.name + suffix for suffix in suffixes}
    return names


def test_the_committed_dashboard_is_what_its_definition_says():
    module = dashboard_module()
    assert module.OUTPUT.read_text() == module.text()


def test_every_metric_of_the_dashboard_exists():
    expressions = [
        target["expr"]
        for panel in dashboard_module().dashboard()["panels"]
        for target in panel.get("targets", ())
    ]
    named = {name for expr in expressions for name in re.findall(r"croupier_\w+", expr)}
    assert named
    assert named <= series()


def test_a_trial_balance_below_0_is_seen():
    panels = {panel["title"]: panel for panel in dashboard_module().dashboard()["panels"]}
    assert "min" not in panels["Trial balance"]["fieldConfig"]["defaults"]


def test_panels_do_not_overlap_and_are_numbered_apart():
    panels = dashboard_module().dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)


def test_every_metric_of_the_service_is_on_the_dashboard():
    text = dashboard_module().text()
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in series()}
    assert {name for name in families if name not in text} == set()


@pytest.mark.parametrize("file", sorted(DEPLOY.rglob("*.yml")), ids=lambda file: file.name)
def test_yaml_parses(file):
    assert yaml.safe_load(file.read_text())


def test_prometheus_scrapes_the_default_port():
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
    assert targets == ["localhost:" + Settings().metrics_listen.rpartition(":")[2]]


def test_the_dashboards_data_source_is_provisioned():
    config = yaml.safe_load(
        (DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text()
    )
    uids = {source["uid"] for source in config["datasources"]}
    used = set(re.findall(r'"uid": "(\w+)"\s*}', json.dumps(dashboard_module().dashboard())))
    assert used == uids
