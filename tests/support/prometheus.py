"""A real Prometheus of the system's package, with the deployed rules, on a free port."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import yaml

from croupier.services.commands.workers import free_ports
from tests.support.watching import DEPLOY, RULES

PROGRAMS = ("prometheus", "promtool")
START_TIMEOUT_S = 30
PAUSE_S = 0.05


def missing() -> list[str]:
    """Return the programs that this machine does not have."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


class Prometheus:
    """Scrapes some ports every second and evaluates the deployed rules as often."""

    def __init__(self, folder: Path, targets: list[str]) -> None:
        folder.mkdir(exist_ok=True)
        config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        config["global"] = dict.fromkeys(("scrape_interval", "evaluation_interval"), "1s")
        config["rule_files"] = [str(self._often(folder, file)) for file in RULES]
        config["scrape_configs"][0]["static_configs"] = [{"targets": targets}]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._port = free_ports("127.0.0.1", 1)
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                    "--enable-feature=exemplar-storage",
                ],
                stdout=log,
                stderr=log,
            )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise

    @staticmethod
    def _often(folder: Path, file: Path) -> Path:
        """Return a copy of a file of rules that are evaluated as often as all others."""
        rules = yaml.safe_load(file.read_text())
        for group in rules["groups"]:
            group.pop("interval", None)
        copy = folder / file.name
        copy.write_text(yaml.safe_dump(rules))
        return copy

    def _wait(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            assert self._process.poll() is None, "prometheus ended"
            try:
                with urlopen(f"http://127.0.0.1:{self._port}/-/ready") as answer:
                    if answer.status == 200:
                        return
            except (URLError, OSError):
                pass
            assert time.monotonic() < deadline, "prometheus is not ready"
            time.sleep(PAUSE_S)

    def api(self, path: str) -> Any:
        """Return what its API answers.

        Raises:
            URLError: it refuses the request, for example an expression that does not parse.

        """
        with urlopen(f"http://127.0.0.1:{self._port}/api/v1/{path}") as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Return the series that an expression has now, with their values."""
        found = self.api(f"query?query={quote(expression)}")["result"]
        return [(one["metric"], float(one["value"][1])) for one in found]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
