"""What a machine cannot run is left out and said so, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def collected(folder, *programs, of):
    """Return what pytest says when only these programs are found."""
    for program in programs:
        file = folder / program
        file.touch()
        file.chmod(0o755)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", of],
        cwd=TESTS.parent,
        env=os.environ | {"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize("found", [(), ("prometheus",), ("promtool",)], ids=str)
def test_what_cannot_be_run_is_left_out_and_said_in_one_line(tmp_path, found):
    said = collected(tmp_path, *found, of="tests/ops")
    assert "tests/ops/test_rules.py" not in said
    (line,) = [one for one in said.splitlines() if one.startswith("left out:")]
    for program in ("prometheus", "promtool"):
        assert (program in line.partition("(install")[0]) == (program not in found)
    assert "make test-ops" in line


def test_what_can_be_run_is_run_and_nothing_is_said(tmp_path):
    said = collected(tmp_path, "prometheus", "promtool", of="tests/ops")
    assert "tests/ops/test_rules.py::" in said
    assert "left out" not in said


def test_who_asks_for_another_suite_is_not_told_of_this_one(tmp_path):
    assert "left out" not in collected(tmp_path, of="tests/test_left_out.py")


def test_what_takes_root_or_packages_is_left_out_of_what_is_run_by_default(tmp_path):
    said = collected(tmp_path, of="tests/deploy/test_words.py")
    assert "left out" not in said  # only of the whole folder is anything left out
    lines = collected(tmp_path, of="tests/deploy").splitlines()
    (line,) = [one for one in lines if one.startswith("left out:")]
    assert "make image-check" in line
