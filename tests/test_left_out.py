"""What a machine cannot run is left out and said so, and nothing else is."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).parent
OPS, DEPLOY = TESTS / "ops", TESTS / "deploy"


@pytest.fixture
def plugin():
    """Return the hooks of all tests."""
    spec = importlib.util.spec_from_file_location("hooks", TESTS / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def found(tmp_path, monkeypatch):
    """Return what makes a program the only ones that this machine has, with those before."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def add(*programs):
        for program in programs:
            file = tmp_path / program
            file.touch()
            file.chmod(0o755)

    return add


def said(plugin, *asked, markexpr="not ops"):
    """Return what is said at the end of a run of what was asked for."""
    lines = []
    params = SimpleNamespace(dir=TESTS.parent)
    option = SimpleNamespace(markexpr=markexpr)
    config = SimpleNamespace(args=asked, invocation_params=params, option=option)
    plugin.pytest_terminal_summary(SimpleNamespace(write_line=lines.append), config)
    return lines


@pytest.mark.parametrize("some", [(), ("prometheus",), ("promtool",)], ids=str)
def test_what_cannot_be_run_is_left_out_and_said_in_one_line(plugin, found, some):
    found(*some)
    for file in (OPS, OPS / "test_rules.py"):
        assert plugin.pytest_ignore_collect(file) is True
    (line,) = said(plugin, "tests/ops")
    for program in ("prometheus", "promtool"):
        assert (program in line.partition("(install")[0]) == (program not in some)
    assert "make test-ops" in line


def test_what_can_be_run_is_run_and_nothing_is_said(plugin, found):
    found("prometheus", "promtool")
    assert plugin.pytest_ignore_collect(OPS) is None
    assert said(plugin, "tests", markexpr="") == []


def test_nothing_else_is_left_out(plugin, found):
    for file in (TESTS, DEPLOY, TESTS / "test_left_out.py", TESTS / "support" / "prometheus.py"):
        assert plugin.pytest_ignore_collect(file) is None


def test_who_asks_for_another_suite_is_not_told_of_this_one(plugin, found):
    assert said(plugin, "tests/test_left_out.py", "tests/deploy/test_words.py::test_a") == []


def test_what_takes_root_or_packages_is_said_in_the_same_line(plugin, found):
    (line,) = said(plugin, "tests")
    assert "tests/ops" in line
    assert "tests/deploy marked ops" in line
    assert "make image-check" in line
    assert said(plugin, "tests/deploy", markexpr="ops") == []


def test_it_is_pytest_that_leaves_out_and_says_so(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/ops"],
        cwd=TESTS.parent,
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "test_rules.py" not in ran.stdout
    assert [line for line in ran.stdout.splitlines() if line.startswith("left out: tests/ops")]
