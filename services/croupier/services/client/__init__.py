"""A typed asyncio client of the public API, for whoever integrates the service in Python.

    async with Client("127.0.0.1:50051", token="...") as client:
        await client.accounts.deposit(account_name("casino", "player:anna"), "EUR", 10_000)
        await client.tables.open("casino", "t1", Opening("ceelo_bank", ("anna", "bert"), "EUR"))
        table = table_name("casino", "t1")
        anna, bert = Turn(table, 1, "anna"), Turn(table, 1, "bert")
        receipt = await client.play.post_bank(anna, 5_000)
        async with client.play.stream("casino") as stream:
            faded, thrown = await stream.send(bert.fade(5_000), anna.draw())

Where several processes share the ledgers, `await client.for_ledger("casino")` returns a client that
calls the best one for a ledger.

Every method that changes something takes the fields of `Once` besides. Without a `request_id` it
mints one; whoever wants to be sure across a crash of his own mints it himself and keeps it. What
may be retried is retried with that same id, so that it happens once. Amounts are minor units.
"""

from __future__ import annotations

from croupier.services.client.calls import CallRefused, Patience
from croupier.services.client.client import Client, LedgerClient
from croupier.services.client.commands import Once, OnceAt, Turn, deposit, withdraw
from croupier.services.client.services import Opening
from croupier.services.client.stream import PlayStream, Result
from croupier.services.rpc.names import account_name, ledger_name, table_name

__all__ = [
    "CallRefused",
    "Client",
    "LedgerClient",
    "Once",
    "OnceAt",
    "Opening",
    "Patience",
    "PlayStream",
    "Result",
    "Turn",
    "account_name",
    "deposit",
    "ledger_name",
    "table_name",
    "withdraw",
]
