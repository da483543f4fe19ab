"""Short ways to speak the public API in tests: stubs, and requests as they are written most."""

from __future__ import annotations

import itertools

import grpc
from google.rpc import error_details_pb2, status_pb2

from croupier.v1 import (
    accounts_pb2,
    accounts_pb2_grpc,
    admin_pb2,
    admin_pb2_grpc,
    audit_pb2,
    audit_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
)

LEDGER = "ledgers/main"
SEATS = ("anna", "bert", "cleo", "dora")
_IDS = itertools.count(1)


class Api:
    """The five services over one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.admin = admin_pb2_grpc.AdminServiceStub(channel)
        self.tables = tables_pb2_grpc.TableServiceStub(channel)
        self.plays = play_pb2_grpc.PlayServiceStub(channel)
        self.accounts = accounts_pb2_grpc.AccountServiceStub(channel)
        self.audit = audit_pb2_grpc.AuditServiceStub(channel)

    async def create(self, ledger="main", request_id=None):
        request = admin_pb2.CreateLedgerRequest(ledger_id=ledger, request_id=request_id or new_id())
        return await self.admin.CreateLedger(request)

    async def deposit(self, player, amount, request_id=None, **fields):
        request = accounts_pb2.DepositRequest(
            account=f"{LEDGER}/accounts/player:{player}",
            currency="EUR",
            amount=amount,
            request_id=request_id or new_id(),
            **fields,
        )
        return await self.accounts.Deposit(request, timeout=30)

    async def withdraw(self, player, amount, request_id=None):
        request = accounts_pb2.WithdrawRequest(
            account=f"{LEDGER}/accounts/player:{player}",
            currency="EUR",
            amount=amount,
            request_id=request_id or new_id(),
        )
        return await self.accounts.Withdraw(request, timeout=30)

    async def open(self, table="t1", seats=SEATS, request_id=None, **options):
        request = tables_pb2.OpenTableRequest(
            parent=LEDGER,
            table_id=table,
            game="ceelo_bank",
            seats=seats,
            currency="EUR",
            banker=seats[0],
            request_id=request_id or new_id(),
        )
        for name, value in options.items():
            kind = {bool: "bool_value", int: "int_value", str: "string_value"}[type(value)]
            setattr(request.options[name], kind, value)
        return await self.tables.OpenTable(request, timeout=30)

    async def table(self, table="t1"):
        request = tables_pb2.GetTableRequest(name=f"{LEDGER}/tables/{table}")
        return (await self.tables.GetTable(request, timeout=30)).table

    async def play(self, player, *, table="t1", round_number=1, request_id=None, **command):
        request = play_pb2.PlayRequest(
            table=f"{LEDGER}/tables/{table}",
            round=round_number,
            player=player,
            request_id=request_id or new_id(),
            **command,
        )
        return (await self.plays.Play(request, timeout=30)).receipt

    async def roll(self, player, *dice, **fields):
        return await self.play(player, roll=thrown(*dice), **fields)

    async def post(self, player, amount, **fields):
        return await self.play(player, post_bank=play_pb2.PostBank(amount=amount), **fields)

    async def fade(self, player, stake, **fields):
        return await self.play(player, fade=play_pb2.Fade(stake=stake), **fields)

    async def decline(self, player, **fields):
        return await self.play(player, decline=play_pb2.Decline(), **fields)

    async def balance(self, account):
        request = accounts_pb2.GetAccountRequest(
            name=f"{LEDGER}/accounts/{account}", currency="EUR"
        )
        return (await self.accounts.GetAccount(request, timeout=30)).account.balance

    async def log(self):
        """Return every event of the ledger, page by page."""
        events, position = [], 1
        while True:
            request = audit_pb2.ListEventsRequest(
                parent=LEDGER, from_position=position, page_size=1000
            )
            page = await self.audit.ListEvents(request, timeout=30)
            events += page.events
            position = page.next_position
            if position > page.head_position:
                return events

    async def replay(self, table="t1"):
        request = audit_pb2.ReplayTableRequest(name=f"{LEDGER}/tables/{table}")
        return [step async for step in self.audit.ReplayTable(request, timeout=60)]

    async def trial_balance(self):
        request = accounts_pb2.GetTrialBalanceRequest(parent=LEDGER)
        return await self.accounts.GetTrialBalance(request, timeout=30)


def new_id() -> str:
    return f"test-{next(_IDS)}"


def thrown(*dice: int) -> play_pb2.Roll:
    """Return a roll that brings its dice, read by a dealer."""
    return play_pb2.Roll(dice=play_pb2.Dice(values=dice, source={"kind": "dealer", "id": "kim"}))


def details(error: grpc.aio.AioRpcError) -> dict[str, object]:
    """Return the details of a refusal by the name of their message."""
    kinds = (
        error_details_pb2.ErrorInfo,
        error_details_pb2.BadRequest,
        error_details_pb2.PreconditionFailure,
        error_details_pb2.RetryInfo,
    )
    found = {kind.DESCRIPTOR.name: kind for kind in kinds}
    packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
    unpacked = {}
    for detail in status_pb2.Status.FromString(packed).details:
        message = found[detail.TypeName().rpartition(".")[2]]()
        assert detail.Unpack(message)
        unpacked[message.DESCRIPTOR.name] = message
    return unpacked
