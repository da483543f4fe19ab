"""`croupier serve --workers N`: a parent that keeps N processes of the service running.

Each worker is `croupier serve` in an interpreter of its own, on ports of its own; the parent serves
nothing. A worker's standard input is a pipe that nobody writes to: it ends when the parent does,
however the parent ends, and the worker ends with it. On its standard output a worker says in one
line of JSON that it is ready, or why it cannot start.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import secrets
import signal
import socket
import sys
from asyncio import sleep
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from dataclasses import asdict
from threading import Thread

import structlog
import typer

from croupier.services.banner import Standing, banner
from croupier.services.commands.notify import READY, STOPPING, notify
from croupier.services.commands.process import end_by, stop_asked
from croupier.services.config import Settings, join_address, moved, split_address
from croupier.services.server import PortTakenError, Server

logger = structlog.get_logger()

PROGRAM = "from croupier.services.cli import main; main()"

PORTS = range(20_000, 32_000)
"""Where free ports are looked for. They lie below those that systems hand out for connections, so
that the port of a worker that died is still free when it comes back."""

ATTEMPTS = 20
"""How often free ports are looked for."""

PAUSE_S = 0.1
PAUSE_MAX_S = 30.0
STEADY_S = 60.0
"""Before a worker that died is started again there is a pause, twice as long each time; after one
that ran for so long it is the first pause again. All in seconds."""

MARGIN_S = 10.0
"""How much longer than its time of grace a worker may take to stop, seconds."""

ASKED = frozenset({0, -signal.SIGTERM, -signal.SIGINT})
"""How a worker ends that was asked to."""


# --- in a worker ---------------------------------------------------------------------------------


def end_with_parent() -> None:
    """Stop this process, as SIGTERM does, when its standard input ends."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, daemon=True, name="end with parent").start()


def patient(number: signal.Signals) -> None:
    """Take no notice of a second signal: the parent may send one after somebody else did.

    Whoever cannot wait kills the worker.
    """
    del number


def tell_parent(server: Server) -> None:
    """Say that this process is ready."""
    _say(ready=asdict(server.standing()))


def tell_parent_why_not(error: Exception) -> None:
    """Say why this process cannot start."""
    _say(failed=str(error), taken=error.setting if isinstance(error, PortTakenError) else "")


def _say(**what: object) -> None:
    with contextlib.suppress(OSError):  # the parent is gone, and this process goes too
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()


# --- in the parent -------------------------------------------------------------------------------


class CannotStartError(Exception):
    """A worker did not become ready."""

    def __init__(self, message: str, *, taken: str = "") -> None:
        """Say why; `taken` is the setting whose port another service has, if that is why."""
        super().__init__(message)
        self.taken = taken


class Worker:
    """One process, started again whenever it dies."""

    def __init__(self, settings: Settings) -> None:
        """Prepare a process with these settings, which are those of one process."""
        self._settings = settings
        self._process: Process | None = None
        self._pauses = _pauses()
        self._ready_at = 0.0
        self.address = settings.address()

    async def start(self) -> Standing:
        """Start the process and return how it stands once it is ready.

        Raises:
            CannotStartError: it ended before.

        """
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", PROGRAM, "serve", "--as-worker"),
            *_flags(self._settings),
            env=os.environ | _secrets(self._settings),
            stdin=PIPE,
            stdout=PIPE,
            limit=2**24,
            # Interrupted from a terminal, the parent alone is told, and tells the workers.
            process_group=0,
        )
        assert process.stdout is not None
        line = await process.stdout.readline()
        said = json.loads(line) if line else {}
        if "ready" in said:
            self._ready_at = _now()
            return Standing(**said["ready"])
        code = await process.wait()
        why = said.get("failed", f"the worker at {self.address} {_ended(code)} before it was ready")
        raise CannotStartError(why, taken=said.get("taken", ""))

    async def keep(self) -> None:
        """Start the process again whenever it ends, for ever."""
        while True:
            assert self._process is not None
            code = await self._process.wait()
            why: str | None = _ended(code)
            if code in ASKED:
                # Somebody restarts it on purpose: nothing is wrong, and nobody has to wait long.
                logger.info("worker stopped", address=self.address, how=why, pause_s=PAUSE_S)
                why = await self._started_after(PAUSE_S)
            elif _now() - self._ready_at >= STEADY_S:
                self._pauses = _pauses()
            while why is not None:
                pause_s = next(self._pauses)
                logger.error("worker died", address=self.address, how=why, pause_s=pause_s)
                why = await self._started_after(pause_s)

    async def _started_after(self, pause_s: float) -> str | None:
        """Start the process after a pause; return why it cannot, None if it did."""
        await sleep(pause_s)
        try:
            await self.start()
        except (CannotStartError, OSError) as error:
            return str(error)
        logger.info("worker is back", address=self.address)
        return None

    async def stop(self) -> int:
        """Ask the process to stop, wait until it has, and return its exit code.

        One that does not stop in time is killed.
        """
        process = self._process
        if process is None or process.returncode is not None:
            return 0  # it ended before, which was said then
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(self._settings.grace_s + MARGIN_S):
                code = await process.wait()
        except TimeoutError:
            logger.critical("worker does not stop, killed", address=self.address)
            self.kill()
            return await process.wait()
        # One that was still starting has nothing to finish.
        return 0 if code == -signal.SIGTERM else code

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()


async def supervise(settings: Settings) -> int:
    """Run the workers until interrupted and return the exit code."""
    workers: list[Worker] = []

    def at_once(number: signal.Signals) -> None:
        for worker in workers:
            worker.kill()
        end_by(number)

    interrupted = asyncio.ensure_future(stop_asked(at_once).wait())
    running = asyncio.ensure_future(_run(settings, workers))
    await asyncio.wait([interrupted, running], return_when=asyncio.FIRST_COMPLETED)
    failure = running.exception() if running.done() else None
    if failure is None:
        notify(STOPPING)
        typer.echo("stopping: calls taken are finished first")
    elif isinstance(failure, CannotStartError | OSError):
        typer.echo(str(failure), err=True)
    interrupted.cancel()
    running.cancel()
    await asyncio.gather(interrupted, running, return_exceptions=True)
    codes = await _stop(workers)
    if failure is not None and not isinstance(failure, CannotStartError | OSError):
        raise failure
    return int(failure is not None or any(codes))


async def _run(settings: Settings, workers: list[Worker]) -> None:
    """Start `workers`, say so, and keep them running for ever."""
    for attempt in range(1, ATTEMPTS + 1):
        settled = _with_ports(settings)
        workers[:] = [Worker(one) for one in settings_of_workers(settled)]
        try:
            standings = await asyncio.gather(*(worker.start() for worker in workers))
        except CannotStartError as error:
            # Somebody took a port between looking for it and listening on it; one that was given
            # would be as taken the next time.
            if error.taken not in _looked_for(settings) or attempt == ATTEMPTS:
                raise
            await _stop(workers)
            continue
        for line in banner(settled, standings):
            typer.echo(line)
        sys.stdout.flush()
        notify(READY, f"STATUS=serving with {len(workers)} workers")
        await asyncio.gather(*(worker.keep() for worker in workers))


async def _stop(workers: list[Worker]) -> list[int]:
    return await asyncio.gather(*(worker.stop() for worker in workers))


def settings_of_workers(settings: Settings) -> list[Settings]:
    """Return the settings of each worker; where to listen is settled by now."""
    addresses = tuple(settings.address(number) for number in range(settings.workers))
    return [
        settings.model_copy(
            update={
                "workers": 1,
                "listen": moved(settings.listen, number),
                "metrics_listen": settings.metrics_listen
                and moved(settings.metrics_listen, number),
                "advertise": address,
                "peers": settings.peers or addresses,
            }
        )
        for number, address in enumerate(addresses)
    ]


def _looked_for(settings: Settings) -> set[str]:
    """Return which settings ask for any free port."""
    return {
        name
        for name in ("listen", "metrics_listen")
        if (address := getattr(settings, name)) and not split_address(address)[1]
    }


def _with_ports(settings: Settings) -> Settings:
    """Return settings with free ports in place of port 0."""
    taken = range(0)
    found: dict[str, str] = {}
    for name in ("listen", "metrics_listen"):
        if not (address := getattr(settings, name)):
            continue
        host, port = split_address(address)
        if not port:
            port = free_ports(host, settings.workers, taken)
            found[name] = join_address(host, port)
        taken = range(port, port + settings.workers)
    return settings.model_copy(update=found)


def free_ports(host: str, count: int, taken: range = range(0)) -> int:
    """Return the first of `count` ports in a row that nobody listens on and are not `taken`.

    Raises:
        OSError: there are none, or `host` is not one of this machine.

    """
    for _ in range(ATTEMPTS):
        first = secrets.choice(PORTS)
        ports = range(first, first + count)
        if all(port not in taken and _is_free(host, port) for port in ports):
            return first
    raise OSError(f"{host} has no {count} free ports in a row")


def _is_free(host: str, port: int) -> bool:
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
    return True


def _secrets(settings: Settings) -> dict[str, str]:
    """Return the variables for what may hold a password: flags are for everybody to see."""
    engines = " ".join(f"{ledger}={engine}" for ledger, engine in settings.engines.items())
    return {"CROUPIER_ENGINE": settings.engine, "CROUPIER_ENGINES": engines}


def _flags(settings: Settings) -> Iterator[str]:
    """Yield flags that say the rest of `settings`, so that nothing else has a say."""
    for name in Settings.model_fields.keys() - {"engine", "engines"}:
        value, flag = getattr(settings, name), name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        elif isinstance(value, tuple):
            yield f"--{flag}={','.join(value)}"
        elif value is not None:
            yield f"--{flag}={value}"


def _pauses() -> Iterator[float]:
    pause_s = PAUSE_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, PAUSE_MAX_S)


def _ended(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with {code}"


def _now() -> float:
    return asyncio.get_running_loop().time()
