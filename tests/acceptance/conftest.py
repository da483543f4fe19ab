"""Fixtures of the acceptance tests, and on which engines they run.

They run on each, but for those of `WHATEVER_THE_ENGINE`, whose usual engine is SQLite;
`CROUPIER_TEST_ENGINE=redis` runs everything on Redis alone, those too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import structlog

from tests.support.engines import ENGINES, SQLITE, USUAL, on_engine
from tests.support.refusals import casino
from tests.support.serving import serve, tokens

__all__ = ["casino", "serve", "tokens"]

WHATEVER_THE_ENGINE = {
    # They choose their engines themselves.
    "test_backup",
    "test_drills",
    "test_engine_watch",
    "test_engines",
    "test_migrate_command",
    "test_topologies",
    "test_unfence_command",
    "test_wakeups",
    # What they are about has no engine: processes, connections, callers, what is printed.
    "test_bad_start",
    "test_callers",
    "test_connections",
    "test_demo",
    "test_exemplars",
    "test_health_command",
    "test_logs",
    "test_places",
    "test_settings",
    "test_soak",
    "test_traces",
}
"""All other modules run on every engine: the games, and whatever is refused, recorded or read."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everywhere = Path(metafunc.module.__file__).stem not in WHATEVER_THE_ENGINE
    of_files = metafunc.definition.get_closest_marker("sqlite")
    if everywhere and not of_files and "CROUPIER_TEST_ENGINE" not in os.environ:
        metafunc.parametrize("engine", ENGINES, indirect=True, scope="module")


@pytest.fixture(autouse=True, scope="module")
def engine(request: pytest.FixtureRequest):
    """Let servers of these tests use an engine; a server for a whole module asks for it first."""
    name = getattr(request, "param", USUAL)
    with on_engine(name):
        yield name


@pytest.fixture(autouse=True)
def _of_sqlite_alone(request: pytest.FixtureRequest, engine: str):
    """Tests marked `sqlite(why)` have no other engine."""
    of_files = request.node.get_closest_marker("sqlite")
    if of_files and engine != SQLITE:
        pytest.skip(f"of SQLite alone: {of_files.args[0]}")


@pytest.fixture(autouse=True)
def _log_lines_as_they_were():
    """Undo what a command that ran in this process has set up for its log lines."""
    yield
    structlog.reset_defaults()
