"""Requests of a casino's day, and the stories that several tests begin with."""

from __future__ import annotations

import asyncio
from typing import Any

from google.protobuf.message import Message

from croupier.v1 import accounts_pb2, admin_pb2, events_pb2, play_pb2, tables_pb2, values_pb2
from tests.support.serving import Client, fresh


def create_ledger(ledger: str = "casino", **more: Any) -> admin_pb2.CreateLedgerRequest:
    """Return the request to create a ledger."""
    return admin_pb2.CreateLedgerRequest(**{"ledger_id": ledger, "request_id": fresh()} | more)


def deposit(
    account: str, amount: int, ledger: str = "casino", **more: Any
) -> accounts_pb2.DepositRequest:
    """Return the request to bring euros into an account."""
    given = {
        "account": f"ledgers/{ledger}/accounts/{account}",
        "currency": "EUR",
        "amount": amount,
        "request_id": fresh(),
    }
    return accounts_pb2.DepositRequest(**given | more)


def withdraw(
    account: str, amount: int, ledger: str = "casino", **more: Any
) -> accounts_pb2.WithdrawRequest:
    """Return the request to take euros out of an account."""
    given = {
        "account": f"ledgers/{ledger}/accounts/{account}",
        "currency": "EUR",
        "amount": amount,
        "request_id": fresh(),
    }
    return accounts_pb2.WithdrawRequest(**given | more)


def value(of: bool | int | str) -> values_pb2.Value:
    """Return an option's value."""
    if isinstance(of, bool):
        return values_pb2.Value(bool_value=of)
    return values_pb2.Value(**{"int_value" if isinstance(of, int) else "string_value": of})


def open_table(
    table: str,
    ledger: str = "casino",
    options: dict[str, Any] | None = None,
    **more: Any,
) -> tables_pb2.OpenTableRequest:
    """Return the request to open a table of banked cee-lo: anna banks, bela sits on her left."""
    given = {
        "parent": f"ledgers/{ledger}",
        "table_id": table,
        "game": "ceelo_bank",
        "seats": ["anna", "bela", "carl"],
        "banker": "anna",
        "currency": "EUR",
        "options": {
            name: one if isinstance(one, values_pb2.Value) else value(one)
            for name, one in (options or {}).items()
        },
        "request_id": fresh(),
    }
    return tables_pb2.OpenTableRequest(**given | more)


def close_table(table: str, ledger: str = "casino", **more: Any) -> tables_pb2.CloseTableRequest:
    """Return the request to close a table."""
    given = {"name": f"ledgers/{ledger}/tables/{table}", "request_id": fresh()}
    return tables_pb2.CloseTableRequest(**given | more)


def play(
    table: str, player: str, command: Message, ledger: str = "casino", **more: Any
) -> play_pb2.PlayRequest:
    """Return the request to play a command, in round 1 unless told otherwise."""
    kind = next(
        one.name
        for one in play_pb2.PlayRequest.DESCRIPTOR.oneofs_by_name["command"].fields
        if one.message_type.full_name == command.DESCRIPTOR.full_name
    )
    given = {
        "table": f"ledgers/{ledger}/tables/{table}",
        "round": 1,
        "player": player,
        "request_id": fresh(),
        kind: command,
    }
    return play_pb2.PlayRequest(**given | more)


def post_bank(table: str, amount: int, player: str = "anna", **more: Any) -> play_pb2.PlayRequest:
    """Return the request to post a bank."""
    return play(table, player, play_pb2.PostBank(amount=amount), **more)


def fade(table: str, stake: int, player: str = "bela", **more: Any) -> play_pb2.PlayRequest:
    """Return the request to cover part of a bank."""
    return play(table, player, play_pb2.Fade(stake=stake), **more)


def thrown(*dice: int, kind: str = "dealer", source: str = "dora") -> play_pb2.Roll:
    """Return a roll of dice that were read from a table."""
    return play_pb2.Roll(
        dice=play_pb2.Dice(values=dice, source=values_pb2.Source(kind=kind, id=source))
    )


def roll(table: str, player: str, *dice: int, **more: Any) -> play_pb2.PlayRequest:
    """Return the request to record a throw."""
    return play(table, player, thrown(*dice), **more)


BANKROLL = {"anna": 100_000, "bela": 50_000, "carl": 50_000}
"""What the players of the stories have brought in, minor units."""


async def furnish(client: Client, ledger: str = "casino") -> None:
    """Create a ledger whose players have money."""
    await client.ask(create_ledger(ledger))
    await asyncio.gather(
        *(client.ask(deposit(f"player:{who}", much, ledger)) for who, much in BANKROLL.items())
    )


async def play_round(
    client: Client, table: str = "t1", ledger: str = "casino", **more: Any
) -> list[events_pb2.Event]:
    """Open a table and play a round in which bela wins by a triple and carl loses his fade."""
    requests = [
        open_table(table, ledger, **more),
        post_bank(table, 1000, ledger=ledger),
        fade(table, 600, ledger=ledger),
        fade(table, 300, "carl", ledger=ledger),
        roll(table, "anna", 3, 3, 4, ledger=ledger),
        roll(table, "bela", 2, 2, 2, ledger=ledger),
        roll(table, "carl", 1, 3, 5, ledger=ledger),
        roll(table, "carl", 1, 2, 3, ledger=ledger),
    ]
    return [event for request in requests for event in (await client.ask(request)).receipt.events]


def play_batch(
    *commands: play_pb2.PlayRequest, ledger: str = "casino", atomic: bool = False
) -> play_pb2.PlayBatchRequest:
    """Return the request to play several commands."""
    return play_pb2.PlayBatchRequest(parent=f"ledgers/{ledger}", commands=commands, atomic=atomic)


def stream_message(
    *commands: play_pb2.PlayRequest, ledger: str = "casino", atomic: bool = False
) -> play_pb2.PlayStreamRequest:
    """Return a message of a stream of commands."""
    return play_pb2.PlayStreamRequest(parent=f"ledgers/{ledger}", commands=commands, atomic=atomic)


def transfer_batch(
    *transfers: Message, ledger: str = "casino", atomic: bool = False
) -> accounts_pb2.TransferBatchRequest:
    """Return the request to deposit and withdraw several times."""
    made = [
        accounts_pb2.Transfer(deposit=one)
        if isinstance(one, accounts_pb2.DepositRequest)
        else accounts_pb2.Transfer(withdraw=one)
        for one in transfers
    ]
    return accounts_pb2.TransferBatchRequest(
        parent=f"ledgers/{ledger}", transfers=made, atomic=atomic
    )
