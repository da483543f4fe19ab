"""Whatever was saved, and whatever became of it: what is loaded is what the log says."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.services.ledger.snapshots import Policy
from croupier.services.store.store import SnapshotError
from tests.properties.test_ledger import STEPS, play_all
from tests.support.ledgers import LEDGER, PLAYERS, House
from tests.support.snapshots import execute, forge, limits

FEW = st.integers(1, 12)
POLICY = st.builds(Policy, FEW, FEW, st.just(1), st.just(0), FEW)
LIMITS = st.builds(lambda policy, live: limits(policy, live_tables=live), POLICY, st.integers(1, 3))
NAMES = ("book", "tables/t1", "tables/t2")

# How a process ends: it is told to, it is killed, it is killed after it saved its book.
ENDS = st.sampled_from(("leaves", "killed", "keeps, killed"))
LIVES = st.lists(st.tuples(STEPS, LIMITS, ENDS), min_size=1, max_size=3)

DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(
            ("bit", "cut", "stamp", "digest", "future", "past", "foreign", "swapped", "old", "gone")
        ),
        st.integers(0, 10**6),
    ),
    max_size=3,
)


def said(house):
    """Return everything that a ledger says of its log."""
    book = house.ledger._writer.committed.book
    whole = (dict(book.versions), book.requests, book.last_request, book.format_version)
    return (house.books(), whole)


def replayed(folder):
    """Return what a process says that reads the whole log and no snapshot."""
    execute(folder, "DELETE FROM snapshots")
    house = House(folder)
    try:
        whole = said(house)
        assert house.watcher.unchecked == [0]
        return whole
    finally:
        house.close()


async def live(folder, steps, bounds, end):
    """Live one life of a process on the folder."""
    house = House(folder, limits=bounds)
    try:
        if not house.log():
            await house.create()
            for player in PLAYERS:
                await house.deposit(player, 300)
            await house.open_table("t1")
            await house.open_table("t2", preset="german")
        await play_all(house, steps)
        if end != "killed":
            await house.ledger.leave_book()
        if end == "leaves":
            await house.ledgers.drain()
        await house.ledger.recheck(lambda worked_s: asyncio.sleep(0))
        assert house.watcher.fenced == {}
        return said(house)
    finally:
        house.close()


def rows(folder):
    return {row[0]: row for row in execute(folder, "SELECT * FROM snapshots")}


def put(folder, row):
    execute(folder, "INSERT OR REPLACE INTO snapshots VALUES (?,?,?,?,?)", *row)


def spoil(folder, older, name, how, at):  # noqa: PLR0912  # one kind of damage per case
    """Do to a snapshot what disks, hands and restored copies do."""
    row = rows(folder).get(name)
    if row is None:
        return
    name, position, stamp, digest, state = row
    match how:
        case "bit":
            at %= len(state)
            flipped = state[:at] + bytes([state[at] ^ (1 << at % 8)]) + state[at + 1 :]
            put(folder, (name, position, stamp, digest, flipped))
        case "cut":
            put(folder, (name, position, stamp, digest, state[: at % len(state)]))
        case "digest":
            put(folder, (name, position, stamp, bytes(32), state))
        case "stamp":
            forge(folder, name, stamp=stamp + "1")
        case "future":
            forge(folder, name, position=position + at + 1)
        case "past":
            forge(folder, name, position=position - 1)
        case "foreign":
            for other in NAMES:
                if other != name and other in rows(folder):
                    forge(folder, other, name=name)
        case "swapped":
            put(folder, (name, *rows(folder)[min(rows(folder))][1:]))
        case "old":
            if name in older:
                put(folder, older[name])
        case "gone":
            execute(folder, "DELETE FROM snapshots WHERE name = ?", name)


def in_a_folder(scenario):
    async def run():
        with tempfile.TemporaryDirectory() as folder:
            await scenario(Path(folder))

    asyncio.run(run())


@settings(max_examples=25, deadline=None, derandomize=True)
@given(LIVES, DAMAGE)
def test_whatever_became_of_the_snapshots_a_process_says_what_the_log_says(lives, damage):
    async def scenario(folder):
        older = {}
        for steps, bounds, end in lives:
            before = await live(folder, steps, bounds, end)
            house = House(folder, limits=bounds)
            assert said(house) == before
            house.close()
            taken = rows(folder)
            for name, how, at in damage:
                with suppress(SnapshotError):  # it was spoiled already
                    spoil(folder, older, name, how, at)
            house = House(folder, limits=bounds)
            assert said(house) == before
            assert house.watcher.fenced == {}
            house.close()
            older = older or taken
        assert replayed(folder) == before

    in_a_folder(scenario)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(STEPS, LIMITS)
def test_a_copy_of_any_moment_is_loaded_as_that_moment_was(steps, bounds):
    """A kill at any point leaves what was committed by then: no snapshot is ahead of the log."""

    async def scenario(folder):
        source, moments = folder / "source", []
        house = House(source, limits=bounds)
        await house.create()
        for player in PLAYERS:
            await house.deposit(player, 300)
        await house.open_table("t1")
        await house.open_table("t2", preset="german")
        for number, step in enumerate(steps):
            await play_all(house, [step])
            if number % 7 == 3:
                await house.ledger.leave_book()
            if number % 5 == 0:
                copy = folder / str(number)
                copy.mkdir()
                with (
                    closing(sqlite3.connect(source / f"{LEDGER}.db")) as live_file,
                    closing(sqlite3.connect(copy / f"{LEDGER}.db")) as copied,
                ):
                    live_file.backup(copied)
                moments.append((copy, said(house)))
        house.close()
        for copy, then in moments:
            again = House(copy, limits=bounds)
            assert said(again) == then
            assert again.watcher.dropped == []
            again.close()
            assert replayed(copy) == then

    in_a_folder(scenario)
