"""The contract of refusals as a whole, and what is refused when the service cannot."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from croupier.domain.errors import Kind, Reason
from croupier.services.ledger.admission import RETRY_MS_LEAST, RETRY_MS_MOST
from croupier.services.rpc.status import CODES
from croupier.v1 import accounts_pb2, errors_pb2
from tests.support.refusals import STATUS, assert_refused
from tests.support.serving import Serve, refusal_of
from tests.support.stories import deposit, furnish

TESTED_ELSEWHERE = {
    "INTERNAL": "a fault of ours, which no request can cause: the interceptor's tests make one",
}
"""Reasons that no test of the acceptance suite's refusals can cause, and why."""


@asynccontextmanager
async def locked(data: Path, ledger: str = "casino") -> AsyncIterator[None]:
    """Hold a ledger's lock, as another process of the service would during its turn."""
    lock = os.open(data / f"{ledger}.db.lock", os.O_RDWR)
    try:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@pytest.mark.sqlite("its lock is held")
async def test_a_full_queue_asks_callers_to_come_back(serve: Serve, tmp_path: Path):
    client = await (await serve(queue=2)).client()
    await furnish(client)
    before = await client.evidence("casino")
    async with locked(tmp_path / "data"):
        answers = [asyncio.ensure_future(client.ask(deposit("player:anna", 1))) for _ in range(5)]
        done: set[asyncio.Future[Any]] = set()
        while len(done) < 3:
            done, _ = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
            assert await client.evidence("casino") == before
    for one in done:
        refusal = refusal_of(one.exception())
        assert_refused(refusal, Reason.QUEUE_FULL)
        # How long the last turns took decides.
        assert refusal.retry_ms == int(refusal.metadata["retry_ms"])
        assert RETRY_MS_LEAST <= refusal.retry_ms <= RETRY_MS_MOST
        assert refusal.metadata["waiting"] == "2"
    taken = [await one for one in answers if one not in done]
    assert max(one.account.balance for one in taken) == 100_002


@pytest.mark.sqlite("its file is locked")
async def test_a_store_that_does_not_answer_is_said_to_be_away(serve: Serve, tmp_path: Path):
    client = await (await serve()).client()
    await furnish(client)
    before = await client.evidence("casino")
    request = deposit("player:anna", 1)
    database = sqlite3.connect(tmp_path / "data" / "casino.db", isolation_level=None)
    try:
        database.execute("ALTER TABLE requests RENAME TO requests_away")
        refusal = await client.refusal(request)
        database.execute("ALTER TABLE requests_away RENAME TO requests")
    finally:
        database.close()
    assert_refused(refusal, Reason.STORE_UNAVAILABLE)
    assert refusal.retry_ms == 200
    assert await client.evidence("casino") == before
    assert (await client.ask(request)).account.balance == 100_001


@pytest.mark.sqlite("its lock is held")
async def test_what_nobody_waits_for_any_more_is_not_done(serve: Serve, tmp_path: Path):
    client = await (await serve()).client()
    await furnish(client)
    before = await client.evidence("casino")
    past = await client.refusal(deposit("player:anna", 1), timeout=-1)
    assert past.code is grpc.StatusCode.DEADLINE_EXCEEDED
    async with locked(tmp_path / "data"):
        refusal = await client.refusal(deposit("player:anna", 1), timeout=0.1)
        assert refusal.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert await client.evidence("casino") == before
    # The next command is decided after whatever waited.
    await client.ask(deposit("player:bela", 1))
    account = accounts_pb2.GetAccountRequest(
        name="ledgers/casino/accounts/player:anna", currency="EUR"
    )
    assert (await client.ask(account)).account.balance == 100_000


def test_the_reasons_on_the_wire_are_those_of_the_domain():
    wire = {name.removeprefix("REASON_") for name in errors_pb2.Reason.DESCRIPTOR.values_by_name}
    assert wire == {reason.name for reason in Reason} | {"UNSPECIFIED"}
    assert all(reason.name == reason.value for reason in Reason)


def test_every_kind_of_refusal_has_the_status_of_the_contract():
    assert {kind: code.name for kind, code in CODES.items()} == STATUS
    assert set(STATUS) == set(Kind)
    assert len(set(STATUS.values())) == len(STATUS)


def test_every_reason_is_tried_by_a_test_or_listed_with_the_reason_why_not():
    here = Path(__file__).parent
    tried = {
        name
        for file in here.glob("test_*.py")
        for name in re.findall(r"Reason\.([A-Z_]+)\b", file.read_text())
    }
    listed = set(TESTED_ELSEWHERE)
    assert {reason.name for reason in Reason} - tried - listed == set()
    assert listed & tried == set(), "listed, and tried all the same"
    assert listed <= set(Reason.__members__)
