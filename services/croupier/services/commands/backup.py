"""`croupier backup` and `croupier restore`: ledgers out of a folder, and back into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from eventsourcing.persistence import PersistenceError

from croupier.services.backup.copying import (
    DRAW_KEY,
    back_up,
    back_up_from,
    copy_draw_key,
    ledgers_in,
    manifests_in,
)
from croupier.services.backup.copying import (
    restore as put_back,
)
from croupier.services.backup.manifest import BackupError, Manifest
from croupier.services.commands.process import fail
from croupier.services.config import Settings
from croupier.services.store.choosing import SQLITE, check_engine, engines_of

DATA = Settings.model_fields["data"].default
Data = Annotated[Path, typer.Option(help="folder of the ledgers' files")]
EngineName = Annotated[
    str, typer.Option("--engine", help="where the ledgers are, as for serve; sqlite is --data")
]
Some = Annotated[
    list[str] | None,
    typer.Option("--ledger", help="only this ledger; may be repeated", show_default=False),
]


def backup(
    *,
    to: Annotated[Path, typer.Option(help="folder for the copies, made if missing")],
    data: Data = DATA,
    engine: EngineName = SQLITE,
    ledger: Some = None,
    include_draw_key: Annotated[
        bool,
        typer.Option("--include-draw-key", help=f"copy {DRAW_KEY} too, which is as secret as dice"),
    ] = False,
) -> None:
    """Copy ledgers while they are served, each with a manifest, and check the copies.

    Exits with 1 if one could not be copied whole; the others are.
    """
    try:
        check_engine(engine)
    except ValueError as error:
        fail(f"--engine: {error}", code=2)
    scheme, _, path = engine.partition(":")
    try:
        if scheme == SQLITE:
            folder = Path(path) if path else data
            failed = _back_up_files(folder, ledger or [], to)
        else:
            with closing(engines_of(engine, {}, data)) as there:
                failed = _back_up_all(
                    ledger or there.ledgers(), there.where, to, partial(back_up_from, there.usual)
                )
        _back_up_key(data, to, included=include_draw_key)
    except (BackupError, OSError, PersistenceError) as error:
        fail(str(error))
    if failed:
        raise typer.Exit(1)


def _back_up_files(folder: Path, ledgers: Sequence[str], to: Path) -> bool:
    if not folder.is_dir():
        raise BackupError(f"{folder} is no folder")
    return _back_up_all(ledgers or ledgers_in(folder), str(folder), to, partial(back_up, folder))


def _back_up_all(
    ledgers: Sequence[str], where: str, to: Path, copied: Callable[[str, Path], Manifest]
) -> bool:
    """Copy ledgers one after the other; return whether one of them could not be copied."""
    if not ledgers:
        raise BackupError(f"{where} has no ledgers")
    failed = False
    to.mkdir(parents=True, exist_ok=True, mode=0o700)
    for one in ledgers:
        try:
            _say(copied(one, to), to)
        except BackupError as error:
            typer.echo(str(error), err=True)
            failed = True
    return failed


def _back_up_key(data: Path, to: Path, *, included: bool) -> None:
    if included:
        copy_draw_key(data, to)
        typer.echo(f"{DRAW_KEY} is in {to}: who can read it knows the dice before they are shown")
    elif (data / DRAW_KEY).exists():
        typer.echo(
            f"{DRAW_KEY} is not in {to}: keep a copy elsewhere. Without it, draws that the ledgers "
            "have committed to cannot be opened after a restore"
        )


def restore(
    *,
    source: Annotated[Path, typer.Option("--from", help="folder of the copies")],
    data: Data = DATA,
    ledger: Some = None,
) -> None:
    """Put copies of ledgers into a folder, after checking each whole; never over another.

    Exits with 1, and leaves nothing behind, if one is not what its manifest says.
    """
    try:
        manifests = manifests_in(source, ledger or [])
        put_back(source, manifests, data)
        for manifest in manifests:
            _say(manifest, data)
            typer.echo(
                f"  what was acknowledged after {manifest.recorded_time} is not in it; compare "
                "position and root with the newest that were written down"
            )
        if (source / DRAW_KEY).exists():
            copy_draw_key(source, data)
            typer.echo(f"{DRAW_KEY} is in {data}")
        elif not (data / DRAW_KEY).exists():
            typer.echo(
                f"no {DRAW_KEY} came with it: put the ledgers' own in {data} (or draw_key) before "
                "the service starts, or it makes a new one"
            )
    except (BackupError, OSError) as error:
        fail(str(error))


def _say(manifest: Manifest, folder: Path) -> None:
    typer.echo(
        f"{folder / manifest.file}: ledger {manifest.ledger} to position {manifest.position}, "
        f"root {manifest.root}, {manifest.bytes} bytes"
    )
