"""Fixtures of the acceptance tests, and on which engines they run.

The usual engine is SQLite; `CROUPIER_TEST_ENGINE=redis` runs everything on Redis. What is of the
engine's making or near it runs on both in any case.
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

ON_EVERY_ENGINE = {
    "test_batches",
    "test_committed_draws",
    "test_fair_share",
    "test_fish_prawn_crab",
    "test_kill",
    "test_long_play",
    "test_metrics_agree",
    "test_once",
    "test_pot",
    "test_reads",
    "test_replay_command",
    "test_royal_casino",
    "test_streams",
    "test_twelve_high",
    "test_two_processes",
    "test_validate_only",
    "test_void_round",
    "test_watching",
}
"""All games, and all that depends on commits, heads and tails. Not what is refused before it comes
to an engine, nor what has no server."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everywhere = Path(metafunc.module.__file__).stem in ON_EVERY_ENGINE
    of_files = metafunc.definition.get_closest_marker("sqlite")
    if everywhere and not of_files and "CROUPIER_TEST_ENGINE" not in os.environ:
        metafunc.parametrize("engine", ENGINES, indirect=True)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest):
    """Let servers of this test use its engine; tests marked `sqlite(why)` have no other."""
    name = getattr(request, "param", USUAL)
    of_files = request.node.get_closest_marker("sqlite")
    if of_files and name != SQLITE:
        pytest.skip(f"of SQLite alone: {of_files.args[0]}")
    with on_engine(name):
        yield name


@pytest.fixture(autouse=True)
def _log_lines_as_they_were():
    """Undo what a command that ran in this process has set up for its log lines."""
    yield
    structlog.reset_defaults()
