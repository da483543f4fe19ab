"""`make dashboards` where something is missing: it says what, and what to do."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

from tests.support.serving import serving
from tests.support.watching import DEPLOY

COMMAND = [sys.executable, str(DEPLOY / "dashboards.py")]


def dashboards(path, *asked):
    """Run the command with only the programs of a folder; return how it ended and what it said."""
    ran = subprocess.run(
        [*COMMAND, *asked],
        env=os.environ | {"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr


def test_where_no_service_runs_it_says_how_to_start_one(tmp_path):
    code, said = dashboards(tmp_path, "127.0.0.1:1")
    assert code == 1
    assert "127.0.0.1:1" in said
    assert "make run" in said


async def test_where_there_is_no_prometheus_it_says_how_to_get_one(tmp_path):
    async with serving(tmp_path, metrics_listen="127.0.0.1:0") as served:
        at = f"127.0.0.1:{served.server.metrics_port}"
        code, said = await asyncio.to_thread(dashboards, tmp_path / "nothing", at)
    assert code == 1
    assert "package prometheus" in said
    assert "docker compose -f deploy/compose" in said
