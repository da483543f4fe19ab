"""Rules tried by Prometheus's own tool: each alert where it must fire and where it must not."""

from __future__ import annotations

import asyncio
import subprocess
from urllib.request import urlopen

import pytest

from tests.support.serving import serving
from tests.support.watching import DEPLOY, RULE_TESTS

CONFIG = DEPLOY / "prometheus/prometheus.yml"


def promtool(*arguments, given=None):
    """Run the tool and return what it says; where it finds something, the test fails with that."""
    ran = subprocess.run(
        ["promtool", *map(str, arguments)], input=given, capture_output=True, check=False
    )
    said = (ran.stdout + ran.stderr).decode()
    assert ran.returncode == 0, said
    return said


def test_the_configuration_is_one():
    said = promtool("check", "config", CONFIG)
    assert f"{len(list(RULE_TESTS.glob('*.yml')))} rule files found" in said


@pytest.mark.parametrize("file", sorted(RULE_TESTS.glob("*.yml")), ids=lambda file: file.stem)
def test_alerts_fire_where_they_must_and_only_there(file):
    assert "SUCCESS" in promtool("test", "rules", file)


def page(port):
    """Return what is scraped."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return answer.read()


async def test_the_metrics_of_a_server_are_named_as_prometheus_wants_them(tmp_path):
    async with serving(tmp_path, metrics_listen="127.0.0.1:0") as served:
        text = await asyncio.to_thread(page, served.server.metrics_port)
    assert promtool("check", "metrics", given=text) == ""
