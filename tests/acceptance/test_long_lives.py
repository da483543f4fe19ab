"""A ledger that has lived long starts from a snapshot, and what that skipped is checked after."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from croupier.domain.errors import Reason
from croupier.services.ledger.snapshots import Policy
from croupier.v1 import admin_pb2, events_pb2
from tests.support.ledgers import House
from tests.support.refusals import assert_refused
from tests.support.serving import serving
from tests.support.stories import deposit

EVENTS = Policy().drained_events
"""What a process has to fold before it leaves a book behind."""

CHECKED_WITHIN_S = 30.0


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """Record enough deposits in `main` and end as a process that is told to."""
    house = House(tmp_path)
    await house.create()
    for _ in range(5):
        await asyncio.gather(*(house.deposit("anna", 1) for _ in range(EVENTS // 5)))
    await house.leave()
    assert house.watcher.saved == ["book"]
    return tmp_path


def execute(data: Path, statement: str, *values: object) -> list[tuple]:
    """Change the ledger's file as whoever owns the disk can."""
    with closing(sqlite3.connect(data / "main.db")) as file, file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            file.execute(f"DROP TRIGGER {name}")
        return file.execute(statement, values).fetchall()


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(CHECKED_WITHIN_S):
        for _ in iter(lambda: bool(holds()), True):
            await asyncio.sleep(0.01)


@pytest.mark.sqlite("its snapshots are looked at in its file")
async def test_a_ledger_is_served_from_its_snapshot_and_checked_while_it_is(data: Path):
    async with serving(data) as served:
        client = await served.client()
        unchecked = served.server.registry.get_sample_value
        await client.ask(deposit("player:anna", 1, "main"))
        await until(lambda: unchecked("croupier_ledger_unchecked_events", {"ledger": "main"}) == 0)
        ledger = (await client.ask(admin_pb2.GetLedgerRequest(name="ledgers/main"))).ledger
        assert not ledger.fenced
        assert ledger.position == EVENTS + 2


def _a_record(data: Path) -> None:
    ((state,),) = execute(data, "SELECT state FROM stored_events WHERE position = 1000")
    event = events_pb2.Event.FromString(state)
    event.actor = "somebody else"
    changed = event.SerializeToString(deterministic=True)
    execute(data, "UPDATE stored_events SET state = ? WHERE position = 1000", changed)


def _a_request(data: Path) -> None:
    execute(data, "DELETE FROM requests WHERE last = 1000")


@pytest.mark.sqlite("its snapshots are looked at in its file")
@pytest.mark.parametrize("tamper", [_a_record, _a_request])
async def test_what_was_changed_before_the_snapshot_is_found_soon_after_a_start(
    data: Path, tamper: Callable[[Path], None]
):
    tamper(data)
    async with serving(data) as served:
        client = await served.client()
        await until(served.server.ledgers.not_served)
        assert_refused(
            await client.refusal(deposit("player:anna", 1, "main")), Reason.LEDGER_FENCED
        )
