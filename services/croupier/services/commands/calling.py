"""The options of commands that call a server, and the client they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from croupier.services.client import Client, Patience
from croupier.services.commands.process import fail
from croupier.services.files import read

Address = Annotated[str, typer.Option(help="HOST:PORT of the server")]
Token = Annotated[
    str | None, typer.Option(envvar="CROUPIER_TOKEN", help="the caller's token", show_default=False)
]
Roots = Annotated[
    Path | None,
    typer.Option(help="PEM file of root certificates; with it the server is called by TLS"),
]

DEFAULT_ADDRESS = "127.0.0.1:50051"
PATIENCE = Patience(deadline_s=10.0, attempt_s=5.0)


def roots_of(file: Path | None) -> bytes | None:
    """Return the root certificates of a file, or exit where it cannot be read."""
    try:
        return None if file is None else read(file, "root certificates")
    except OSError as error:
        fail(str(error), code=2)


def client_of(
    address: str, token: str | None, roots: bytes | None, patience: Patience = PATIENCE
) -> Client:
    """Return a client with a person's patience."""
    return Client(address, token, roots, patience)
