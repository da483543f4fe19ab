"""What the Dockerfile says: no rights, no tools, locked packages, the service's own settings."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from croupier.services.cli import app
from croupier.services.commands.health import health
from croupier.services.config import Settings
from tests.support.dockerfile import DOCKERFILE, ROOT, context, let_in, stages

BUILD, LAST = stages()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = re.compile(r"python:3\.\d+\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?")


def test_hadolint_finds_nothing():
    tool = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert tool, "hadolint comes with the development packages"
    ran = subprocess.run(
        [tool, "--failure-threshold", "style", str(DOCKERFILE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_both_stages_have_one_exact_base_and_a_site_may_give_its_digest():
    assert BASE.fullmatch(LAST.base)
    assert BUILD.base == LAST.base
    pinned = f"{LAST.base}@sha256:{'0' * 64}"
    assert {stage.base for stage in stages(BASE=pinned)} == {pinned}
    assert stages(BASE=pinned)[-1].labels["org.opencontainers.image.base.name"] == pinned


def test_the_labels_are_those_of_the_project():
    labels = stages(REVISION="abc")[-1].labels
    prefix = "org.opencontainers.image."
    assert labels == {
        f"{prefix}title": PROJECT["name"],
        f"{prefix}description": PROJECT["description"],
        f"{prefix}version": PROJECT["version"],
        f"{prefix}revision": "abc",
        f"{prefix}base.name": LAST.base,
    }


def test_it_runs_as_a_user_that_is_a_number_and_not_root():
    uid, gid = LAST.user
    assert min(uid, gid) > 0
    names = [one.name for one in LAST.instructions]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_it_serves_by_default():
    assert LAST.command == ["croupier", "serve"]
    assert LAST.healthcheck == ["croupier", "health"]
    assert health in [command.callback for command in app.registered_commands]
    assert LAST.last("STOPSIGNAL").value == "SIGTERM"


def test_its_ports_are_those_of_the_settings():
    settings = Settings()
    defaults = (settings.listen, settings.metrics_listen)
    assert LAST.last("EXPOSE").words == [one.rpartition(":")[2] for one in defaults]


def test_what_it_writes_is_in_its_volume():
    (volume,) = LAST.last("VOLUME").words
    assert LAST.env["CROUPIER_DATA"] == volume
    assert LAST.env["SQLITE_TMPDIR"] == volume
    assert LAST.env["PYTHONDONTWRITEBYTECODE"] == "1"


def test_every_package_has_a_locked_hash_and_nothing_is_compiled():
    installs = [
        command
        for stage in (BUILD, LAST)
        for one in stage.all("RUN")
        for command in one.value.split("&&")
        if re.search(r"\bpip\b.* install\b", command)
    ]
    assert len(installs) == 3
    for command in installs:
        own_wheel = "--no-index --no-deps" in command
        locked = "--require-hashes" in command and "--only-binary=:all:" in command
        assert own_wheel or locked, command


def test_nothing_that_builds_is_in_the_last_stage():
    (copied,) = LAST.all("COPY")
    assert copied.value == "--from=build /opt/croupier /opt/croupier"
    assert "python -m pip uninstall" in LAST.all("RUN")[0].value
    assert "apt" not in DOCKERFILE.read_text()


def test_what_is_copied_is_all_that_is_let_into_a_build():
    sources = [word for one in BUILD.all("COPY") for word in one.words[:-1]]
    assert all(list(context(source)) for source in sources)
    tops = {one.name for one in ROOT.iterdir() if let_in(PurePosixPath(one.name))}
    assert tops == set(sources)


@pytest.mark.parametrize(
    "path, inside",
    [
        ("domain/croupier/domain/money.py", True),
        ("README.md", True),
        ("domain/croupier/domain/__pycache__/money.cpython-313.pyc", False),
        ("domain/stale.pyc", False),
        (".git/config", False),
        ("data/draw.key", False),
        ("deploy/secrets/tokens.json", False),
        ("tokens.json", False),
        ("tests/test_packaging.py", False),
    ],
)
def test_no_ledger_no_key_and_no_history_gets_into_a_build(path: str, inside: bool):
    assert let_in(PurePosixPath(path)) == inside
