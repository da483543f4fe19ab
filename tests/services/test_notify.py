"""The service manager is told: over a real datagram socket, and never at a cost to the service."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from croupier.services.commands.notify import READY, STOPPING, notify
from tests.support.processes import COMMAND
from tests.support.workers import END_TIMEOUT_S

QUIET = ("serve", "--listen=127.0.0.1:0", "--metrics-listen=")


@pytest.fixture
def folder(tmp_path_factory):
    """A folder with a short name: the path of a socket has a hundred bytes."""
    return tmp_path_factory.mktemp("s")


@pytest.fixture
def manager(folder: Path):
    """A socket as the service manager has one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(folder / "n"))
        listening.settimeout(END_TIMEOUT_S)
        yield listening


def told(manager: socket.socket) -> list[str]:
    return manager.recv(4096).decode().split("\n")


def started(manager: socket.socket, *flags: str) -> subprocess.Popen[str]:
    environment = os.environ | {"NOTIFY_SOCKET": manager.getsockname()}
    words = [*COMMAND, *QUIET, *flags]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_manager_hears_that_it_serves_and_that_it_stops(tmp_path, manager, workers):
    with started(manager, f"--data={tmp_path / 'data'}", f"--workers={workers}") as process:
        first = told(manager)
        process.send_signal(signal.SIGTERM)
        last = told(manager)
        assert process.wait(END_TIMEOUT_S) == 0
    assert first[0] == READY
    assert first[1].startswith("STATUS=serving ")
    assert last == [STOPPING]
    # A worker is not who the manager started: none of them said anything.
    manager.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.recv(1)


def test_a_service_that_cannot_start_never_says_that_it_serves(tmp_path, manager):
    (tmp_path / "data").touch()
    with started(manager, f"--data={tmp_path / 'data'}") as process:
        assert process.wait(END_TIMEOUT_S) == 1
    manager.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.recv(1)


def test_a_name_outside_the_file_system_is_reached():
    name = f"croupier-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + name)
        listening.settimeout(END_TIMEOUT_S)
        notify(READY, "STATUS=here", environment={"NOTIFY_SOCKET": f"@{name}"})
        assert told(listening) == [READY, "STATUS=here"]


def test_without_a_manager_nobody_is_told(monkeypatch):
    monkeypatch.setattr(socket, "socket", pytest.fail)
    notify(READY, environment={})


def test_a_manager_that_is_gone_ends_nothing_and_is_logged(folder):
    with capture_logs() as logs:
        notify(READY, environment={"NOTIFY_SOCKET": str(folder / "gone")})
    (line,) = logs
    assert (line["log_level"], line["socket"]) == ("warning", str(folder / "gone"))


SPINNING = """
import sys
from croupier.services.cli import main
from croupier.services.ledger.ledgers import Ledgers

def recover(self):
    print("recovering", flush=True)
    while True:
        pass

Ledgers.recover = recover
main()
"""


def test_asked_to_stop_while_it_recovers_it_ends_at_once_and_well(tmp_path):
    words = [sys.executable, "-c", SPINNING, *QUIET, f"--data={tmp_path / 'data'}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "recovering\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(END_TIMEOUT_S) == 0
        finally:
            process.kill()
