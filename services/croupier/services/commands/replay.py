"""`croupier replay`: a table's whole history, replayed and audited by the server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict

from croupier.services import narration
from croupier.services.client import CallRefused, Client, table_name
from croupier.services.commands.calling import (
    DEFAULT_ADDRESS,
    Address,
    Roots,
    Token,
    client_of,
    roots_of,
)
from croupier.services.commands.process import fail, run
from croupier.v1.audit_pb2 import ReplayTableResponse

Ledger = Annotated[str, typer.Argument(help="the ledger's id")]
Table = Annotated[str, typer.Argument(help="the table's id")]
ToVersion = Annotated[
    int, typer.Option(min=0, help="stop after this version; 0 is the newest", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON object a line, as the API has it")]


def replay(
    ledger: Ledger,
    table: Table,
    *,
    address: Address = DEFAULT_ADDRESS,
    token: Token = None,
    root_certificates: Roots = None,
    to_version: ToVersion = 0,
    as_json: AsJson = False,
) -> None:
    """Print each event of a table with its postings and the state after it.

    Exits with 1 if anything recorded differs from what is recomputed, or there is no such table.
    """
    printed = print_json if as_json else print_words
    roots = roots_of(root_certificates)

    async def replayed() -> tuple[int, int]:
        async with client_of(address, token, roots) as client:
            return await _replay(client, table_name(ledger, table), to_version, printed)

    try:
        events, findings = run(replayed())
    except CallRefused as refused:
        fail(str(refused))
    if not as_json:
        typer.echo(f"{events} events replayed, {findings or 'no'} findings")
    if findings:
        raise typer.Exit(1)


async def _replay(
    client: Client, table: str, to_version: int, printed: Callable[[ReplayTableResponse], None]
) -> tuple[int, int]:
    """Print a table's history and return how many events and how many findings it has."""
    events = findings = 0
    async for step in client.audit.replay(table, to_version=to_version):
        events += 1
        findings += len(step.findings)
        printed(step)
    return events, findings


def print_json(step: ReplayTableResponse) -> None:
    """Print a step as one line of JSON; 64-bit numbers are strings, as everywhere in JSON."""
    typer.echo(json.dumps(MessageToDict(step, preserving_proto_field_name=True)))


def print_words(step: ReplayTableResponse) -> None:
    """Print a step for a person."""
    event, table = step.event, step.table
    time = event.recorded_time.ToDatetime().isoformat(sep=" ", timespec="milliseconds")
    typer.echo(f"{event.version:>4}  {time}  {narration.happened(event, table.currency)}")
    for posting in event.postings:
        typer.echo(f"      posting  {narration.posting(posting)}")
    typer.echo(f"      state    {narration.standing(table)}")
    for finding in step.findings:
        typer.echo(f"      FINDING  {finding}")
