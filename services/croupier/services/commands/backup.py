"""`croupier backup` and `croupier restore`: ledgers out of a folder, and back into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from croupier.services.backup.copying import (
    DRAW_KEY,
    back_up,
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

DATA = Settings.model_fields["data"].default
Data = Annotated[Path, typer.Option(help="folder of the ledgers' files")]
Some = Annotated[
    list[str] | None,
    typer.Option("--ledger", help="only this ledger; may be repeated", show_default=False),
]


def backup(
    *,
    to: Annotated[Path, typer.Option(help="folder for the copies, made if missing")],
    data: Data = DATA,
    ledger: Some = None,
    include_draw_key: Annotated[
        bool,
        typer.Option("--include-draw-key", help=f"copy {DRAW_KEY} too, which is as secret as dice"),
    ] = False,
) -> None:
    """Copy ledgers while they are served, each with a manifest, and check the copies.

    Exits with 1 if one could not be copied whole; the others are.
    """
    if not data.is_dir():
        fail(f"{data} is no folder")
    ids = ledger or ledgers_in(data)
    if not ids:
        fail(f"{data} has no ledgers")
    failed = False
    try:
        to.mkdir(parents=True, exist_ok=True, mode=0o700)
        for one in ids:
            try:
                _say(back_up(data, one, to), to)
            except BackupError as error:
                typer.echo(str(error), err=True)
                failed = True
        _back_up_key(data, to, included=include_draw_key)
    except (BackupError, OSError) as error:
        fail(str(error))
    if failed:
        raise typer.Exit(1)


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
