"""A real server on a free port of loopback, and callers that speak nothing but the wire."""

from __future__ import annotations

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
    odds_pb2,
    play_pb2,
    tables_pb2,
)
from tests.support.engines import engine_of

_FILES = (accounts_pb2, admin_pb2, audit_pb2, odds_pb2, play_pb2, tables_pb2)
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
        self.address = address
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

    def listen(self, request: Message, **how: Any) -> Any:
        """Return the call of a method that streams, whose responses are read one by one."""
        method = METHODS[request.DESCRIPTOR.full_name]
        how = {"metadata": self.metadata, "timeout": CALL_TIMEOUT_S, **how}
        return self.channel.unary_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )(request, **how)

    def talk(self, **how: Any) -> Any:
        """Return a stream of commands: messages are written and answers read one by one."""
        method = METHODS["croupier.v1.PlayStreamRequest"]
        how = {"metadata": self.metadata, "timeout": CALL_TIMEOUT_S, **how}
        return self.channel.stream_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )(**how)

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
    given["engine"] = engine_of(data)
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

    def new(
        self,
        name: str,
        *roles: str,
        ledgers: list[str] | None = None,
        players: tuple[str, ...] = (),
    ) -> str:
        """Add a caller and return his token."""
        return new_token(self.file, name, [Role(role) for role in roles], ledgers, list(players))


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    """Return a token file that does not exist yet."""
    return Tokens(tmp_path / "tokens.json")
