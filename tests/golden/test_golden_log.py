"""A log written once is read for ever, and says the same."""

from __future__ import annotations

import base64
import json

import pytest
from eventsourcing.persistence import Notification

from croupier.domain.event import (
    EVENTS,
)
from croupier.services.audit.replay import Replay
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.sealing import microseconds
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Commit, Head, RequestEntry
from croupier.v1 import events_pb2
from tests.golden.scenario import BOOKS, LOG, books_of, record
from tests.support.ledgers import LEDGER, House

STORED = [base64.b64decode(json.loads(line)["state"]) for line in LOG.read_text().splitlines()]
SAID = json.loads(BOOKS.read_text())


@pytest.fixture
def house(tmp_path):
    """Return a house whose ledger is the golden log, as it was stored."""
    frontier, records, recorded_us, requests = Frontier(), [], 0, {}
    for state in STORED:
        event = events_pb2.Event.FromString(state)
        frontier = frontier.append(leaf_hash(state))
        recorded_us = microseconds(event.recorded_time)
        first = requests[event.request_id].first if event.request_id in requests else event.position
        requests[event.request_id] = RequestEntry(
            event.caller, event.request_id, event.request_digest, first, event.position
        )
        records.append(
            Notification(
                id=event.position,
                originator_id=event.stream,
                originator_version=event.version,
                topic=event.type,
                state=state,
            )
        )
    store = SQLiteEngine(tmp_path).open(LEDGER)
    store.commit(records, Commit(Head(), Head(frontier, recorded_us), [*requests.values()]))
    store.close()
    house = House(tmp_path)
    yield house
    house.close()


def test_the_stored_log_gives_the_books_it_always_gave(house):
    assert books_of(house.ledger) == SAID


def test_every_payout_of_the_stored_log_is_recomputed_alike(house):
    for table_id in SAID["tables"]:
        replay = Replay()
        for event in house.ledger.table_events(table_id):
            assert replay.fold(event) == []


async def test_the_same_session_is_stored_as_the_same_bytes(tmp_path):
    log, books = await record(tmp_path / "again")
    assert log == STORED
    assert books == SAID


def test_every_kind_of_event_is_in_the_golden_log():
    assert {events_pb2.Event.FromString(state).type for state in STORED} == set(EVENTS)
