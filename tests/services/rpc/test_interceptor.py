"""A fault of ours is logged, and the caller learns nothing of it but that it happened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
import pytest_asyncio
import structlog

from croupier.services.rpc.backlog import Backlog
from croupier.services.rpc.callers import Callers
from croupier.services.rpc.interceptor import Interceptor
from croupier.v1 import admin_pb2, admin_pb2_grpc, audit_pb2, audit_pb2_grpc
from tests.support.serving import Client

SECRET = "the secret of a traceback"  # noqa: S105  # it is one only by name


@dataclass
class Heard:
    """What the interceptor reports."""

    calls: list[tuple[str, str, str]] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def call_finished(self, method: str, code: str, reason: str, seconds: float) -> None:
        assert seconds >= 0
        self.calls.append((method, code, reason))

    def authentication_failed(self, reason: str) -> None:
        self.strangers.append(reason)


class Failing(admin_pb2_grpc.AdminServiceServicer):
    """A service that fails at once."""

    async def GetServerInfo(self, request: Any, context: Any) -> Any:
        raise RuntimeError(SECRET)


class FailingLate(audit_pb2_grpc.AuditServiceServicer):
    """A service that fails after its first answer."""

    async def ReplayTable(self, request: Any, context: Any) -> AsyncIterator[Any]:
        yield audit_pb2.ReplayTableResponse()
        raise RuntimeError(SECRET)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest_asyncio.fixture
async def client(heard: Heard) -> AsyncIterator[Client]:
    interceptor = Interceptor(Callers(None), heard, lambda: 0, 1_000, Backlog(100))
    server = grpc.aio.server(interceptors=[interceptor])
    admin_pb2_grpc.add_AdminServiceServicer_to_server(Failing(), server)
    audit_pb2_grpc.add_AuditServiceServicer_to_server(FailingLate(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    client = Client(f"127.0.0.1:{port}")
    yield client
    await client.channel.close()
    await server.stop(0)


@pytest.mark.parametrize(
    "request_class", [admin_pb2.GetServerInfoRequest, audit_pb2.ReplayTableRequest]
)
async def test_a_fault_of_ours_is_internal_and_says_nothing_more(
    client: Client, heard: Heard, request_class: Any
):
    with structlog.testing.capture_logs() as logs:
        refusal = await client.refusal(request_class())
    assert refusal.code is grpc.StatusCode.INTERNAL
    assert (refusal.reason, refusal.domain, refusal.metadata) == ("INTERNAL", "croupier", {})
    assert SECRET not in repr(refusal)
    (line,) = logs
    assert (line["event"], line["log_level"], line["exc_info"]) == ("call failed", "error", True)
    assert [(code, reason) for _, code, reason in heard.calls] == [("INTERNAL", "INTERNAL")]
    assert heard.strangers == []
