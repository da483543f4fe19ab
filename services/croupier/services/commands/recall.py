"""`croupier recall`: what a round of a table was, or which rounds there are."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console
from rich.table import Table as Columns

from croupier.services import narration
from croupier.services.client import CallRefused, Client, Patience, table_name
from croupier.services.commands.calling import (
    DEFAULT_ADDRESS,
    Address,
    Roots,
    Token,
    client_of,
    roots_of,
)
from croupier.services.commands.process import fail, run
from croupier.v1 import audit_pb2 as pb

PATIENCE = Patience(deadline_s=600.0)
"""Balances of long ago take long."""

Ledger = Annotated[str, typer.Argument(help="the ledger's id")]
Table = Annotated[str, typer.Argument(help="the table's id")]
Round = Annotated[int, typer.Argument(min=0, help="the round; 0 lists the rounds, newest first")]
Brief = Annotated[bool, typer.Option("--brief", help="leave out balances and nets")]
Count = Annotated[int, typer.Option(min=1, help="how many rounds are listed")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON objects, as the API has them")]


def recall(
    ledger: Ledger,
    table: Table,
    round_number: Round = 0,
    *,
    address: Address = DEFAULT_ADDRESS,
    token: Token = None,
    root_certificates: Roots = None,
    brief: Brief = False,
    count: Count = 20,
    as_json: AsJson = False,
) -> None:
    """Print what a round was: money by player, what happened, who acted; or list the rounds."""
    roots = roots_of(root_certificates)

    async def ask() -> None:
        async with client_of(address, token, roots, PATIENCE) as client:
            name = table_name(ledger, table)
            if not round_number:
                await _list(client, name, count, as_json=as_json)
                return
            recalled = await client.audit.round(name, round_number, brief=brief)
            if as_json:
                _print_json(recalled)
            else:
                _print(recalled, brief=brief)

    try:
        run(ask())
    except CallRefused as refused:
        fail(str(refused))


async def _list(client: Client, table: str, count: int, *, as_json: bool) -> None:
    async for one in client.audit.rounds(table):
        if as_json:
            _print_json(one)
        else:
            typer.echo(_summary(one))
        count -= 1
        if not count:
            return


def _print_json(message: Message) -> None:
    typer.echo(json.dumps(MessageToDict(message, preserving_proto_field_name=True)))


def _summary(one: pb.Round) -> str:
    """Return in one line how a round stands, when it was and where it is recorded."""
    status = pb.RoundStatus.Name(one.status).removeprefix("ROUND_STATUS_").lower()
    why = f" ({one.void_reason})" if one.void_reason else ""
    ended = f" to {_time(one.end_time)}" if one.HasField("end_time") else ""
    return (
        f"round {one.round:>4}  {status}{why}  {_time(one.start_time)}{ended}"
        f"  positions {one.first_position} to {one.last_position}"
    )


def _time(time: Timestamp) -> str:
    return time.ToDatetime().isoformat(sep=" ", timespec="milliseconds")


def _print(recalled: pb.GetRoundResponse, *, brief: bool) -> None:
    one = recalled.round
    typer.echo(_summary(one))
    typer.echo(f"{one.game}, edition {one.edition}, paytable {one.paytable_digest.hex()[:16]}…")
    Console(width=120).print(_columns(recalled, brief=brief))
    for event in recalled.events:
        told = narration.happened(event, one.currency)
        who = f"{event.caller}, {event.actor}" if event.actor else event.caller
        typer.echo(f"{event.position:>6}  {_time(event.recorded_time)}  {told}  [{who}]")


def _columns(recalled: pb.GetRoundResponse, *, brief: bool) -> Columns:
    currency = recalled.round.currency
    names = ["staked", "returned", "winnings"]
    if not brief:
        names = ["balance_before", "carried_in", *names, "carried_out", "net", "balance_after"]
    columns = Columns("player", box=None)
    for name in names:
        columns.add_column(name.replace("_", " "), justify="right")
    for row in recalled.players:
        amounts = (
            narration.major(getattr(row, name), currency, sign=name == "net") for name in names
        )
        columns.add_row(row.player, *amounts)
    return columns
