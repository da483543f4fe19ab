"""`croupier health`: whether a server serves, for probes and for people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from croupier.services.client import CallRefused, Client
from croupier.services.commands.calling import PATIENCE, Roots, roots_of
from croupier.services.commands.own import Own, own
from croupier.services.commands.process import fail, run
from croupier.services.config import ConfigError, load

Address = Annotated[
    str | None,
    typer.Option(
        help="HOST:PORT of the server; without it, of the one that has this environment's settings",
        show_default=False,
    ),
]
Service = Annotated[
    str,
    typer.Option(
        help='a service, or "ledgers/NAME": of ledgers, health knows those that are fenced'
    ),
]
LEDGER = "ledgers/"
Config = Annotated[Path | None, typer.Option("--config", help="TOML file of settings")]


def health(
    *,
    address: Address = None,
    service: Service = "",
    root_certificates: Roots = None,
    config: Config = None,
) -> None:
    """Exit with 0 if the server serves, with 1 if not.

    A container's or a unit's own check needs no option: with the settings that the server has, this
    finds every worker of it, also one that speaks TLS.
    """
    roots = roots_of(root_certificates)
    try:
        asked = Own((address,)) if address else own(load({}, config))
    except ConfigError as error:
        fail(f"settings: {error}", code=2)
    except OSError as error:
        fail(str(error))
    if roots is not None:
        asked = Own(asked.addresses, roots)
    try:
        serving = run(_serving(asked, service))
    except CallRefused as refused:
        if service.startswith(LEDGER) and refused.code.name == "NOT_FOUND":
            typer.echo(f"no fence: {service} is served, or does not exist")
            return
        fail(f"{', '.join(asked.addresses)}: {refused}")
    if not serving:
        fail("NOT_SERVING")
    typer.echo("SERVING")


async def _serving(asked: Own, service: str) -> bool:
    async def one(address: str) -> bool:
        async with Client(
            address, None, asked.roots, PATIENCE, server_name=asked.server_name
        ) as client:
            return await client.health.serving(service)

    return all(await asyncio.gather(*map(one, asked.addresses)))
