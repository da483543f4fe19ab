"""A slow call leads to its trace: the buckets of its time name it, where traces are on."""

from __future__ import annotations

import asyncio
import re
from urllib.request import Request, urlopen

import pytest
from opentelemetry.sdk.trace import TracerProvider

from croupier.services import traces
from croupier.v1 import admin_pb2
from tests.support.serving import Serve
from tests.support.stories import deposit

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLERS_TRACE = (("traceparent", f"00-{TRACE}-b7ad6b7169203331-01"),)


@pytest.fixture
def traced(monkeypatch):
    """Let traces go nowhere."""
    provider = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(traces, "_provider", lambda where: provider)


def exemplars(port):
    """Return each trace that a bucket names, with the metric and its labels."""
    request = Request(  # our own server
        f"http://127.0.0.1:{port}/metrics", headers={"Accept": "application/openmetrics-text"}
    )
    with urlopen(request) as response:  # noqa: S310
        text = response.read().decode()
    found = re.findall(r'^croupier_(\w+)_bucket{(.*?)} .* # {trace_id="(\w+)"}', text, re.MULTILINE)
    return {(name, labels.partition(",")[2], trace) for name, labels, trace in found}


@pytest.mark.usefixtures("traced")
async def test_a_call_and_its_commit_lead_to_the_callers_trace(serve: Serve):
    served = await serve(trace="console", metrics_listen="127.0.0.1:0")
    client = await served.client()
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="casino", request_id="create"))
    await client.ask(deposit("player:anna", 5), metadata=CALLERS_TRACE)
    wanted = {("call_seconds", 'method="AccountService/Deposit"'), ("store_commit_seconds", "")}
    async with asyncio.timeout(20):  # a call ends after its answer
        while True:
            told = await asyncio.to_thread(exemplars, served.server.metrics_port)
            if wanted <= {(name, labels) for name, labels, trace in told if trace == TRACE}:
                return


async def test_where_nothing_is_traced_nothing_leads_anywhere(serve: Serve):
    served = await serve(metrics_listen="127.0.0.1:0")
    client = await served.client()
    await client.ask(
        admin_pb2.CreateLedgerRequest(ledger_id="casino", request_id="create"),
        metadata=CALLERS_TRACE,
    )
    assert await asyncio.to_thread(exemplars, served.server.metrics_port) == set()
