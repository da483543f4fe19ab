"""`make dashboards`: a Prometheus beside a service that runs, until interrupted."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from urllib.parse import quote
from urllib.request import urlopen

import psutil
import pytest

from tests.support.serving import serving
from tests.support.watching import DEPLOY

TIMEOUT_S = 60

GRAFANA = """#!{python}
import http.server, json, os, sys
port = int(os.environ["GF_SERVER_HTTP_PORT"])
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({{"argv": sys.argv, "env": dict(os.environ)}}).encode())
http.server.HTTPServer(("127.0.0.1", port), Answer).serve_forever()
"""
"""What stands for Grafana: it tells whoever asks how it was started."""


class Dashboards:
    """The command as a process of its own, and what it says."""

    def __init__(self, at, path):
        self._process = subprocess.Popen(
            [sys.executable, str(DEPLOY / "dashboards.py"), at],
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said = []
        for line in self._process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("interrupt"):
                break

    def url(self, what):
        """Return the address that was told of a program."""
        (line,) = [line for line in self.said if line.startswith(what)]
        return re.search(r"http://[\d.:]+", line)[0]

    def programs(self):
        """Return what it has started."""
        return psutil.Process(self._process.pid).children()

    def stop(self, how=signal.SIGINT):
        """Interrupt it and return its exit code."""
        self._process.send_signal(how)
        code = self._process.wait(TIMEOUT_S)
        self._process.stdout.close()
        return code


def get(url):
    with urlopen(url) as answer:  # noqa: S310  # our own
        return json.load(answer)


def up(url):
    """Return what Prometheus knows of its targets, once it has asked them."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        found = get(f"{url}/api/v1/query?query={quote('up')}")["data"]["result"]
        if found or time.monotonic() > deadline:
            return {one["metric"]["instance"]: one["value"][1] for one in found}
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
async def test_prometheus_watches_the_service_until_interrupted(tmp_path, how):
    async with serving(tmp_path, metrics_listen="127.0.0.1:0") as served:
        at = f"127.0.0.1:{served.server.metrics_port}"
        shown = await asyncio.to_thread(Dashboards, at, os.environ["PATH"])
        url = shown.url("Prometheus")
        assert await asyncio.to_thread(up, url) == {at: "1"}
        rules = (await asyncio.to_thread(get, f"{url}/api/v1/rules"))["data"]["groups"]
        assert {group["name"] for group in rules} >= {"croupier-service", "croupier-return-1d"}
        programs = shown.programs()
        assert await asyncio.to_thread(shown.stop, how) == 0
        assert not any(program.is_running() for program in programs)


async def test_grafana_is_given_the_dashboards_and_this_prometheus(tmp_path):
    fake = tmp_path / "bin" / "grafana"
    fake.parent.mkdir()
    fake.write_text(GRAFANA.format(python=sys.executable))
    fake.chmod(0o755)
    prometheus = os.path.dirname(shutil.which("prometheus"))  # noqa: PTH120  # of a text
    async with serving(tmp_path / "data", metrics_listen="127.0.0.1:0") as served:
        at = f"127.0.0.1:{served.server.metrics_port}"
        path = f"{fake.parent}{os.pathsep}{prometheus}"
        shown = await asyncio.to_thread(Dashboards, at, path)
        started = await asyncio.to_thread(get, shown.url("Grafana"))
        assert started["argv"][1] == "server"
        provisioning = started["env"]["GF_PATHS_PROVISIONING"]
        with open(f"{provisioning}/datasources/prometheus.yml") as file:  # noqa: ASYNC230, PTH123
            assert shown.url("Prometheus") in file.read()
        with open(f"{provisioning}/dashboards/croupier.yml") as file:  # noqa: ASYNC230, PTH123
            assert str(DEPLOY / "grafana/dashboards") in file.read()
        assert await asyncio.to_thread(shown.stop) == 0
