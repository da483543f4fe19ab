"""`croupier unfence`: a restored ledger is not served before an operator has looked."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from grpc_health.v1 import health_pb2

from croupier.domain.errors import Reason
from croupier.services.client import Client
from croupier.v1 import admin_pb2
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.refusals import assert_refused
from tests.support.serving import Client as Caller
from tests.support.serving import fresh
from tests.support.stories import deposit, furnish

pytestmark = pytest.mark.sqlite("a copy of its file is put back")

REASON = "restored from the copy of the night"


@pytest.fixture
async def restored(tmp_path):
    """The folder of a ledger of 4 events that had 6 before a copy was put in its place."""
    data = tmp_path / "data"
    with ServerProcess(data) as server:
        caller = Caller(server.address)
        await furnish(caller)
        with (
            closing(sqlite3.connect(data / "casino.db")) as file,
            closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
        ):
            file.backup(copy)
        for request_id in ("x", "y"):
            await caller.ask(deposit("player:anna", 5, request_id=request_id))
        await caller.channel.close()
        assert server.stop() == 0
    for path in data.glob("casino.db*"):
        path.unlink()
    (tmp_path / "copy.db").rename(data / "casino.db")
    return data


async def health_of(caller):
    probe = health_pb2.HealthCheckRequest(service="ledgers/casino").SerializeToString()
    answer = await caller.raw("/grpc.health.v1.Health/Check", probe)
    return health_pb2.HealthCheckResponse.FromString(answer).status


async def test_of_a_ledger_that_is_gone_there_is_nothing_to_accept(restored):
    with ServerProcess(restored) as server:
        for path in restored.glob("casino.db*"):
            path.unlink()
        told = croupier("unfence", "casino", "--address", server.address)
        assert (told.returncode, told.stderr) == (1, "")
        assert "log ends at  0" in told.stdout
        assert "is it the right folder, or server, database, prefix?" in told.stdout
        assert "--accept" not in told.stdout
        assert list(restored.glob("casino.db*")) == []


async def test_a_restored_ledger_is_served_again_by_command_and_says_why(restored):
    with ServerProcess(restored) as server:
        caller = Caller(server.address)
        refusal = await caller.refusal(deposit("player:anna", 5, request_id="x"))
        assert_refused(refusal, Reason.LEDGER_FENCED)
        assert await health_of(caller) == health_pb2.HealthCheckResponse.NOT_SERVING
        told = croupier("unfence", "casino", "--address", server.address)
        assert (told.returncode, told.stderr) == (1, "")
        for line in (
            "fenced       the head went back from 6 to 4",
            "log ends at  4, root ",
            "seen to end  6, root ",
            "lost         positions 5 to 6",
            "to serve it as it is: --accept 4 --reason '...'",
        ):
            assert line in told.stdout
        words = ("unfence", "casino", "--address", server.address, "--actor", "olga")
        done = croupier(*words, "--accept", "4", "--reason", REASON)
        assert (done.returncode, done.stderr) == (0, "")
        assert "ledger casino is served again; position 5 says why" in done.stdout
        assert await health_of(caller) == health_pb2.HealthCheckResponse.SERVING
        async with Client(server.address) as client:
            (event,) = [one async for one in client.audit.events("casino", from_position=5)]
            assert (event.actor, event.ledger_unfenced.reason) == ("olga", REASON)
            assert (event.ledger_unfenced.lost_first, event.ledger_unfenced.lost_last) == (5, 6)
        # What was lost is recorded when it is asked again.
        answer = await caller.ask(deposit("player:anna", 5, request_id="x"))
        assert answer.receipt.position == 6
        again = croupier(*words, "--accept", "4", "--reason", REASON)
        assert again.returncode == 1
        assert "LEDGER_NOT_FENCED" in again.stderr
        await caller.channel.close()
        assert server.stop() == 0
    with ServerProcess(restored) as server:
        caller = Caller(server.address)
        assert (await caller.ask(deposit("player:anna", 5))).receipt.position == 7
        await caller.channel.close()


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["--accept", "4"], 2, "--accept and --reason go together"),
        (["--reason", "because"], 2, "--accept and --reason go together"),
        (["--accept", "0", "--reason", "because"], 2, "--accept"),
        (["--accept", "6", "--reason", "because"], 1, "VERSION_MISMATCH"),
        (["--accept", "4", "--reason", "x" * 201], 1, "INVALID_TEXT"),
    ],
)
async def test_anything_else_leaves_it_fenced(restored, words, code, said):
    with ServerProcess(restored) as server:
        run = croupier("unfence", "casino", "--address", server.address, *words)
        assert (run.returncode, run.stdout) == (code, "")
        assert said in run.stderr
        assert "Traceback" not in run.stderr
        told = croupier("unfence", "casino", "--address", server.address)
        assert "log ends at  4" in told.stdout


def unfence(**more):
    given = {"name": "ledgers/casino", "accept_position": 4, "reason": REASON}
    return admin_pb2.UnfenceLedgerRequest(**given | {"request_id": fresh()} | more)


@pytest.mark.parametrize(
    "request_, reason, field",
    [
        (unfence(name="casino"), Reason.INVALID_NAME, "name"),
        (unfence(accept_position=0), Reason.INVALID_POSITION, "accept_position"),
        (unfence(accept_position=-1), Reason.INVALID_POSITION, "accept_position"),
        (unfence(accept_position=5), Reason.VERSION_MISMATCH, None),
        (unfence(reason=""), Reason.MISSING_FIELD, "reason"),
        (unfence(reason="a\x00b"), Reason.INVALID_TEXT, "reason"),
        (unfence(request_id=""), Reason.MISSING_FIELD, "request_id"),
        (unfence(name="ledgers/another"), Reason.LEDGER_NOT_FOUND, None),
        (admin_pb2.GetFenceRequest(name="ledgers"), Reason.INVALID_NAME, "name"),
        (admin_pb2.GetFenceRequest(name="ledgers/another"), Reason.LEDGER_NOT_FOUND, None),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_bad_requests_about_fences_are_refused(restored, serve, request_, reason, field):
    served = await serve(restored)
    caller = await served.client()
    assert_refused(await caller.refusal(request_), reason, *([field] if field else []))
    fence = (await caller.ask(admin_pb2.GetFenceRequest(name="ledgers/casino"))).fence
    assert fence.position == 4


async def test_a_ledger_that_is_served_has_no_fence(tmp_path, serve):
    caller = await (await serve(tmp_path / "served")).client()
    await furnish(caller)
    before = await caller.evidence("casino")
    for request in (unfence(), admin_pb2.GetFenceRequest(name="ledgers/casino")):
        assert_refused(await caller.refusal(request), Reason.LEDGER_NOT_FENCED)
    assert await caller.evidence("casino") == before


async def test_only_an_operator_ends_a_fence_and_only_in_his_ledgers(restored, serve, tokens):
    callers = {role: tokens.new(role, role) for role in ("operator", "dealer", "auditor", "ops")}
    callers["elsewhere"] = tokens.new("elsewhere", "operator", ledgers=["other"])
    served = await serve(restored, tokens=tokens.file)
    told = admin_pb2.GetFenceRequest(name="ledgers/casino")
    for name, token in callers.items():
        caller = await served.client(token)
        if name in ("dealer", "elsewhere"):
            assert (await caller.refusal(told)).reason in ("ROLE_NOT_ALLOWED", "LEDGER_NOT_ALLOWED")
        else:
            assert (await caller.ask(told)).fence.lost_last == 6
        if name != "operator":
            refusal = await caller.refusal(unfence())
            assert refusal.reason in ("ROLE_NOT_ALLOWED", "LEDGER_NOT_ALLOWED")
    operator = await served.client(callers["operator"])
    assert (await operator.ask(unfence())).ledger.position == 5


async def test_the_end_of_a_fence_shows_in_the_metrics(restored, serve):
    served = await serve(restored)

    def fenced():
        return served.server.registry.get_sample_value(
            "croupier_ledger_fenced", {"ledger": "casino"}
        )

    caller = await served.client()
    served.server.take_gauges()
    assert fenced() == 1
    await caller.ask(unfence())
    assert fenced() == 0
    served.server.take_gauges()
    assert fenced() == 0
