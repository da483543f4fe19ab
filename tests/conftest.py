"""Suites that need programs of the system: run where those are found, else left out and said so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

TESTS = Path(__file__).parent


@dataclass(frozen=True)
class Suite:
    """A folder of tests, the programs that it needs, and how to run it."""

    folder: Path
    programs: tuple[str, ...]
    how: str

    @property
    def missing(self) -> list[str]:
        """Return the programs that this machine does not have."""
        return [program for program in self.programs if shutil.which(program) is None]


SUITES = (
    Suite(
        folder=TESTS / "ops",
        programs=("prometheus", "promtool"),
        how="install the package prometheus, then `make test-ops`",
    ),
)


@pytest.fixture(autouse=True)
def _log_lines_as_at_the_start() -> Iterator[None]:
    """Let no test decide for the next ones which log lines there are: commands set that up."""
    yield
    structlog.reset_defaults()


def left_out() -> list[Suite]:
    """Return the suites that cannot be run here."""
    return [suite for suite in SUITES if suite.missing]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what cannot be run here."""
    return any(collection_path.is_relative_to(suite.folder) for suite in left_out()) or None


MARKED = (
    "tests/deploy marked ops, which need root or packages (`make test-ops`, `make image-check`)"
)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in one line what was left out of what was asked for, and how to run it."""
    asked = [
        Path(config.invocation_params.dir, str(one).partition("::")[0]).resolve()
        for one in config.args
    ]

    def is_asked(folder: Path) -> bool:
        return any(folder.is_relative_to(one) for one in asked)

    said = [
        f"{suite.folder.relative_to(TESTS.parent)}, which needs {' and '.join(suite.missing)} "
        f"({suite.how})"
        for suite in left_out()
        if is_asked(suite.folder)
    ]
    if config.option.markexpr == "not ops" and is_asked(TESTS / "deploy"):
        said.append(MARKED)
    if said:
        terminalreporter.write_line(f"left out: {'; '.join(said)}")
