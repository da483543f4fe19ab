"""`croupier unfence`: what is behind a fence, and with an operator's word the end of it."""

from __future__ import annotations

from typing import Annotated

import typer

from croupier.services.client import CallRefused
from croupier.services.commands.calling import (
    DEFAULT_ADDRESS,
    Address,
    Roots,
    Token,
    client_of,
    roots_of,
)
from croupier.services.commands.process import fail, run
from croupier.v1 import admin_pb2

Ledger = Annotated[str, typer.Argument(help="the ledger's id")]
Accept = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="serve the ledger again, whose log ends at this position; without it, only tell",
        show_default=False,
    ),
]
Reason = Annotated[str, typer.Option(help="why, for the record; with --accept", show_default=False)]
Actor = Annotated[str, typer.Option(help="who says so, for the record", show_default=False)]

Everything = Annotated[
    bool, typer.Option("--all", help="tell every request that is lost, as far as it is known")
]

SHOWN = 20
"""How many lost requests are told one by one."""


def unfence(
    ledger: Ledger,
    *,
    accept: Accept = None,
    reason: Reason = "",
    actor: Actor = "",
    everything: Everything = False,
    address: Address = DEFAULT_ADDRESS,
    token: Token = None,
    root_certificates: Roots = None,
) -> None:
    """Tell why a ledger is fenced and what it has lost; with --accept POSITION serve it again.

    What is lost goes on the record, in the ledger's own log. Exits with 1 if it is not served.
    """
    if (accept is None) != (not reason):
        fail("--accept and --reason go together", code=2)
    roots = roots_of(root_certificates)

    async def asked() -> tuple[admin_pb2.Fence, admin_pb2.UnfenceLedgerResponse | None]:
        async with client_of(address, token, roots) as client:
            fence = await client.admin.fence(ledger)
            if accept is None:
                return fence, None
            return fence, await client.admin.unfence(ledger, accept, reason, actor=actor)

    try:
        fence, answer = run(asked())
    except CallRefused as refused:
        fail(str(refused))
    _tell(fence, len(fence.lost_requests) if everything else SHOWN)
    if answer is None:
        if not fence.position:
            typer.echo(
                "nothing of it is here: is it the right folder, or server, database, prefix?"
            )
            typer.echo("if it is, put a copy back")
            raise typer.Exit(1)
        typer.echo(f"to serve it as it is: --accept {fence.position} --reason '...'")
        raise typer.Exit(1)
    typer.echo(f"ledger {ledger} is served again; position {answer.receipt.position} says why")


def _tell(fence: admin_pb2.Fence, shown: int) -> None:
    typer.echo(f"fenced       {fence.why}")
    typer.echo(f"log ends at  {fence.position}, root {fence.root.hex()}")
    if fence.known_position:
        recorded = fence.known_recorded_time.ToDatetime().isoformat(
            sep=" ", timespec="milliseconds"
        )
        typer.echo(f"seen to end  {fence.known_position}, root {fence.known_root.hex()}")
        typer.echo(f"             recorded {recorded} UTC")
    if not fence.lost_last:
        typer.echo("lost         nothing")
        return
    typer.echo(f"lost         positions {fence.lost_first or '?'} to {fence.lost_last}")
    known = [one.first_position for one in fence.lost_requests]
    if not known or min(known) > fence.lost_first:
        before = f" before position {min(known)}" if known else ""
        typer.echo(f"             this process does not know the requests{before}")
    for one in fence.lost_requests[:shown]:
        positions = f"{one.first_position} to {one.position}"
        typer.echo(f"             {one.caller} {one.request_id} (positions {positions})")
    if (more := len(fence.lost_requests) - shown) > 0:
        typer.echo(f"             and {more} more that it knows: --all tells them")
