"""A ledger is copied between engines as it is, or not so that anybody would serve it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from croupier.domain.commands import Fade, PostBank
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger import copying
from croupier.services.ledger.book import LogError
from croupier.services.ledger.copying import CopyRefusedError, copy
from croupier.services.store.sqlite import SQLiteEngine
from tests.support.ledgers import LEDGER, House

PLAYED = 40
TIMEOUT_S = 30


def nothing(what, done, of):
    """Take no notice of the progress."""


class Sides:
    """A house with a history, and an empty engine to copy it to."""

    def __init__(self, folder):
        self.folder = folder
        self.house = House(folder / "from")
        self.there = SQLiteEngine(folder / "from").open(LEDGER)
        self.here = SQLiteEngine(folder / "to").open(LEDGER)

    def copy(self, progress=nothing):
        return copy(self.there, self.here, progress)

    def served(self):
        """Return a house that serves the target."""
        return House(self.folder / "to")

    def close(self):
        for one in (self.house, self.there, self.here):
            one.close()


@pytest.fixture
async def sides(tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "PAGE", 7)
    sides = Sides(tmp_path)
    await sides.house.create()
    await sides.house.open_table()
    for number in range(PLAYED):
        await sides.house.deposit("anna", 10 + number, f"d{number}")
    yield sides
    sides.close()


def everything(store):
    """Return all that a log holds, as stored."""
    head = store.head()
    records = store.records(0, 1_000_000)
    keys = {("desk", f"d{number}") for number in range(PLAYED)} | {("desk", "create")}
    return head, records, store.find_requests(keys), store.count_requests(1_000_000)


async def test_the_copy_is_the_same_byte_for_byte_and_says_its_root(sides):
    copied = sides.copy()
    assert everything(sides.here) == everything(sides.there)
    assert copied.head == sides.there.head()
    assert copied.requests == PLAYED + 2
    assert copied.resumed_at == 0


async def test_the_copy_is_served_and_old_requests_keep_their_receipts(sides):
    receipt = await sides.house.deposit("anna", 10, "d0")
    sides.copy()
    served = sides.served()
    assert await served.deposit("anna", 10, "d0") == receipt
    assert served.ledger.balance("player:anna", "EUR") == sum(range(10, 10 + PLAYED))
    await served.deposit("anna", 5, "later")
    served.close()


@pytest.mark.parametrize("page", [1, 2, 3])
async def test_requests_whose_events_are_copied_page_by_page_are_copied_once(
    sides, page, monkeypatch
):
    await sides.house.deposit("bert", 100)
    await sides.house.play(PostBank("anna", 100))
    await sides.house.play(Fade("bert", 100))
    monkeypatch.setattr(copying, "PAGE", page)
    copied = sides.copy()
    assert copied.requests == PLAYED + 5 < sides.there.head().position - 1
    assert everything(sides.here) == everything(sides.there)


async def test_progress_is_told_until_all_is_done(sides):
    told = []
    sides.copy(lambda *one: told.append(one))
    last = sides.there.head().position
    for what in ("copied", "read back"):
        done = [one[1] for one in told if one[0] == what]
        assert done == sorted(done)
        assert done[-1] == last
    assert {one[2] for one in told} == {last}


async def test_a_target_that_has_a_ledger_is_left_as_it_is(sides):
    other = sides.served()
    await other.create()
    before = everything(sides.here)
    with pytest.raises(CopyRefusedError, match="has this ledger already, with 1 events"):
        sides.copy()
    assert everything(sides.here) == before
    other.close()


async def test_a_copy_is_not_made_twice(sides):
    sides.copy()
    with pytest.raises(CopyRefusedError, match="has this ledger already"):
        sides.copy()


async def test_an_empty_ledger_is_not_copied(tmp_path):
    with (
        closing(SQLiteEngine(tmp_path / "a").open("x")) as there,
        closing(SQLiteEngine(tmp_path / "b").open("x")) as here,
        pytest.raises(CopyRefusedError, match="no events"),
    ):
        copy(there, here, nothing)


# --- interrupted ------------------------------------------------------------------------------


class Killed(Exception):
    """The copy ends here, as a kill would end it."""


def kill_at(step):
    """Return a progress that ends the copy when it has been told so often."""
    left = [step]

    def told(what, done, of):
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    return told


def check_nobody_serves(sides):
    served = sides.served()
    with pytest.raises(Refused) as caught:
        served.ledger.head()
    assert caught.value.reason is Reason.LEDGER_FENCED
    served.close()


@pytest.mark.parametrize("step", range(1, 13))
async def test_a_copy_that_was_interrupted_is_served_by_nobody_and_gone_on_with(sides, step):
    """42 events in pages of 7: six steps to copy, and six to read back."""
    with pytest.raises(Killed):
        sides.copy(kill_at(step))
    check_nobody_serves(sides)
    assert sides.copy().resumed_at == min(7 * step, 42)
    assert everything(sides.here) == everything(sides.there)


# --- while somebody writes --------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["copied", "read back"])
@pytest.mark.parametrize("done", [7, 42])
async def test_a_copy_is_refused_while_somebody_writes_and_goes_on_when_he_has_stopped(
    sides, phase, done
):
    loop = asyncio.get_running_loop()

    def write_once(*told):
        if told[:2] == (phase, done):
            deposit = sides.house.deposit("bert", 5, "meanwhile")
            asyncio.run_coroutine_threadsafe(deposit, loop).result(TIMEOUT_S)

    with pytest.raises(CopyRefusedError, match=r"somebody writes .* from position 42 to 43"):
        await asyncio.to_thread(sides.copy, write_once)
    check_nobody_serves(sides)
    sides.copy()
    assert everything(sides.here) == everything(sides.there)


async def test_a_copy_is_refused_while_somebody_has_the_lock(sides):
    other = SQLiteEngine(sides.folder / "from").open(LEDGER)
    other.lock()
    with pytest.raises(CopyRefusedError, match="somebody writes"):
        sides.copy()
    check_nobody_serves(sides)
    other.close()
    sides.copy()
    assert everything(sides.here) == everything(sides.there)


# --- when a side is not what it says ----------------------------------------------------------


OTHER_STATE = """
    UPDATE stored_events SET state = (SELECT state FROM stored_events WHERE position = 9)
    WHERE position = 8
"""


def change(folder, *statements):
    """Change a ledger's file behind its back, past its triggers."""
    with closing(sqlite3.connect(folder / f"{LEDGER}.db")) as file, file:
        triggers = file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            file.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert file.execute(statement).rowcount == 1


async def test_a_source_whose_event_was_changed_is_not_copied(sides):
    change(sides.folder / "from", OTHER_STATE)
    with pytest.raises(LogError, match="position 8"):
        sides.copy()


async def test_a_source_that_is_another_log_than_its_head_says_is_not_copied(sides):
    change(sides.folder / "from", "UPDATE head SET frontier = zeroblob(length(frontier))")
    with pytest.raises(CopyRefusedError, match="not what its head says"):
        sides.copy()
    check_nobody_serves(sides)


async def test_a_source_that_lost_a_request_id_is_not_copied(sides):
    change(sides.folder / "from", "DELETE FROM requests WHERE request_id = 'd20'")
    with pytest.raises(CopyRefusedError, match="request ids does not fit position 23"):
        sides.copy()
    check_nobody_serves(sides)


async def test_a_source_that_has_a_request_id_without_events_is_not_copied(sides):
    change(sides.folder / "from", "INSERT INTO requests VALUES ('desk', 'x', x'00', 42, 42)")
    with pytest.raises(CopyRefusedError, match="42 requests are in the log, 43 in the source"):
        sides.copy()
    check_nobody_serves(sides)


async def test_what_the_target_did_not_keep_is_found(sides):
    with pytest.raises(Killed):
        sides.copy(kill_at(7))
    change(sides.folder / "to", OTHER_STATE)
    with pytest.raises(LogError, match="position 8"):
        sides.copy()


async def test_the_unfinished_copy_of_another_ledger_is_not_gone_on_with(sides):
    with pytest.raises(Killed):
        sides.copy(kill_at(2))
    house = House(sides.folder / "another")
    await house.create()
    for number in range(30):
        await house.deposit("bert", 1, f"b{number}")
    house.close()
    there = SQLiteEngine(sides.folder / "another").open(LEDGER)
    with pytest.raises(CopyRefusedError, match="another ledger of this name"):
        copy(there, sides.here, nothing)
    there.close()


async def test_the_unfinished_copy_of_a_longer_ledger_is_not_gone_on_with(sides):
    with pytest.raises(Killed):
        sides.copy(kill_at(5))
    house = House(sides.folder / "short")
    await house.create()
    house.close()
    there = SQLiteEngine(sides.folder / "short").open(LEDGER)
    with pytest.raises(CopyRefusedError, match="another ledger of this name"):
        copy(there, sides.here, nothing)
    there.close()
