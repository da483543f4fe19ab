"""What follows from other files is what follows from them now."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.deployments import DEPLOY


def derived():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("derived", DEPLOY / "derived.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("place", derived().documents(), ids=lambda place: str(place.name))
def test_it_is_what_the_script_says(place: Path):
    module = derived()
    assert place.read_text() == module.text(module.documents()[place])


def test_the_operators_rules_are_those_of_prometheus_word_for_word():
    module = derived()
    (rule,) = (d for d in module.documents().values() if d.get("kind") == "PrometheusRule")
    own = [
        group
        for file in sorted((DEPLOY / "prometheus").glob("rules/*.yml"))
        for group in yaml.safe_load(file.read_text())["groups"]
    ]
    assert rule["spec"]["groups"] == own


def test_no_machine_of_its_own_is_left_in_what_compose_reads():
    for place, document in derived().documents().items():
        if "compose" in place.parts:
            assert "localhost" not in yaml.safe_dump(document)


@pytest.mark.ops
@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not on this machine")
def test_prometheus_takes_its_configuration(tmp_path: Path):
    # As compose.yaml mounts it: the folder, and over it the one file.
    shutil.copytree(DEPLOY / "prometheus", tmp_path / "prometheus")
    config = tmp_path / "prometheus" / "prometheus.yml"
    shutil.copy(DEPLOY / "compose" / "prometheus.yml", config)
    ran = subprocess.run(
        ["promtool", "check", "config", str(config)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.ops
@pytest.mark.skipif(not shutil.which("amtool"), reason="amtool is not on this machine")
def test_alertmanager_takes_its_configuration():
    config = DEPLOY / "alertmanager" / "alertmanager.yml"
    ran = subprocess.run(
        ["amtool", "check-config", str(config)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
