"""`croupier demo`: serves a ledger of demonstration, plays on it, and shows what was recorded."""

from __future__ import annotations

import asyncio
import errno
import io
import shlex
import socket
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from croupier.services.client import CallRefused
from croupier.services.commands.process import fail, run, set_up_logging, stop_asked
from croupier.services.config import Settings, in_words, is_loopback, split_address
from croupier.services.demo.narrate import Narrator
from croupier.services.demo.playing import LEDGER
from croupier.services.demo.run import demonstrate
from croupier.services.ledger.ledgers import NewerProgramError
from croupier.services.server import Server

LISTEN = "127.0.0.1:50051"
METRICS_LISTEN = "127.0.0.1:9464"
ANY = "127.0.0.1:0"

Data = Annotated[
    Path | None,
    typer.Option(help="folder of the ledger; without it a temporary one", show_default=False),
]
EngineUrl = Annotated[
    str,
    typer.Option("--engine", help="where the ledger is kept: sqlite, sqlite:PATH, redis://..."),
]
Stay = Annotated[bool, typer.Option("--stay", help="go on serving until interrupted")]
Listen = Annotated[
    str | None,
    typer.Option(help=f"HOST:PORT for gRPC; with --stay {LISTEN}, else any free port"),
]
MetricsListen = Annotated[
    str | None,
    typer.Option(help=f"HOST:PORT for metrics; with --stay {METRICS_LISTEN}, else any free port"),
]


def demo(
    *,
    data: Data = None,
    engine: EngineUrl = "sqlite",
    stay: Stay = False,
    listen: Listen = None,
    metrics_listen: MetricsListen = None,
) -> None:
    """Play a few sessions on a real server in this process, and check all that was recorded.

    Played again on the same engine, it goes on with the same ledger. Exits with 1 if anything is
    not as it has to be.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # without faces of dice there are the digits
    set_up_logging("warning", "console")
    listen = listen or (_free(LISTEN) if stay else ANY)
    metrics_listen = metrics_listen or (_free(METRICS_LISTEN) if stay else ANY)
    with tempfile.TemporaryDirectory(prefix="croupier-demo-") as temporary:
        settings = _settings(data or Path(temporary), engine, listen, metrics_listen)
        try:
            disagreements = run(_demo(settings, stay=stay))
        except (OSError, CallRefused, NewerProgramError) as error:
            fail(str(error))
    if disagreements:
        fail(f"{len(disagreements)} disagreements, see above")


async def _demo(settings: Settings, *, stay: bool) -> list[str]:
    narrator = Narrator()
    stop = stop_asked() if stay else asyncio.Event()
    async with Server(settings) as server:
        for line in server.banner():
            narrator.say(line)
        host, metrics_host = (
            address.rpartition(":")[0] for address in (settings.listen, settings.metrics_listen)
        )
        address, metrics_address = f"{host}:{server.port}", f"{metrics_host}:{server.metrics_port}"
        disagreements = await demonstrate(server, address, metrics_address, narrator)
        if stay and not disagreements:
            _tell_where(narrator, address, metrics_address, _newest(server))
            await stop.wait()
            narrator.say("stopping: calls taken are finished first")
    if not disagreements:
        narrator.say("all is as it has to be", "bold green")
    return disagreements


def _newest(server: Server) -> list[str]:
    """Return the tables of the newest run that are most worth a look."""
    ids = [table.id for table in server.ledgers.get(LEDGER).tables("", sys.maxsize)]
    runs = [int(one.removeprefix("drawn-")) for one in ids if one.startswith("drawn-")]
    return [f"{key}-{max(runs, default=1)}" for key in ("multiplied", "drawn")]


def _tell_where(
    narrator: Narrator, address: str, metrics_address: str, tables: Iterable[str]
) -> None:
    narrator.heading("The service stays; interrupt it to stop")
    at = "" if address == LISTEN else f" --address {address}"
    narrator.say(f"gRPC     {address}, plaintext, no token needed")
    narrator.say(f"metrics  http://{metrics_address}/metrics")
    where = "" if metrics_address == METRICS_LISTEN else f" METRICS={metrics_address}"
    narrator.say(f"watch    make dashboards{where}")
    command = shlex.quote(sys.argv[0])
    narrator.say(f"try      {command} health{at}")
    for table in tables:
        narrator.say(f"         {command} replay {LEDGER} {table}{at}")
    narrator.say(f"         grpcurl -plaintext {address} list")
    request = f'{{"parent": "ledgers/{LEDGER}"}}'
    narrator.say(
        f"         grpcurl -plaintext -d '{request}' {address} "
        "croupier.v1.AccountService/GetTrialBalance"
    )
    sys.stdout.flush()


def _settings(data: Path, engine: str, listen: str, metrics_listen: str) -> Settings:
    """Return the settings; what the environment says of `croupier serve` does not count here."""
    try:
        for address in (listen, metrics_listen):
            if not is_loopback(split_address(address)[0]):
                fail(f"the demonstration listens on loopback only, not on {address}", code=2)
        given: dict[str, Any] = {"data": data, "listen": listen, "metrics_listen": metrics_listen}
        given |= dict.fromkeys(("tokens", "tls_certificate", "tls_key", "advertise"))
        given |= {"workers": 1, "peers": (), "engine": engine, "engines": {}}
        given |= {"slow_call_s": 0.0, "trace": "off"}
        return Settings(**given)
    except ValidationError as error:
        fail(f"settings: {in_words(error)}", code=2)
    except ValueError as error:
        fail(str(error), code=2)


def _free(address: str) -> str:
    """Return the address, or one with any free port where another service has it."""
    host, port = split_address(address)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            typer.echo(f"{address} is taken by another service: a free port is used instead")
            return ANY
    return address
