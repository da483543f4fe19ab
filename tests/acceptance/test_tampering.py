"""A log that was changed behind the service's back is not served, or is found out by replay."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2

from croupier.domain.errors import Reason
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, events_pb2, tables_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Client, serving
from tests.support.stories import create_ledger, deposit, furnish, open_table, play_round

pytestmark = pytest.mark.sqlite("its file is changed")


async def recorded(data: Path) -> None:
    """Record a round in one ledger and nothing much in another."""
    async with serving(data) as served:
        client = await served.client()
        await furnish(client)
        await play_round(client)
        await furnish(client, "other")


@asynccontextmanager
async def restarted(data: Path) -> AsyncIterator[Client]:
    """Serve the folder again."""
    async with serving(data) as served:
        yield await served.client()


def change(data: Path, *statements: tuple[str, tuple]) -> None:
    """Change the casino's file as whoever owns the disk can."""
    with closing(sqlite3.connect(data / "casino.db")) as file, file:
        triggers = file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            file.execute(f"DROP TRIGGER {name}")
        for statement, values in statements:
            file.execute(statement, values)


def stored(data: Path) -> list[events_pb2.Event]:
    """Return the events of the casino's file."""
    with closing(sqlite3.connect(data / "casino.db")) as file:
        rows = file.execute("SELECT state FROM stored_events ORDER BY position").fetchall()
    return [events_pb2.Event.FromString(state) for (state,) in rows]


def more_for_bela(data: Path) -> events_pb2.Event:
    """Return bela's payout with one minor unit more, in the event and in its postings."""
    event = next(one for one in stored(data) if one.paid_out.rule == "triples")
    event.paid_out.winnings += 1
    event.postings[-1].amount += 1
    return event


REPLACE = "UPDATE stored_events SET state = ? WHERE position = ?"


def _payout(data: Path) -> None:
    event = more_for_bela(data)
    change(data, (REPLACE, (event.SerializeToString(deterministic=True), event.position)))


def _kind(data: Path) -> None:
    event = more_for_bela(data)
    event.collected.player = "bela"
    event.type = "croupier.v1.Collected"
    statement = "UPDATE stored_events SET state = ?, topic = ? WHERE position = ?"
    change(data, (statement, (event.SerializeToString(), event.type, event.position)))


def _last_event(data: Path) -> None:
    change(data, ("DELETE FROM stored_events WHERE position = ?", (len(stored(data)),)))


def _inner_event(data: Path) -> None:
    change(data, ("DELETE FROM stored_events WHERE position = 7", ()))


def _column(data: Path) -> None:
    change(data, ("UPDATE stored_events SET originator_id = 'tables/t2' WHERE position > 4", ()))


def _no_event(data: Path) -> None:
    change(data, (REPLACE, (b"\xff\xff", 9)))


def _order(data: Path) -> None:
    change(
        data,
        ("UPDATE stored_events SET position = -2 WHERE position = 2", ()),
        ("UPDATE stored_events SET position = 2 WHERE position = 3", ()),
        ("UPDATE stored_events SET position = 3 WHERE position = -2", ()),
    )


@pytest.mark.parametrize(
    "tamper, why",
    [
        (_payout, "the tree over events 1 to 22 is not the head's"),
        (_kind, "22 is not the head's"),
        (_last_event, "the head is at position 22, the log ends at 21"),
        (_inner_event, "position 7 is missing"),
        (_column, "the columns say"),
        (_no_event, "position 9 does not hold an event"),
        (_order, "the columns say"),
    ],
)
async def test_a_log_that_was_changed_is_fenced_and_says_why(
    tmp_path: Path, tamper: Callable[[Path], None], why: str
):
    data = tmp_path / "data"
    await recorded(data)
    tamper(data)
    async with restarted(data) as client:
        ledger = (await client.ask(admin_pb2.GetLedgerRequest(name="ledgers/casino"))).ledger
        assert why in ledger.fenced
        for request in (
            deposit("player:anna", 1),
            open_table("t2"),
            tables_pb2.GetTableRequest(name="ledgers/casino/tables/t1"),
            accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"),
            audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"),
        ):
            refusal = await client.refusal(request)
            assert_refused(refusal, Reason.LEDGER_FENCED)
            assert refusal.metadata["why"] == ledger.fenced
        probe = health_pb2.HealthCheckRequest(service="ledgers/casino").SerializeToString()
        answer = await client.raw("/grpc.health.v1.Health/Check", probe)
        not_serving = health_pb2.HealthCheckResponse.NOT_SERVING
        assert health_pb2.HealthCheckResponse.FromString(answer).status == not_serving
        # The other ledger is served as ever, and both are listed.
        assert (await client.ask(deposit("player:anna", 1, "other"))).account.balance == 100_001
        listed = await client.ask(admin_pb2.ListLedgersRequest())
        assert [bool(one.fenced) for one in listed.ledgers] == [True, False]


async def test_what_the_tree_was_made_to_fit_is_found_by_what_was_seen_and_by_replay(
    tmp_path: Path,
):
    """Whoever recomputes the tree, and what was seen of it, does not get past the payout."""
    data = tmp_path / "data"
    await recorded(data)
    _payout(data)
    frontier = Frontier()
    with closing(sqlite3.connect(data / "casino.db")) as file:
        for (state,) in file.execute("SELECT state FROM stored_events ORDER BY position"):
            frontier = frontier.append(leaf_hash(state))
    change(data, ("UPDATE head SET frontier = ?", (frontier.to_bytes(),)))
    async with restarted(data) as client:
        ledger = (await client.ask(admin_pb2.GetLedgerRequest(name="ledgers/casino"))).ledger
        assert ledger.fenced == "the log to 22 is not the one that was seen before"
    shutil.rmtree(data / "seen")
    async with restarted(data) as client:
        steps = await client.ask(audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"))
    wrong = [step for step in steps if step.findings]
    assert wrong[0].event.paid_out.rule == "triples"
    assert "has to follow" in wrong[0].findings[0]


async def test_a_file_that_is_no_ledger_keeps_no_other_from_being_served(tmp_path: Path):
    data = tmp_path / "data"
    await recorded(data)
    (data / "broken.db").write_bytes(b"this is no database, whatever its name says" * 100)
    (data / "empty.db").write_bytes(b"")
    (data / "no id.db").write_bytes(b"")
    async with restarted(data) as client:
        assert (await client.ask(deposit("player:anna", 1))).account.balance
        listed = await client.ask(admin_pb2.ListLedgersRequest())
        names = [one.name for one in listed.ledgers if not one.fenced]
        assert names == ["ledgers/casino", "ledgers/other"]
        refusal = await client.refusal(admin_pb2.GetLedgerRequest(name="ledgers/broken"))
        assert refusal.domain == "croupier"
        assert_refused(
            await client.refusal(admin_pb2.GetLedgerRequest(name="ledgers/empty")),
            Reason.LEDGER_NOT_FOUND,
        )
        await client.ask(create_ledger("empty"))
