"""The command line: `croupier serve`, `demo`, `replay`, `backup` and so on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.domain.errors import Refused
from croupier.services import config
from croupier.services.commands.backup import backup, restore
from croupier.services.commands.demo import demo
from croupier.services.commands.health import health
from croupier.services.commands.migrate import migrate
from croupier.services.commands.notify import READY, STOPPING, notify
from croupier.services.commands.odds import odds
from croupier.services.commands.process import (
    Again,
    end_when_asked,
    fail,
    raise_file_limit,
    run,
    set_up_logging,
    stop_asked,
)
from croupier.services.commands.recall import recall
from croupier.services.commands.replay import replay
from croupier.services.commands.unfence import unfence
from croupier.services.commands.workers import (
    end_with_parent,
    patient,
    supervise,
    tell_parent,
    tell_parent_why_not,
)
from croupier.services.ledger.ledgers import NewerProgramError
from croupier.services.rpc.callers import Role, TokenFileError, new_token
from croupier.services.server import Server

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
token_app = typer.Typer(no_args_is_help=True, help="Tokens of callers.")
app.add_typer(token_app, name="token")
for command in (demo, replay, recall, health, odds, backup, restore, migrate, unfence):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"croupier {metadata.version('croupier')}")
        raise typer.Exit


@app.callback()
def croupier(
    version: Annotated[  # answered by its callback
        bool, typer.Option("--version", help="print the version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Keep the ledger of a casino's games: every roll, fade, bet, capture and payout."""


def _flag(name: str) -> Any:
    field = config.Settings.model_fields[name]
    default = "" if field.default in (None, (), {}) else f" [{field.default}]"
    return typer.Option(help=f"{field.description}{default}", show_default=False)


@app.command()
def serve(  # the options' help is the settings' own
    file: Annotated[Path | None, typer.Option("--config", help="TOML file of settings")] = None,
    listen: Annotated[str | None, _flag("listen")] = None,
    metrics_listen: Annotated[str | None, _flag("metrics_listen")] = None,
    workers: Annotated[int | None, _flag("workers")] = None,
    advertise: Annotated[str | None, _flag("advertise")] = None,
    peers: Annotated[str | None, _flag("peers")] = None,
    data: Annotated[Path | None, _flag("data")] = None,
    engine: Annotated[str | None, _flag("engine")] = None,
    engines: Annotated[str | None, _flag("engines")] = None,
    wakeups: Annotated[str | None, _flag("wakeups")] = None,
    draw_key: Annotated[Path | None, _flag("draw_key")] = None,
    tokens: Annotated[Path | None, _flag("tokens")] = None,
    tls_certificate: Annotated[Path | None, _flag("tls_certificate")] = None,
    tls_key: Annotated[Path | None, _flag("tls_key")] = None,
    allow_plaintext: Annotated[bool | None, _flag("allow_plaintext")] = None,
    queue: Annotated[int | None, _flag("queue")] = None,
    backlog: Annotated[int | None, _flag("backlog")] = None,
    calls_per_connection: Annotated[int | None, _flag("calls_per_connection")] = None,
    batch: Annotated[int | None, _flag("batch")] = None,
    streams: Annotated[int | None, _flag("streams")] = None,
    heartbeat_s: Annotated[float | None, _flag("heartbeat_s")] = None,
    live_tables: Annotated[int | None, _flag("live_tables")] = None,
    message_bytes_max: Annotated[int | None, _flag("message_bytes_max")] = None,
    grace_s: Annotated[float | None, _flag("grace_s")] = None,
    lame_duck_s: Annotated[float | None, _flag("lame_duck_s")] = None,
    deadline_max_s: Annotated[float | None, _flag("deadline_max_s")] = None,
    max_connection_age_s: Annotated[float | None, _flag("max_connection_age_s")] = None,
    max_connection_age_grace_s: Annotated[float | None, _flag("max_connection_age_grace_s")] = None,
    min_recv_ping_interval_s: Annotated[float | None, _flag("min_recv_ping_interval_s")] = None,
    permit_without_calls: Annotated[bool | None, _flag("permit_without_calls")] = None,
    slow_call_s: Annotated[float | None, _flag("slow_call_s")] = None,
    trace: Annotated[str | None, _flag("trace")] = None,
    log_level: Annotated[str | None, _flag("log_level")] = None,
    log_format: Annotated[str | None, _flag("log_format")] = None,
    as_worker: Annotated[bool, typer.Option("--as-worker", hidden=True)] = False,
) -> None:
    """Serve ledgers until interrupted."""
    flags = {
        name: value for name, value in locals().items() if name in config.Settings.model_fields
    }
    try:
        settings = config.load(flags, file)
    except config.ConfigError as error:
        fail(f"settings: {error}", code=2)
    set_up_logging(settings.log_level, settings.log_format)
    if settings.workers > 1:
        raise typer.Exit(asyncio.run(supervise(settings)))
    raise_file_limit()
    with end_when_asked():
        _run(settings, as_worker=as_worker)


def _run(settings: config.Settings, *, as_worker: bool) -> None:
    """Serve in this process, which may be one of several under a parent."""
    if as_worker:
        end_with_parent()
        set_up_logging(settings.log_level, settings.log_format, worker=settings.address())
    try:
        run(
            _serve(settings, tell_parent, patient)
            if as_worker
            else _serve(settings, _tell, again=None)
        )
    except (OSError, TokenFileError, NewerProgramError) as error:
        if as_worker:
            tell_parent_why_not(error)
            raise typer.Exit(1) from error
        fail(str(error))


async def _serve(
    settings: config.Settings, tell: Callable[[Server], None], again: Again | None
) -> None:
    async with Server(settings) as server:
        stop = stop_asked(again)  # before anybody is told that there is something to stop
        tell(server)
        await stop.wait()
        if tell is _tell:
            notify(STOPPING)
            typer.echo("stopping: calls taken are finished first")


def _tell(server: Server) -> None:
    for line in server.banner():
        typer.echo(line)
    sys.stdout.flush()
    notify(READY, f"STATUS=serving on port {server.port}")


@token_app.command("new")
def token_new(
    name: Annotated[str, typer.Argument(help="the caller's name, which every record will carry")],
    role: Annotated[list[Role], typer.Option(help="what the caller may do; may be repeated")],
    file: Annotated[Path, typer.Option(help="the token file")] = Path("tokens.json"),
    ledger: Annotated[
        list[str] | None, typer.Option(help="limit the caller to this ledger; may be repeated")
    ] = None,
    player: Annotated[
        list[str] | None,
        typer.Option(help="a player that the role player plays for; may be repeated"),
    ] = None,
) -> None:
    """Make a token for a caller, print it this once, and store its hash."""
    try:
        token = new_token(file, name, role, ledger, player)
    except (TokenFileError, OSError) as error:
        fail(str(error))
    except Refused as refusal:
        fail(refusal.message, code=2)
    except ValueError as error:
        fail(str(error), code=2)
    typer.echo(token)


def main() -> None:
    """Run the command line."""
    app()
