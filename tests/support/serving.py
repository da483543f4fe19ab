"""A real server on a free port of loopback, and callers that speak nothing but the wire."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf import message_factory
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from croupier.services.config import Settings
from croupier.services.rpc.callers import Role, new_token
from croupier.services.server import Server
from croupier.v1 import (
    accounts_pb2,
    admin_pb2,
    audit_pb2,
    events_pb2,
    play_pb2,
    tables_pb2,
    values_pb2,
)

_FILES = (accounts_pb2, admin_pb2, audit_pb2, play_pb2, tables_pb2)
_numbers = itertools.count(1)

CALL_TIMEOUT_S = 20.0
"""So that what hangs fails."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the public API; its request's type is enough to know it."""

    path: str
    request: type[Message]
    response: type[Message]
    streams: bool

    @property
    def mutates(self) -> bool:
        """Return whether the request carries what makes it happen once."""
        return "request_id" in self.request.DESCRIPTOR.fields_by_name


def _methods() -> dict[str, Method]:
    found = {}
    for module in _FILES:
        for service in module.DESCRIPTOR.services_by_name.values():
            for one in service.methods:
                found[one.input_type.full_name] = Method(
                    path=f"/{service.full_name}/{one.name}",
                    request=message_factory.GetMessageClass(one.input_type),
                    response=message_factory.GetMessageClass(one.output_type),
                    streams=one.server_streaming,
                )
    return found


METHODS = _methods()
"""Every method of the public API, by the full name of its request."""


def fresh() -> str:
    """Return a request id that nothing else has."""
    return f"request-{next(_numbers)}"


def plain(message: Message) -> bytes:
    """Return a message's bytes, the same for equal messages."""
    return message.SerializeToString(deterministic=True)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call's status with its details, as a caller reads them."""

    code: grpc.StatusCode
    message: str
    reason: str = ""
    domain: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    retry_ms: int | None = None


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    """Return what a failed call says."""
    status = rpc_status.from_call(error)
    said: dict[str, Any] = {}
    for detail in status.details if status else ():
        info = error_details_pb2.ErrorInfo()
        bad = error_details_pb2.BadRequest()
        precondition = error_details_pb2.PreconditionFailure()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            said |= {
                "reason": info.reason,
                "domain": info.domain,
                "metadata": dict(info.metadata),
            }
        elif detail.Unpack(bad):
            said["fields"] = tuple(one.field for one in bad.field_violations)
        elif detail.Unpack(precondition):
            said["subjects"] = tuple(one.subject for one in precondition.violations)
        elif detail.Unpack(retry):
            said["retry_ms"] = retry.retry_delay.ToMilliseconds()
    return Refusal(error.code(), error.details() or "", **said)


class Client:
    """A caller with its own connection, and its token if it has one."""

    def __init__(
        self,
        address: str,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channel = (
            grpc.aio.insecure_channel(address, options=options)
            if credentials is None
            else grpc.aio.secure_channel(address, credentials, options=options)
        )
        self.metadata = () if token is None else (("authorization", f"Bearer {token}"),)

    async def ask(self, request: Message, **how: Any) -> Any:
        """Return the response; for a method that streams, the list of its responses."""
        method = METHODS[request.DESCRIPTOR.full_name]
        how = {"metadata": self.metadata, "timeout": CALL_TIMEOUT_S, **how}
        kind = self.channel.unary_stream if method.streams else self.channel.unary_unary
        call = kind(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )(request, **how)
        return [one async for one in call] if method.streams else await call

    async def raw(self, path: str, body: bytes, **how: Any) -> bytes:
        """Send bytes to a path and return the bytes of the answer."""
        how = {"metadata": self.metadata, "timeout": CALL_TIMEOUT_S, **how}
        return await self.channel.unary_unary(path)(body, **how)

    async def refusal(self, request: Message, **how: Any) -> Refusal:
        """Return how a request is refused."""
        return await refused(self.ask(request, **how))

    async def evidence(self, *ledgers: str) -> list[bytes]:
        """Return all that a caller can see of ledgers: any record would show in it."""
        seen = [plain(await self.ask(admin_pb2.ListLedgersRequest()))]
        for ledger in ledgers:
            name = f"ledgers/{ledger}"
            seen += [
                plain(await self.ask(admin_pb2.GetLedgerRequest(name=name))),
                plain(await self.ask(accounts_pb2.GetTrialBalanceRequest(parent=name))),
                plain(await self.ask(accounts_pb2.ListAccountsRequest(parent=name))),
                plain(await self.ask(tables_pb2.ListTablesRequest(parent=name))),
            ]
        return seen


async def refused(asked: Coroutine[Any, Any, Any]) -> Refusal:
    """Return how a call is refused; one that succeeds fails the test."""
    try:
        answer = await asked
    except grpc.aio.AioRpcError as error:
        return refusal_of(error)
    msg = f"accepted: {type(answer).__name__}"
    raise AssertionError(msg)


@dataclass(slots=True)
class Served:
    """A running server and its clients."""

    server: Server
    stack: AsyncExitStack

    @property
    def address(self) -> str:
        """Return where the server listens."""
        return f"localhost:{self.server.port}"

    async def client(
        self, token: str | None = None, credentials: grpc.ChannelCredentials | None = None
    ) -> Client:
        """Return a new caller."""
        client = Client(self.address, token, credentials)
        self.stack.push_async_callback(client.channel.close)
        return client


@asynccontextmanager
async def serving(data: Path, **settings: Any) -> AsyncIterator[Served]:
    """Serve the ledgers of a folder on a free port."""
    given = {"listen": "127.0.0.1:0", "metrics_listen": "", "grace_s": 0.0, "data": data}
    async with (
        Server(Settings(**(given | settings))) as server,
        AsyncExitStack() as stack,
    ):
        yield Served(server, stack)


Serve = Callable[..., Coroutine[Any, Any, Served]]


@pytest_asyncio.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Return how a test starts a server of its own: `await serve(tokens=...)`."""
    async with AsyncExitStack() as stack:

        async def start(data: Path | None = None, **settings: Any) -> Served:
            return await stack.enter_async_context(serving(data or tmp_path / "data", **settings))

        yield start


class Tokens:
    """A token file, with the callers that a test adds before it starts its server."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def new(self, name: str, *roles: str, ledgers: list[str] | None = None) -> str:
        """Add a caller and return his token."""
        return new_token(self.file, name, [Role(role) for role in roles], ledgers)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    """Return a token file that does not exist yet."""
    return Tokens(tmp_path / "tokens.json")


# --- stories --------------------------------------------------------------------------------


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
