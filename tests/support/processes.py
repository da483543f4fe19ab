"""Real server processes on free ports of the loopback interface."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self
from urllib.request import urlopen

from tests.support.engines import engine_of

COMMAND = (sys.executable, "-c", "from croupier.services.cli import main; main()")
START_TIMEOUT_S = 30

WITHOUT_ROOM = ("sh", "-c", 'ulimit -S -f 0 && exec "$@"', "sh")
"""Before a command: it may not write a byte to any file."""


class ServerProcess:
    """`croupier serve` as a process of its own, ready when it says where it listens."""

    def __init__(
        self, data: Path, *flags: str, no_room: bool = False, log: Path | None = None
    ) -> None:
        """Start it; with `no_room` it may not write to any file until its limit is raised.

        Its log lines go to a file if there is one to be.
        """
        self._log = None if log is None else log.open("wb")
        self._process = subprocess.Popen(
            [
                *(WITHOUT_ROOM if no_room else ()),
                *COMMAND,
                "serve",
                "--listen=127.0.0.1:0",
                "--metrics-listen=127.0.0.1:0",
                f"--data={data}",
                f"--engine={engine_of(data)}",
                *flags,
            ],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self._process.stdout is not None
        self.said: list[str] = []
        for line in self._process.stdout:
            self.said.append(line)
            if line.startswith("  callers"):  # the last line of what it says
                break
        self.port = self._port("gRPC")
        self.metrics_port = self._port("metrics")

    def _port(self, what: str) -> int:
        line = next(line for line in self.said if line.split()[0] == what)
        found = re.search(r":(\d+)", line.replace("http://", ""))
        assert found, line
        return int(found[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End it as a power cut would: nothing is flushed, nothing is told."""
        self._process.kill()
        self._process.wait()
        self._close()

    def stop(self) -> int:
        """Ask it to stop and return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end and return its exit code."""
        code = self._process.wait(START_TIMEOUT_S)
        self._close()
        return code

    def metrics(self) -> str:
        """Return what it tells Prometheus."""
        with urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as answer:  # our own server
            text: str = answer.read().decode()
        return text

    def _close(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process.poll() is None:
            self.kill()
