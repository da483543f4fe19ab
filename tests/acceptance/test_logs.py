"""What the log says of calls, and what it never says."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
from structlog.testing import capture_logs

from croupier.domain.draws import seal
from croupier.domain.errors import Reason
from croupier.services.client import CallRefused, Client, account_name
from croupier.services.demo.narrate import Narrator
from croupier.services.demo.playing import LEDGER, Player
from croupier.services.demo.sessions import DRAWN, SESSIONS
from croupier.services.rpc.chance import Nonces
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.processes import ServerProcess
from tests.support.serving import Serve

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/log.schema.json").read_text())
DEPOSIT = "/croupier.v1.AccountService/Deposit"


def deposit(request_id, amount=5, ledger="main"):
    return accounts_pb2.DepositRequest(
        account=f"ledgers/{ledger}/accounts/player:anna",
        currency="EUR",
        amount=amount,
        request_id=request_id,
    )


async def begun(serve, **settings):
    client = await (await serve(**settings)).client()
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
    return client


def only(lines, event):
    return [
        {name: one[name] for name in one if name not in ("seconds", "log_level")}
        for one in lines
        if one["event"] == event
    ]


async def test_a_slow_call_is_a_line_with_who_which_and_where(serve: Serve):
    client = await begun(serve, slow_call_s=1e-6)
    with capture_logs() as lines:
        await client.ask(deposit("one"))
        await client.refusal(deposit("two", amount=-1))
    common = {"event": "slow call", "method": DEPOSIT, "caller": "local", "ledger": "main"}
    assert only(lines, "slow call") == [
        common | {"request_id": "one", "position": 2, "code": "OK"},
        common
        | {
            "request_id": "two",
            "code": "INVALID_ARGUMENT",
            "reason": Reason.AMOUNT_OUT_OF_RANGE.value,
        },
    ]
    assert all(one["seconds"] > 0 for one in lines if one["event"] == "slow call")


@pytest.mark.parametrize("slow_call_s", [0, 3600])
async def test_a_call_that_is_not_slow_is_no_line(serve: Serve, slow_call_s):
    client = await begun(serve, slow_call_s=slow_call_s)
    with capture_logs() as lines:
        await client.ask(deposit("one"))
    assert only(lines, "slow call") == only(lines, "call") == []


async def test_at_debug_every_call_and_every_commit_is_a_line(serve: Serve):
    client = await begun(serve, slow_call_s=0, log_level="debug")
    with capture_logs() as lines:
        await client.ask(deposit("one"))
        await client.ask(admin_pb2.GetServerInfoRequest())
    assert only(lines, "turn committed") == [
        {"event": "turn committed", "ledger": "main", "position": 2, "events": 1, "commands": 1}
    ]
    (said, info) = only(lines, "call")
    assert (said["request_id"], said["position"]) == ("one", 2)
    assert info["method"] == "/croupier.v1.AdminService/GetServerInfo"
    assert "ledger" not in info


async def test_who_is_refused_for_security_is_a_line_of_its_own(serve: Serve, tokens):
    token = tokens.new("kim", "dealer")
    served = await serve(tokens=tokens.file)
    dealer, stranger = await served.client(token), await served.client("no such token")
    with capture_logs() as lines:
        await dealer.refusal(deposit("one"))
        await stranger.refusal(deposit("two"))
    beyond, strange = only(lines, "refused")
    assert re.match(r"ipv[46]:", beyond.pop("peer"))
    assert re.match(r"ipv[46]:", strange.pop("peer"))
    common = {"event": "refused", "logger": "security", "method": DEPOSIT, "ledger": "main"}
    assert beyond == common | {"caller": "kim", "request_id": "one", "reason": "ROLE_NOT_ALLOWED"}
    assert strange == common | {"request_id": "two", "reason": "TOKEN_UNKNOWN"}


async def test_what_strangers_write_is_short_and_does_not_write_elsewhere(serve: Serve):
    client = await begun(serve, slow_call_s=1e-6)
    with capture_logs() as lines:
        await client.refusal(deposit("\x1b[2J\n" + 100 * "x"))
        await client.refusal(deposit("one", ledger="../../etc"))
    ugly, elsewhere = only(lines, "slow call")
    assert ugly["request_id"].startswith(r"'\x1b[2J\n")
    assert len(ugly["request_id"]) < 80
    assert "ledger" not in elsewhere


async def test_a_whole_demonstration_at_debug_tells_no_secret(tmp_path, tokens):
    """Every line is of the schema; none has the token, the draw key, a nonce, dice or players."""
    token = tokens.new("olga", "operator")
    data, log = tmp_path / "data", tmp_path / "log"
    flags = (f"--tokens={tokens.file}", "--log-level=debug", "--log-format=json", "--slow-call-s=0")
    with ServerProcess(data, *flags, log=log) as server:
        async with Client(server.address, "a guess at a token") as stranger:
            with pytest.raises(CallRefused):
                await stranger.admin.get_ledger(LEDGER)
        async with Client(server.address, token) as client:
            await client.admin.create_ledger(LEDGER)
            player = Player(client, Narrator(), 1)
            for session in SESSIONS:
                assert not (await player.play(session)).disagreements
            await player.play_drawn(DRAWN)
            events = [event async for event in client.audit.events(LEDGER)]
            account = account_name(LEDGER, "player:anna")
            await client.accounts.deposit(account, "EUR", 777_771, request_id="seen in the log")
        assert server.stop() == 0

    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    calls = [line for line in lines if line["event"] == "call"]
    assert len(calls) > len(events)
    assert any(line.get("request_id") == "seen in the log" for line in calls)
    assert any(line.get("logger") == "security" for line in lines)

    key = (data / "draw.key").read_bytes()
    committed = [event.draw_committed for event in events if event.HasField("draw_committed")]
    nonces = [Nonces(key)(draw.context) for draw in committed]
    for draw, nonce in zip(committed, nonces, strict=True):
        assert seal(nonce, draw.context).commitment == draw.commitment, "these are not its nonces"
    assert nonces
    secrets = [token, hashlib.sha256(token.encode()).hexdigest(), "a guess at a token", key.hex()]
    secrets += [nonce.hex() for nonce in nonces] + [repr(nonce)[2:-1] for nonce in nonces]
    for secret in secrets:
        assert secret not in text
    for word in ("nonce", "dice", "cards", "Bearer", "authorization", "player:", "777771"):
        assert word not in text
