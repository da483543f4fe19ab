"""The client: one request id through every retry, and refusals read from their details."""

from __future__ import annotations

from contextlib import asynccontextmanager

import grpc
import pytest
import trustme

from croupier.services.client import (
    CallRefused,
    Client,
    Opening,
    Patience,
    Turn,
    account_name,
    table_name,
)
from croupier.services.rpc.callers import Role, new_token
from croupier.v1 import accounts_pb2, audit_pb2
from croupier.v1.accounts_pb2_grpc import (
    AccountServiceServicer,
    AccountServiceStub,
    add_AccountServiceServicer_to_server,
)
from croupier.v1.audit_pb2_grpc import AuditServiceServicer, add_AuditServiceServicer_to_server
from tests.support.serving import serving

QUICK = Patience(deadline_s=20.0, attempt_s=10.0, pause_s=0.001, pause_max_s=0.001)
RETRIED = ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "CANCELLED")
ANNA = account_name("casino", "player:anna")


class Troubled(AccountServiceServicer):
    """Refuses the first calls with the codes it is given, then answers."""

    def __init__(self, *codes):
        self._codes = [grpc.StatusCode[code] for code in codes]
        self.requests = []
        self.metadata = []

    async def Deposit(self, request, context):
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        if self._codes:
            await context.abort(self._codes.pop(0), "in trouble")
        return accounts_pb2.DepositResponse()


class AnswerLost(AccountServiceServicer):
    """Passes each deposit on to a real server and loses the first answer on the way back."""

    def __init__(self, address):
        self._address = address
        self.passed_on = 0

    async def Deposit(self, request, context):
        async with grpc.aio.insecure_channel(self._address) as channel:
            answer = await AccountServiceStub(channel).Deposit(request)
        self.passed_on += 1
        if self.passed_on == 1:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")
        return answer


class StreamBreaks(AuditServiceServicer):
    """Breaks the stream of a replay after the second answer, once."""

    def __init__(self):
        self.calls = 0

    async def ReplayTable(self, request, context):
        self.calls += 1
        for version in (1, 2, 3):
            if self.calls == 1 and version == 3:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection broke")
            yield audit_pb2.ReplayTableResponse(event={"version": version})


@asynccontextmanager
async def client_of(servicer, add, patience=QUICK, token=None):
    server = grpc.aio.server()
    add(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with Client(f"127.0.0.1:{port}", token, patience=patience) as client:
            yield client
    finally:
        await server.stop(None)


def accounts_of(servicer, **how):
    return client_of(servicer, add_AccountServiceServicer_to_server, **how)


@pytest.fixture
async def address(tmp_path):
    async with serving(tmp_path) as served:
        yield f"127.0.0.1:{served.server.port}"


@pytest.fixture
async def client(address):
    async with Client(address, patience=QUICK) as client:
        await client.admin.create_ledger("casino")
        yield client


async def refusal(asked):
    with pytest.raises(CallRefused) as caught:
        await asked
    return caught.value


# --- retries -------------------------------------------------------------------------------------


async def test_what_may_pass_is_retried_with_the_same_request_id():
    troubled = Troubled(*RETRIED)
    async with accounts_of(troubled) as client:
        await client.accounts.deposit(ANNA, "EUR", 100)
    assert len(troubled.requests) == len(RETRIED) + 1
    assert len({request.SerializeToString() for request in troubled.requests}) == 1
    assert len(bytes.fromhex(troubled.requests[0].request_id)) == 16


async def test_each_request_has_an_id_of_its_own_unless_the_caller_minted_it():
    troubled = Troubled()
    async with accounts_of(troubled) as client:
        await client.accounts.deposit(ANNA, "EUR", 100)
        await client.accounts.deposit(ANNA, "EUR", 100)
        await client.accounts.deposit(ANNA, "EUR", 100, request_id="mine", actor="kim")
    first, second, third = troubled.requests
    assert first.request_id != second.request_id
    assert (third.request_id, third.actor) == ("mine", "kim")


@pytest.mark.parametrize(
    "code", ["INVALID_ARGUMENT", "FAILED_PRECONDITION", "ABORTED", "INTERNAL", "UNKNOWN"]
)
async def test_what_does_not_pass_by_itself_is_sent_once(code):
    troubled = Troubled(code)
    async with accounts_of(troubled) as client:
        refused = await refusal(client.accounts.deposit(ANNA, "EUR", 100, request_id="mine"))
    assert len(troubled.requests) == 1
    assert (refused.code.name, refused.reason, refused.message) == (code, "", "in trouble")
    assert (refused.field, refused.metadata, refused.request_id) == (None, {}, "mine")


class Listed(Patience):
    """Patience whose pauses are given, the last of them longer than anybody would wait."""

    def pauses(self):
        return iter((0.0, 0.01, 0.01, 1000.0))


async def test_at_the_deadline_the_last_refusal_is_raised():
    troubled = Troubled(*["UNAVAILABLE"] * 1000)
    async with accounts_of(troubled, patience=Listed()) as client:
        refused = await refusal(client.accounts.deposit(ANNA, "EUR", 100))
    assert refused.code is grpc.StatusCode.UNAVAILABLE
    # The pause after the fourth would outlast the deadline, so there is no fifth.
    assert len(troubled.requests) == 4
    assert {request.request_id for request in troubled.requests} == {refused.request_id}


async def test_a_deposit_whose_answer_was_lost_is_recorded_once(client, address):
    broken = AnswerLost(address)
    async with accounts_of(broken) as other:
        answer = await other.accounts.deposit(ANNA, "EUR", 100)
    assert broken.passed_on == 2
    assert answer.account.balance == 100
    assert (await client.accounts.get(ANNA, "EUR")).balance == 100
    kinds = [event.WhichOneof("payload") async for event in client.audit.events("casino")]
    assert kinds == ["ledger_created", "deposited"]


async def test_a_broken_stream_goes_on_where_it_broke():
    breaks = StreamBreaks()
    async with client_of(breaks, add_AuditServiceServicer_to_server) as client:
        steps = [step.event.version async for step in client.audit.replay("ledgers/a/tables/b")]
    assert steps == [1, 2, 3]
    assert breaks.calls == 2


def test_pauses_are_random_and_grow_to_their_limit():
    pauses = Patience(pause_s=1.0, pause_max_s=4.0).pauses()
    drawn = [next(pauses) for _ in range(200)]
    limits = (1.0, 2.0, *[4.0] * 198)
    assert all(0 <= pause <= limit for pause, limit in zip(drawn, limits, strict=True))
    assert len(set(drawn)) > 100


# --- refusals ------------------------------------------------------------------------------------


async def test_a_wrong_field_is_named(client):
    refused = await refusal(client.accounts.deposit(ANNA, "XXX", 100))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.reason, refused.field) == ("UNKNOWN_CURRENCY", "currency")
    assert refused.metadata == {"currency": "XXX"}
    assert "'XXX'" in refused.message
    assert str(refused) == f"UNKNOWN_CURRENCY: {refused.message}"


async def test_what_the_table_does_not_allow_says_which_field_and_which_limit(client):
    await client.accounts.deposit(ANNA, "EUR", 1_000)
    await client.accounts.deposit(account_name("casino", "player:bert"), "EUR", 1_000)
    await client.tables.open("casino", "t1", Opening("ceelo_bank", ("anna", "bert"), "EUR"))
    table = table_name("casino", "t1")
    await client.play.post_bank(Turn(table, 1, "anna"), 500)
    refused = await refusal(client.play.fade(Turn(table, 1, "bert"), 501))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert (refused.reason, refused.field) == ("STAKE_ABOVE_LIMIT", "fade.stake")
    assert refused.metadata["limit"] == "500"


async def test_what_does_not_exist_is_not_found(client):
    refused = await refusal(client.tables.get(table_name("casino", "nope")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "TABLE_NOT_FOUND")
    with pytest.raises(CallRefused, match="LEDGER_NOT_FOUND"):
        [step async for step in client.audit.replay(table_name("nope", "nope"))]


async def test_a_request_too_large_is_not_retried(tmp_path):
    async with (
        serving(tmp_path, message_bytes_max=1_000) as served,
        Client(f"127.0.0.1:{served.server.port}") as client,
    ):
        refused = await refusal(client.admin.create_ledger("casino", actor="a" * 2_000))
    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (refused.reason, refused.retryable) == ("MESSAGE_TOO_LARGE", False)


async def test_nobody_there_is_unavailable():
    patience = Patience(deadline_s=0.05)
    async with Client("127.0.0.1:1", patience=patience) as client:
        refused = await refusal(client.admin.server_info())
        assert refused.code in (
            grpc.StatusCode.UNAVAILABLE,
            grpc.StatusCode.DEADLINE_EXCEEDED,
        )


def test_a_client_belongs_to_a_running_loop():
    with pytest.raises(RuntimeError, match="no running event loop"):
        Client("127.0.0.1:1")


# --- callers and reads ---------------------------------------------------------------------------


async def test_the_token_says_who_calls(tmp_path):
    tokens = tmp_path / "tokens.json"
    token = new_token(tokens, "floor", [Role.OPERATOR], None)
    async with serving(tmp_path / "data", tokens=tokens) as served:
        address = f"127.0.0.1:{served.server.port}"
        async with Client(address, token) as client, Client(address) as stranger:
            info = await client.admin.server_info()
            refused = await refusal(stranger.admin.server_info())
            assert await stranger.health.serving()
    assert (info.caller, list(info.roles)) == ("floor", ["operator"])
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING")


async def test_by_tls_it_calls_only_whom_its_roots_vouch_for(tmp_path):
    authority, chain, key = trustme.CA(), tmp_path / "chain.pem", tmp_path / "key.pem"
    issued = authority.issue_cert("localhost")
    chain.write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    tokens = tmp_path / "tokens.json"
    token = new_token(tokens, "floor", [Role.OPERATOR], None)
    patience = Patience(deadline_s=0.2, pause_s=0.01, pause_max_s=0.02)
    async with serving(
        tmp_path / "data", tokens=tokens, tls_certificate=chain, tls_key=key
    ) as served:
        address = f"localhost:{served.server.port}"
        async with Client(address, token, authority.cert_pem.bytes()) as client:
            assert (await client.admin.server_info()).caller == "floor"
        async with Client(address, token, trustme.CA().cert_pem.bytes(), patience) as client:
            refused = await refusal(client.admin.server_info())
    assert refused.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


async def test_lists_are_read_page_after_page(client, monkeypatch):
    monkeypatch.setattr("croupier.services.client.services.PAGE", 2)
    for player in ("anna", "bert", "cleo"):
        await client.accounts.deposit(account_name("casino", f"player:{player}"), "EUR", 10)
    for table in ("t1", "t2", "t3"):
        await client.tables.open("casino", table, Opening("ceelo_bank", ("anna", "bert"), "EUR"))
    for ledger in ("casino-2", "casino-3"):
        await client.admin.create_ledger(ledger)
    assert len([one async for one in client.accounts.list("casino")]) == 4
    assert len([one async for one in client.tables.list("casino")]) == 3
    assert len([one async for one in client.admin.ledgers()]) == 3
    positions = [event.position async for event in client.audit.events("casino", 2)]
    assert positions == [2, 3, 4, 5, 6, 7]
    assert [one async for one in client.audit.events("casino", 8)] == []


async def test_every_command_reaches_the_table(client):
    for player in ("anna", "bert"):
        account = account_name("casino", f"player:{player}")
        await client.accounts.deposit(account, "EUR", 1_000)
    opening = Opening("ceelo_bank", ("anna", "bert"), "EUR", "bert", {"preset": "german"})
    await client.tables.open("casino", "t1", opening)
    table, play = table_name("casino", "t1"), client.play

    async def lose(round_number, banker, other):
        await play.post_bank(Turn(table, round_number, banker), 100)
        await play.fade(Turn(table, round_number, other), 100)
        await play.roll(Turn(table, round_number, banker), (1, 2, 3), ("device", "cup-1"))

    await lose(1, "bert", "anna")
    kept = await play.keep_bank(Turn(table, 2, "bert"))
    await lose(2, "bert", "anna")
    passed = await play.pass_bank(Turn(table, 3, "bert"))
    await play.post_bank(Turn(table, 3, "anna"), 100)
    await play.decline(Turn(table, 3, "bert"))
    resigned = await play.resign_bank(Turn(table, 4, "anna"))
    rules = [receipt.events[0].banker_chosen.rule for receipt in (kept, passed, resigned)]
    assert rules == ["kept", "passed", "resigned"]
    await play.post_bank(Turn(table, 4, "bert"), 100)
    await play.fade(Turn(table, 4, "anna"), 100)
    drawn = await play.draw(Turn(table, 4, "bert"))
    assert drawn.events[0].rolled.source.kind == "service"
    await client.accounts.withdraw(account_name("casino", "player:anna"), "EUR", 100)
    balance = await client.accounts.trial_balance("casino")
    assert [one.sum for one in balance.currencies] == [0]


async def test_a_table_is_closed_at_the_version_that_was_seen(client):
    await client.tables.open("casino", "t1", Opening("ceelo_bank", ("anna", "bert"), "EUR"))
    table = table_name("casino", "t1")
    refused = await refusal(client.tables.close(table, expected_version=7))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "VERSION_MISMATCH")
    assert (await client.tables.close(table, expected_version=1)).table.closed
