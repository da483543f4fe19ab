"""What is deployed fits the service: metrics, settings, and no more rights than it needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from croupier.services.cli import app
from croupier.services.commands.health import health
from croupier.services.config import Settings

DEPLOY = Path(__file__).parents[1] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def everything():
    """Return the text of all files, without what Python leaves beside them."""
    files = [file for file in DEPLOY.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    return "".join(file.read_text() for file in files)


def test_the_readme_names_the_user_who_has_to_read_the_token_file():
    uid = re.search(r"--uid (\d+)", DOCKERFILE)[1]
    assert f"chown {uid} tokens.json" in (DEPLOY / "README.md").read_text()


@pytest.mark.parametrize("file", sorted(DEPLOY.rglob("*.yml")), ids=lambda file: file.name)
def test_yaml_parses(file):
    assert yaml.safe_load(file.read_text())


def test_prometheus_scrapes_the_default_port():
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
    assert targets == ["localhost:" + Settings().metrics_listen.rpartition(":")[2]]


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
