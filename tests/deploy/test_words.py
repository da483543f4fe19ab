"""Every variable, flag and path in what is deployed, and in its guide, is one that exists."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path

import pytest
import typer

from croupier.services.cli import app
from croupier.services.commands.calling import Token
from croupier.services.config import Settings
from croupier.services.rpc.callers import load
from croupier.services.rpc.chance import load_key
from tests.support.deployments import DEPLOY, composed, image_environment, settings_of
from tests.support.dockerfile import ROOT, stages
from tests.support.processes import COMMAND
from tests.support.units import UNIT, last

GUIDE = ROOT / "docs" / "deployment.md"
PAGES = [GUIDE, ROOT / "docs" / "operations.md", DEPLOY / "README.md"]
UsageError = typer.BadParameter.__mro__[1]
CLI = typer.main.get_command(app)
SETTINGS = {f"CROUPIER_{name.upper()}" for name in Settings.model_fields}
OF_CALLERS = {Token.__metadata__[0].envvar}
"""What the command line reads besides, for those who call."""


def written() -> list[Path]:
    """Return every file that is deployed, and the guides."""
    files = [
        one for one in DEPLOY.rglob("*") if one.is_file() and one.suffix not in {".pyc", ".json"}
    ]
    return [one for one in files if "secrets" not in one.parts] + PAGES


def snippets(page: Path) -> list[str]:
    """Return the shell snippets of a page, with long lines joined."""
    found = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [one.replace("\\\n", " ") for one in found]


def commands() -> list[str]:
    """Return every use of `croupier` in files and pages, without what the shell does around it."""
    names = "|".join(CLI.commands)
    use = re.compile(rf"(?:^|[\s/`\"])croupier ((?:{names})\b[^\n`|&>;#\"]*)", re.MULTILINE)
    texts = [one.read_text().replace("\\\n", " ") for one in written()]
    return [found.strip() for text in texts for found in use.findall(text)]


def parse(words: list[str]) -> None:
    """Parse words as the command line does, without doing anything.

    Raises:
        UsageError: there is no such command, flag or choice.

    """
    command, context = CLI, CLI.make_context("croupier", [], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        context.resilient_parsing = False
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    command.make_context(name, list(words))


@pytest.mark.parametrize("file", written(), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_variable_is_a_setting(file: Path):
    named = set(re.findall(r"\bCROUPIER_[A-Z_]*[A-Z]\b", file.read_text()))
    assert named <= SETTINGS | OF_CALLERS


def test_every_use_of_the_command_is_one_that_it_takes():
    found = commands()
    assert len(found) > 10
    for words in found:
        parse(shlex.split(words.replace("[", "").replace("]", "")))


def test_a_flag_that_is_none_is_noticed():
    for words in ("serve --wokers=4", "helth", "token new a --role king"):
        with pytest.raises(UsageError):
            parse(words.split())


def test_what_starts_the_service_is_a_command_that_it_takes():
    for words in (stages()[-1].command, stages()[-1].healthcheck, last("ExecStart", UNIT).split()):
        assert Path(words[0]).name == "croupier"
        parse(words[1:])


def test_every_path_in_the_guide_is_in_the_repository():
    named = set(re.findall(r"\b((?:deploy|requirements)/[\w./-]+\w)", GUIDE.read_text()))
    missing = {one for one in named if not (ROOT / one).exists()}
    assert {one for one in missing if not one.startswith("deploy/secrets")} == set()


def test_the_guide_has_the_image_and_the_version_of_the_dockerfile():
    text, stage = GUIDE.read_text(), stages()[-1]
    version = stage.labels["org.opencontainers.image.version"]
    assert set(re.findall(r"python:\d[\w.-]+", text)) == {stage.base}
    assert set(re.findall(r"croupier:(\d+\.\d+\.\d+)", text)) == {version}
    assert set(re.findall(r"croupier-(\d+\.\d+\.\d+)", text)) == {version}
    assert f"chown {stage.user[0]} deploy/secrets/tokens.json" in text


def test_the_image_alone_has_settings_with_which_it_starts():
    (run,) = re.findall(r"docker run .*", "\n".join(snippets(GUIDE)))
    words = shlex.split(run)
    given = dict(words[i + 1].split("=", 1) for i, one in enumerate(words) if one == "-e")
    found = settings_of(image_environment() | given)
    assert found.tokens is not None
    assert found.draw_key is not None


def test_the_secrets_are_made_as_the_guide_says(tmp_path: Path):
    (made,) = (one for one in snippets(GUIDE) if "token new" in one)
    program = tmp_path / "bin" / "croupier"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o700)
    (tmp_path / "deploy").mkdir()
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["sh", "-e", "-c", made],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    secrets = tmp_path / "deploy" / "secrets"
    callers = load(secrets / "tokens.json")
    names = [callers.authenticate(f"Bearer {token}").name for token in ran.stdout.split()]
    assert names == ["cage", "tables"]
    assert len(load_key(secrets / "draw.key")) == 32
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    wanted = {ROOT / "deploy" / one["file"] for one in composed("compose.yaml")["secrets"].values()}
    assert {one.name for one in secrets.iterdir()} == {one.name for one in wanted}
    assert {stat.S_IMODE(one.stat().st_mode) for one in secrets.iterdir()} == {0o400}


def test_no_file_names_a_registry():
    for file in written():
        text = file.read_text()
        assert not re.search(r"docker\.io|ghcr\.|quay\.|gcr\.|--(extra-)?index-url", text), file
