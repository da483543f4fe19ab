"""Ledgers that take snapshots early, and hands that reach into what was saved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

from croupier.domain.commands import Fade, PostBank, Roll
from croupier.domain.dice import Source
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.snapshots import Policy
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Commit
from tests.support.ledgers import LEDGER, House

EAGER = Policy(table_events=5, evicted_events=3, book_events=1, book_entries=0, drained_events=1)
"""Snapshots after a few events, so that short histories have them."""

NEVER = Policy(10**9, 10**9, 10**9, 10**9, 10**9)


def limits(policy=EAGER, **others):
    return Limits(snapshots=policy, **others)


def execute(folder, statement, *values):
    """Change the ledger's file behind its back, and return what was selected."""
    with closing(sqlite3.connect(folder / f"{LEDGER}.db")) as file, file:
        return file.execute(statement, values).fetchall()


def names(folder):
    return [name for (name,) in execute(folder, "SELECT name FROM snapshots ORDER BY name")]


def saved(folder, name):
    """Return a snapshot as the store gives it."""
    store = SQLiteEngine(folder).open(LEDGER)
    try:
        return store.snapshot(name)
    finally:
        store.close()


def forge(folder, of, /, **fields):
    """Save the snapshot `of` with changed fields, with the digest that belongs to it."""
    store = SQLiteEngine(folder).open(LEDGER)
    try:
        head, snapshot = store.head(), store.snapshot(of)
        store.commit([], Commit(head, head, snapshots=[replace(snapshot, **fields)]))
    finally:
        store.close()


class Counting:
    """A store that counts the records that were asked of it."""

    def __init__(self, store):
        self._store = store
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._store, name)

    def records(self, after, limit):
        found = self._store.records(after, limit)
        self.asked += [record.id for record in found]
        return found

    def stream(self, stream, after, limit):
        found = self._store.stream(stream, after, limit)
        self.asked += [record.originator_version for record in found]
        return found


THROW = Roll("anna", (1, 2, 4), Source("dealer", "kim"))


async def begun(folder, *, tables=("t1",), throws=0, wrap=lambda store: store, policy=EAGER):
    """Return a house with tables at which the banker throws without end, `throws` at the first."""
    house = House(folder, wrap=wrap, limits=limits(policy))
    await house.create()
    await house.deposit("anna", 1000)
    await house.deposit("bert", 1000)
    for table in tables:
        await house.open_table(table)
        await house.play(PostBank("anna", 10), table=table)
        await house.play(Fade("bert", 10), table=table)
    await throw(house, throws, table=tables[0])
    return house


async def throw(house, times, *, table="t1"):
    for _ in range(times):
        await house.play(THROW, table=table)


def state_of(folder):
    """Return what a process says that reads the whole log and no snapshot."""
    execute(folder, "DELETE FROM snapshots")
    house = House(folder)
    books = house.books()
    assert house.watcher.unchecked == [0]
    house.close()
    return books
