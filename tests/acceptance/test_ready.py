"""When health says that the service is ready: after recovery, and while it can record."""

from __future__ import annotations

import time

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from structlog.testing import capture_logs

from croupier.domain.errors import Reason
from croupier.services import server
from croupier.services.server import SERVICES
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import serving

HOUR_US = 3_600_000_000


async def health(client):
    """Return what health says of the server and of each of its services, if it is all the same."""
    stub = health_pb2_grpc.HealthStub(client.channel)
    said = {
        (await stub.Check(health_pb2.HealthCheckRequest(service=name))).status
        for name in ("", *SERVICES)
    }
    (status,) = said
    return health_pb2.HealthCheckResponse.ServingStatus.Name(status)


def deposit(request_id):
    account = "ledgers/main/accounts/player:anna"
    return accounts_pb2.DepositRequest(
        account=account, currency="EUR", amount=1, request_id=request_id
    )


@pytest.fixture
def clock(monkeypatch):
    """This machine's clock, with a hand on it."""
    hand = {"ahead_us": 0}
    monkeypatch.setattr(server, "now_us", lambda: time.time_ns() // 1000 + hand["ahead_us"])
    return hand


async def test_a_clock_behind_a_ledger_is_not_ready_until_it_is_set(tmp_path, clock):
    clock["ahead_us"] = HOUR_US
    async with serving(tmp_path) as served:
        client = await served.client()
        await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
        assert await health(client) == "SERVING"
        with capture_logs() as logs:
            # Somebody sets the clock back under the service.
            clock["ahead_us"] = 0
            await served.server.look_after_ledgers()
            await served.server.look_after_ledgers()
        assert await health(client) == "NOT_SERVING"
        assert [one["event"] for one in logs] == ["not ready"]
        assert_refused(await client.refusal(deposit("late")), Reason.CLOCK_BEHIND)
    async with serving(tmp_path) as served:
        client = await served.client()
        assert await health(client) == "NOT_SERVING"
        with capture_logs() as logs:
            clock["ahead_us"] = HOUR_US
            await served.server.look_after_ledgers()
        assert await health(client) == "SERVING"
        assert [one["event"] for one in logs] == ["ready again"]
        assert (await client.ask(deposit("late"))).receipt.position == 2


async def test_a_ledger_that_cannot_be_served_keeps_nobody_from_the_others(tmp_path):
    (tmp_path / "broken.db").write_bytes(b"this is no ledger" * 100)
    async with serving(tmp_path) as served:
        client = await served.client()
        assert await health(client) == "SERVING"
        await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
        assert (await client.ask(deposit("one"))).receipt.position == 2
