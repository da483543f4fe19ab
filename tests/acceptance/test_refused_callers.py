"""Strangers, and callers who may not, are turned away."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from croupier.domain.errors import Reason
from croupier.services.rpc.callers import Role
from croupier.services.rpc.permissions import ROLES
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, tables_pb2
from tests.support.refusals import MODULE, assert_refused
from tests.support.serving import METHODS, Client, Method, Tokens, refusal_of, refused, serving
from tests.support.stories import (
    close_table,
    create_ledger,
    deposit,
    furnish,
    open_table,
    play_round,
    post_bank,
    withdraw,
)


@dataclass(slots=True)
class Staff:
    """A server that knows its callers by their tokens."""

    address: str
    clients: dict[str, Client]
    stranger: Callable[..., Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def staff(tmp_path_factory: pytest.TempPathFactory, engine: str) -> AsyncIterator[Staff]:
    folder = tmp_path_factory.mktemp("staff")
    tokens = Tokens(folder / "tokens.json")
    held = {
        role.value: tokens.new(
            f"{role.value}-1", role.value, players=("anna",) if role is Role.PLAYER else ()
        )
        for role in Role
    }
    held["here"] = tokens.new("here", "operator", ledgers=["casino"])
    held["nowhere"] = tokens.new("nowhere", *Role, ledgers=[], players=("bela",))
    async with serving(folder / "data", tokens=tokens.file) as served:
        clients = {name: await served.client(token) for name, token in held.items()}
        await furnish(clients["operator"])
        await play_round(clients["operator"])
        await furnish(clients["operator"], "other")
        await play_round(clients["operator"], ledger="other")
        stranger = await served.client()
        yield Staff(served.address, clients, stranger)


@MODULE
@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.path)
async def test_a_role_may_call_what_is_in_its_table_and_nothing_else(
    staff: Staff, role: Role, method: Method
):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    try:
        # An empty request is refused too, but only once the caller may make it at all.
        await staff.clients[role].ask(method.request())
    except grpc.aio.AioRpcError as error:
        refusal = refusal_of(error)
    else:
        refusal = None
    if role in ROLES[method.path]:
        assert refusal is None or refusal.code is grpc.StatusCode.INVALID_ARGUMENT
    else:
        assert refusal is not None
        assert_refused(refusal, Reason.ROLE_NOT_ALLOWED)
        assert refusal.metadata["method"] == method.path
        assert refusal.metadata["caller"] == f"{role.value}-1"
    assert await operator.evidence("casino", "other") == before


def test_every_method_of_every_service_has_its_roles():
    own = {method.path for method in METHODS.values()}
    assert {path for path in ROLES if path.startswith("/croupier.")} == own
    assert all(ROLES.values())


def test_nothing_that_changes_anything_is_open_to_auditors_or_ops():
    for method in METHODS.values():
        if method.mutates:
            assert ROLES[method.path].isdisjoint({Role.AUDITOR, Role.OPS}), method.path


@MODULE
@pytest.mark.parametrize(
    "make",
    [
        lambda: create_ledger("third"),
        lambda: open_table("t2", "other"),
        lambda: close_table("t1", "other"),
        lambda: post_bank("t1", 1, "bela", ledger="other", round=2),
        lambda: deposit("player:anna", 1, "other"),
        lambda: withdraw("player:anna", 1, "other"),
        lambda: admin_pb2.GetLedgerRequest(name="ledgers/other"),
        lambda: admin_pb2.GetLedgerRequest(name="ledgers/absent"),
        lambda: tables_pb2.GetTableRequest(name="ledgers/other/tables/t1"),
        lambda: tables_pb2.ListTablesRequest(parent="ledgers/other"),
        lambda: accounts_pb2.GetAccountRequest(
            name="ledgers/other/accounts/player:anna", currency="EUR"
        ),
        lambda: accounts_pb2.ListAccountsRequest(parent="ledgers/other"),
        lambda: accounts_pb2.GetTrialBalanceRequest(parent="ledgers/other"),
        lambda: audit_pb2.ReplayTableRequest(name="ledgers/other/tables/t1"),
        lambda: audit_pb2.ListEventsRequest(parent="ledgers/other"),
    ],
    ids=lambda make: make().DESCRIPTOR.name,
)
async def test_a_caller_has_no_part_in_ledgers_beyond_his(
    staff: Staff, make: Callable[[], Message]
):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    for name in ("here", "nowhere"):
        refusal = await staff.clients[name].refusal(make())
        assert_refused(refusal, Reason.LEDGER_NOT_ALLOWED)
        assert refusal.metadata["caller"] == name
    assert await operator.evidence("casino", "other") == before


@MODULE
@pytest.mark.parametrize(
    "authorization, reason",
    [
        (None, Reason.TOKEN_MISSING),
        ("", Reason.TOKEN_MISSING),
        ("Bearer", Reason.TOKEN_MISSING),
        ("Bearer ", Reason.TOKEN_MISSING),
        ("bearer  ", Reason.TOKEN_MISSING),
        ("Basic b2xnYTpvbGdh", Reason.TOKEN_MISSING),
        ("Token {token}", Reason.TOKEN_MISSING),
        ("{token}", Reason.TOKEN_MISSING),
        ("Bearer: {token}", Reason.TOKEN_MISSING),
        ("Bearer nobody", Reason.TOKEN_UNKNOWN),
        ("Bearer {token}x", Reason.TOKEN_UNKNOWN),
        ("Bearer {token} {token}", Reason.TOKEN_UNKNOWN),
        ("Bearer " + "x" * 5000, Reason.TOKEN_UNKNOWN),
        ("Bearer ~!@#$%^&*()", Reason.TOKEN_UNKNOWN),
    ],
)
async def test_a_stranger_is_turned_away(staff: Staff, authorization: str | None, reason: Reason):
    operator = staff.clients["operator"]
    before = await operator.evidence("casino", "other")
    _, bearer = operator.metadata[0]
    metadata = ()
    if authorization is not None:
        token = bearer.removeprefix("Bearer ")
        metadata = (("authorization", authorization.replace("{token}", token)),)
    for request in (
        deposit("player:anna", 1),
        create_ledger("third"),
        admin_pb2.GetServerInfoRequest(),
        audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"),
    ):
        refusal = await staff.stranger.refusal(request, metadata=metadata)
        assert_refused(refusal, reason)
        assert bearer.removeprefix("Bearer ") not in repr(refusal)
    # Strangers do not learn which methods there are, either.
    unknown = await refused(staff.stranger.raw("/croupier.v1.X/Y", b"", metadata=metadata))
    assert_refused(unknown, reason)
    assert await operator.evidence("casino", "other") == before
