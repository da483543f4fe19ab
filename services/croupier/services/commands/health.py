"""`croupier health`: whether a server serves, for probes and for people."""

from __future__ import annotations

from typing import Annotated

import typer

from croupier.services.client import CallRefused
from croupier.services.commands.calling import (
    DEFAULT_ADDRESS,
    Address,
    Roots,
    client_of,
    roots_of,
)
from croupier.services.commands.process import fail, run

Service = Annotated[str, typer.Option(help='a service, or a ledger as "ledgers/NAME"')]


def health(
    *, address: Address = DEFAULT_ADDRESS, service: Service = "", root_certificates: Roots = None
) -> None:
    """Exit with 0 if the server serves, with 1 if not."""
    try:
        serving = run(_serving(address, service, roots_of(root_certificates)))
    except CallRefused as refused:
        fail(f"{address}: {refused}")
    if not serving:
        fail("NOT_SERVING")
    typer.echo("SERVING")


async def _serving(address: str, service: str, roots: bytes | None) -> bool:
    async with client_of(address, None, roots) as client:
        return await client.health.serving(service)
