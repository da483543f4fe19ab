"""`croupier migrate`: a ledger copied from one engine to another, and proved to be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from eventsourcing.persistence import PersistenceError
from rich.console import Console
from rich.progress import Progress

from croupier.domain.names import is_id
from croupier.services.commands.process import fail
from croupier.services.ledger.book import LogError
from croupier.services.ledger.copying import Copied, CopyRefusedError, copy
from croupier.services.store.choosing import SQLITE, check_engine, engines_of
from croupier.services.store.store import Engine

HERE = Path("data")
"""The folder of an engine that is called `sqlite` and no more."""

Source = Annotated[str, typer.Option("--from", help="the engine that has the ledger")]
Target = Annotated[str, typer.Option("--to", help="the engine that is to have it")]
Ledger = Annotated[str, typer.Option(help="the ledger's id")]


def migrate(*, source: Source, ledger: Ledger, target: Target) -> None:
    """Copy a ledger from one engine to another, byte for byte, while nobody writes to it.

    An engine is what `croupier serve --engine` takes: sqlite:FOLDER or a redis URL. What was
    interrupted is served by nobody, and the same command goes on with it. Exits with 1 if the
    ledger was not copied to the end.
    """
    if not is_id(ledger):
        fail(f"{ledger!r} is no ledger's id", code=2)
    _check(source, "from")
    _check(target, "to")
    _check_folder(source)
    try:
        with closing(_engine(source)) as there, closing(_engine(target)) as here:
            copied = _copied(there, ledger, here)
    except (CopyRefusedError, LogError, PersistenceError, OSError) as error:
        fail(f"ledger {ledger} was not copied: {error}")
    if copied.resumed_at:
        typer.echo(f"went on after position {copied.resumed_at}, where a copy had ended")
    typer.echo(f"events       {copied.head.position}")
    typer.echo(f"request ids  {copied.requests}")
    typer.echo(f"root         {copied.head.frontier.root.hex()}, recomputed on both sides")


def _check(place: str, option: str) -> None:
    try:
        check_engine(place)
    except ValueError as error:
        fail(f"--{option}: {error}", code=2)


def _check_folder(source: str) -> None:
    """Refuse a folder that does not exist: the engine would make it."""
    scheme, _, folder = source.partition(":")
    if scheme == SQLITE and not (Path(folder) if folder else HERE).is_dir():
        fail(f"--from: {folder or HERE} is no folder", code=2)


def _engine(place: str) -> Engine:
    return engines_of(place, {}, HERE).usual


def _copied(source: Engine, ledger: str, target: Engine) -> Copied:
    if not source.exists(ledger):
        raise CopyRefusedError("the source has no such ledger")
    with (
        closing(source.open(ledger)) as there,
        closing(target.open(ledger)) as here,
        _shown() as progress,
    ):
        return copy(there, here, progress)


@contextmanager
def _shown() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far the copy is on standard error, where a person reads it."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bars:
        tasks = {}

        def told(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of)
            bars.update(tasks[what], completed=done)

        yield told
