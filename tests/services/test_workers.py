"""The parent of workers: ports in a row, settings for each, and patience with those that die."""

from __future__ import annotations

import asyncio
import itertools
import signal
import socket

import pytest
import typer
from structlog.testing import capture_logs

from croupier.services.commands import workers
from croupier.services.commands.workers import (
    ATTEMPTS,
    PAUSE_MAX_S,
    PAUSE_S,
    CannotStartError,
    Worker,
    free_ports,
    settings_of_workers,
    supervise,
)
from croupier.services.config import Settings, load
from tests.support.serving import CALL_TIMEOUT_S

READY = '{"ready": {"port": 1, "metrics_port": 0, "engine": "e", "durability": "d", "ledgers": 0}}'
PRINTS_READY = f"print({READY!r})"
DEAF = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    f"print({READY!r}, flush=True); signal.pause()"
)


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def of_two(tmp_path, **settings):
    given = {"listen": "127.0.0.1:0", "metrics_listen": "", "data": tmp_path, "workers": 2}
    return Settings(**(given | settings))


async def supervised(settings, monkeypatch, then):
    """Supervise until the banner is there, do `then`, interrupt; return code and banner."""
    said, ready = [], asyncio.Event()

    def echo(line, **how):
        said.append(line)
        if line.startswith("  callers"):
            ready.set()

    monkeypatch.setattr(typer, "echo", echo)
    running = asyncio.ensure_future(supervise(settings))
    async with asyncio.timeout(CALL_TIMEOUT_S):
        await asyncio.wait(
            [running, asyncio.ensure_future(ready.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        if not running.done():
            await then()
            signal.raise_signal(signal.SIGTERM)
        return await running, said


async def nothing():
    pass


def test_free_ports_are_in_a_row_and_free(taken, monkeypatch):
    first = free_ports("127.0.0.1", 5)
    for port in range(first, first + 5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", port))
    monkeypatch.setattr(workers, "PORTS", range(taken - 1, taken))
    with pytest.raises(OSError, match=r"127\.0\.0\.1 has no 2 free ports in a row"):
        free_ports("127.0.0.1", 2)
    monkeypatch.setattr(workers, "PORTS", range(first, first + 1))
    with pytest.raises(OSError, match="has no 2 free ports"):
        free_ports("127.0.0.1", 2, range(first + 1, first + 2))


def test_a_host_that_is_not_of_this_machine_is_no_reason_to_look_further():
    with pytest.raises(OSError, match="assign"):
        free_ports("192.0.2.1", 1)


def test_each_worker_has_its_ports_and_knows_the_others(tmp_path):
    settings = of_two(tmp_path, listen="[::1]:7000", metrics_listen="127.0.0.1:8000")
    first, second = settings_of_workers(settings)
    assert (first.listen, first.metrics_listen) == ("[::1]:7000", "127.0.0.1:8000")
    assert (second.listen, second.metrics_listen) == ("[::1]:7001", "127.0.0.1:8001")
    for one in (first, second):
        assert one.peers == ("[::1]:7000", "[::1]:7001")
        assert (one.workers, one.advertise) == (1, one.listen)


def test_workers_of_two_machines_know_all_peers(tmp_path):
    peers = ("a:7000", "a:7001", "b:7000", "b:7001")
    settings = of_two(tmp_path, listen="127.0.0.1:7000", advertise="a:7000", peers=peers)
    first, second = settings_of_workers(settings)
    assert (first.advertise, second.advertise) == ("a:7000", "a:7001")
    assert first.peers == second.peers == peers
    assert (first.metrics_listen, second.metrics_listen) == ("", "")


def test_the_flags_of_a_worker_say_all_of_its_settings(tmp_path, monkeypatch):
    tokens = tmp_path / "to kens.json"
    settings = of_two(
        tmp_path,
        listen="0.0.0.0:7000",
        advertise="casino:7000",
        tokens=tokens,
        allow_plaintext=True,
        grace_s=1.5,
        log_format="json",
    )
    worker = settings_of_workers(settings)[1]
    flags = dict(
        one.removeprefix("--").split("=", 1) for one in workers._flags(worker) if "=" in one
    )
    switches = [one for one in workers._flags(worker) if "=" not in one]
    assert set(switches) == {"--allow-plaintext", "--permit-without-calls"}
    settings = of_two(tmp_path, listen="127.0.0.1:7000")
    assert "--no-allow-plaintext" in list(workers._flags(settings))
    # What the environment says has no say in a worker.
    monkeypatch.setenv("CROUPIER_WORKERS", "7")
    monkeypatch.setenv("CROUPIER_PEERS", "elsewhere:1")
    given = {name.replace("-", "_"): value for name, value in flags.items()}
    loaded = load(given | {"allow_plaintext": True, "permit_without_calls": True}, None)
    assert loaded.model_dump() == worker.model_dump()


async def test_ports_that_somebody_takes_in_between_are_given_up_for_others(
    tmp_path, taken, monkeypatch
):
    found = iter([taken, taken - 1])
    monkeypatch.setattr(
        workers, "free_ports", lambda host, count, but: next(found, None) or free_ports(host, count)
    )
    code, said = await supervised(of_two(tmp_path), monkeypatch, nothing)
    assert code == 0
    assert next(found, None) is None
    assert said[0].startswith("croupier ")
    assert sum(line.startswith("croupier ") for line in said) == 1
    assert said[-1].startswith("stopping")


async def test_ports_are_not_looked_for_for_ever(tmp_path, taken, monkeypatch):
    looked = []
    monkeypatch.setattr(workers, "ATTEMPTS", 2)
    monkeypatch.setattr(workers, "free_ports", lambda *asked: looked.append(asked) or taken)
    code, said = await supervised(of_two(tmp_path), monkeypatch, nothing)
    assert ATTEMPTS > 2
    assert (code, len(looked)) == (1, 2)
    assert said == [f"cannot listen on 127.0.0.1:{taken}: is another service there?"]


async def test_what_the_parent_is_told_of_one_that_cannot_start(tmp_path, monkeypatch):
    (settings, _) = settings_of_workers(of_two(tmp_path, listen="127.0.0.1:7000"))
    for program, message in (
        ("import os; os.kill(os.getpid(), 9)", "127.0.0.1:7000 was ended by signal 9 before"),
        ("raise SystemExit(3)", "127.0.0.1:7000 ended with 3 before"),
        ("""print('{"failed": "no disk"}'); raise SystemExit(1)""", "^no disk$"),
    ):
        monkeypatch.setattr(workers, "PROGRAM", program)
        with pytest.raises(CannotStartError, match=message):
            await Worker(settings).start()


async def test_one_that_dies_again_and_again_is_started_with_growing_pauses(tmp_path, monkeypatch):
    lives = itertools.count()
    # It starts, dies, cannot start twice, starts, and dies again.
    dies = f"{PRINTS_READY}; raise SystemExit(3)"
    programs = [dies, "", "raise SystemExit(1)", dies]
    monkeypatch.setattr(workers, "_flags", lambda settings: iter([programs[min(next(lives), 3)]]))
    monkeypatch.setattr(workers, "PROGRAM", "import sys; exec(sys.argv[-1])")
    pauses, enough = [], asyncio.Event()

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 12:
            enough.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(workers, "sleep", sleep)
    worker = Worker(settings_of_workers(of_two(tmp_path, listen="127.0.0.1:7000"))[0])
    with capture_logs() as logs:
        await worker.start()
        keeping = asyncio.ensure_future(worker.keep())
        async with asyncio.timeout(CALL_TIMEOUT_S):
            await enough.wait()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    expected = [min(PAUSE_S * 2**number, PAUSE_MAX_S) for number in range(12)]
    assert pauses == pytest.approx(expected)
    events = [one["event"] for one in logs]
    assert events[:5] == ["worker died"] * 3 + ["worker is back", "worker died"]
    assert all(one["address"] == "127.0.0.1:7000" for one in logs)


async def test_one_that_ran_for_long_is_started_again_after_a_short_pause(tmp_path, monkeypatch):
    worker = Worker(settings_of_workers(of_two(tmp_path, listen="127.0.0.1:7000"))[0])
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            raise asyncio.CancelledError

    monkeypatch.setattr(workers, "sleep", sleep)
    monkeypatch.setattr(workers, "STEADY_S", 0.0)
    monkeypatch.setattr(workers, "PROGRAM", f"{PRINTS_READY}; raise SystemExit(3)")
    await worker.start()
    with pytest.raises(asyncio.CancelledError):
        await worker.keep()
    assert pauses == [PAUSE_S, PAUSE_S]


@pytest.mark.parametrize("ends", ["", "import os; os.kill(os.getpid(), 15)"])
async def test_one_that_was_asked_to_stop_is_back_soon_and_has_not_died(
    tmp_path, monkeypatch, ends
):
    worker = Worker(settings_of_workers(of_two(tmp_path, listen="127.0.0.1:7000"))[0])
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 4:
            raise asyncio.CancelledError

    monkeypatch.setattr(workers, "sleep", sleep)
    monkeypatch.setattr(workers, "PROGRAM", f"print({READY!r}, flush=True); {ends}")
    with capture_logs() as logs:
        await worker.start()
        with pytest.raises(asyncio.CancelledError):
            await worker.keep()
    assert pauses == [PAUSE_S] * 4
    assert {(one["event"], one["log_level"]) for one in logs} == {
        ("worker stopped", "info"),
        ("worker is back", "info"),
    }


@pytest.mark.parametrize("given", ["listen", "metrics_listen"])
async def test_a_port_that_was_given_and_is_taken_is_said_at_once(
    tmp_path, taken, monkeypatch, given
):
    starts = []
    start = Worker.start
    monkeypatch.setattr(Worker, "start", lambda worker: starts.append(worker) or start(worker))
    settings = of_two(
        tmp_path, **({"metrics_listen": "127.0.0.1:0"} | {given: f"127.0.0.1:{taken}"})
    )
    code, said = await supervised(settings, monkeypatch, nothing)
    assert (code, len(starts)) == (1, 2)
    (line,) = said
    # The second worker's port may be somebody else's by chance, and said first.
    assert any(f"127.0.0.1:{port}" in line for port in (taken, taken + 1))


async def test_one_that_does_not_stop_is_killed(tmp_path, monkeypatch):
    settings = of_two(tmp_path, listen="127.0.0.1:7000", grace_s=0)
    worker = Worker(settings_of_workers(settings)[0])
    monkeypatch.setattr(workers, "MARGIN_S", 0.01)
    monkeypatch.setattr(workers, "PROGRAM", DEAF)
    await worker.start()
    with capture_logs() as logs:
        assert await worker.stop() == -signal.SIGKILL
    assert [one["event"] for one in logs] == ["worker does not stop, killed"]
    assert await worker.stop() == 0
