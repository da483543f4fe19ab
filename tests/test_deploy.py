"""What is deployed fits the service: metrics, settings, and no more rights than it needs."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry

from croupier.services.cli import app
from croupier.services.commands.health import health
from croupier.services.config import Settings
from croupier.services.metrics import Metrics

DEPLOY = Path(__file__).parents[1] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def dashboard_module():
    spec = importlib.util.spec_from_file_location("dashboard", DEPLOY / "grafana/dashboard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def everything():
    """Return the text of all files, without what Python leaves beside them."""
    files = [file for file in DEPLOY.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    return "".join(file.read_text() for file in files)


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


def test_the_readme_names_the_user_who_has_to_read_the_token_file():
    uid = re.search(r"--uid (\d+)", DOCKERFILE)[1]
    assert f"chown {uid} tokens.json" in (DEPLOY / "README.md").read_text()


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


def test_every_environment_variable_is_a_setting():
    text = everything()
    named = {name.lower() for name in re.findall(r"CROUPIER_([A-Z_]+)", text)}
    assert named
    assert named <= set(Settings.model_fields)


def test_the_image_runs_without_rights_from_locked_packages():
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    user = re.findall(r"^USER (\w+)$", last_stage, re.MULTILINE)[-1]
    assert user not in ("root", "0")
    assert last_stage.index("\nUSER ") < last_stage.index("\nENTRYPOINT ")
    assert 'ENTRYPOINT ["croupier"]\nCMD ["serve"]' in last_stage
    assert 'CMD ["croupier", "health"]' in last_stage
    data = re.search(r"CROUPIER_DATA=(\S+)", last_stage)[1]
    assert f"\nVOLUME {data}\n" in last_stage
    installs = re.findall(r"pip install [^\n]*", DOCKERFILE)
    assert all("--require-hashes" in one or "--no-deps" in one for one in installs)
    exposed = re.search(r"^EXPOSE (.*)$", last_stage, re.MULTILINE)[1].split()
    settings = Settings()
    defaults = (settings.listen, settings.metrics_listen)
    assert exposed == [address.rpartition(":")[2] for address in defaults]
    assert re.search(r'^ENTRYPOINT \["croupier"\]\nCMD \["serve"\]$', last_stage, re.MULTILINE)


def test_the_image_checks_itself_and_keeps_its_data_in_a_volume():
    assert re.search(r'^HEALTHCHECK .*CMD \["croupier", "health"\]$', DOCKERFILE, re.MULTILINE)
    assert re.search(r"^VOLUME /data$", DOCKERFILE, re.MULTILINE)
    assert "CROUPIER_DATA=/data" in DOCKERFILE
    assert health in [command.callback for command in app.registered_commands]


def test_what_the_image_copies_is_let_into_its_build():
    ignored = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert names <= let_in
    assert all((DEPLOY.parent / name).exists() for name in names)


def test_no_file_names_a_registry():
    text = everything()
    assert not re.search(r"docker\.io|ghcr\.|quay\.|gcr\.|pypi|--(extra-)?index-url", text)
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert all("/" not in image and ":" in image for image in images)
