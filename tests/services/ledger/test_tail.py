"""The self-check of a head: what is wrong at the end of a log is found before it is served."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason
from croupier.services.ledger import tail
from croupier.services.ledger.requests import Deposit
from croupier.services.ledger.tail import TAIL, _last_subtrees, check_tail
from croupier.services.store.sqlite import SQLiteEngine
from tests.support.ledgers import LEDGER, House, refused
from tests.support.snapshots import Counting, begun, execute, limits, saved

HEAD = 28


async def recorded(folder):
    """Record a short history whose end is a snapshot of the book; no trigger keeps it."""
    await (await begun(folder, throws=20)).leave()
    assert saved(folder, "book").position == HEAD
    for (name,) in execute(folder, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        execute(folder, f"DROP TRIGGER {name}")


async def fenced(folder):
    """Serve the folder, without any check in the background, and return why it is fenced."""
    house = House(folder, limits=limits())
    await refused(house.ask(Deposit("player:anna", "EUR", 1)), Reason.LEDGER_FENCED)
    (why,) = house.watcher.fenced.values()
    house.close()
    return why


@pytest.mark.parametrize("position", [HEAD, HEAD - 3, HEAD - 8, 1])
async def test_a_changed_record_near_the_end_fences_before_the_first_answer(tmp_path, position):
    await recorded(tmp_path)
    (state,) = execute(tmp_path, "SELECT state FROM stored_events WHERE position = ?", position)[0]
    changed = state.replace(b"desk", b"disk")
    assert changed != state
    execute(tmp_path, "UPDATE stored_events SET state = ? WHERE position = ?", changed, position)
    assert "the tree over events 1 to 28 is not the head's" in await fenced(tmp_path)


async def test_a_head_of_another_time_than_its_last_event_fences(tmp_path):
    await recorded(tmp_path)
    execute(tmp_path, "UPDATE head SET recorded_us = recorded_us - 1")
    assert "the last event was recorded at" in await fenced(tmp_path)


async def test_a_sound_end_is_read_and_no_more_than_it(tmp_path, monkeypatch):
    await recorded(tmp_path)
    store = SQLiteEngine(tmp_path).open(LEDGER)
    for most, expected in ((TAIL, 28), (12, 12), (11, 4), (3, 1)):
        monkeypatch.setattr(tail, "TAIL", most)
        counting = Counting(store)
        check_tail(counting, store.head())
        assert len(counting.asked) == expected
    store.close()


@pytest.mark.parametrize(
    "position, sizes",
    [(1, [1]), (2, [2]), (28, [16, 8, 4]), (255, [128, 64, 32, 16, 8, 4, 2, 1]), (256, [256])],
)
def test_the_last_subtrees_are_the_digits_of_the_position(position, sizes):
    assert _last_subtrees(position) == sizes


def test_a_subtree_that_is_too_large_is_left_to_the_background():
    assert _last_subtrees(512) == []
    assert _last_subtrees(2**20 + 3) == [2, 1]
