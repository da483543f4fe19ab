"""A real ledger on SQLite in a folder, without a server: commands in, receipts out."""

from __future__ import annotations

import itertools
from hashlib import sha256
from pathlib import Path

import pytest
from eventsourcing.persistence import DataError, InterfaceError, OperationalError

from croupier.domain.errors import Refused
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import CreateLedger, Deposit, OpenTable, Play, Request
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Head, HeadMovedError

LEDGER = "main"
_IDS = itertools.count(1)
PLAYERS = ("anna", "bert", "cleo", "dora")


class Watcher:
    """An observer that only remembers."""

    def __init__(self):
        self.commits = []
        self.conflicts = []
        self.turns = []
        self.waits = []
        self.rechecked = []
        self.fenced = {}
        self.saved = []
        self.dropped = []
        self.unchecked = []

    def turn_committed(self, ledger, events, commands, seconds):
        self.commits.append((ledger, [event.position for event in events], commands))

    def turn_conflicted(self, ledger):
        self.conflicts.append(ledger)

    def turn_ended(self, ledger, turn):
        self.turns.append(turn)

    def lock_waited(self, ledger, seconds):
        self.waits.append(seconds)

    def queue_changed(self, ledger, waiting):
        self.waiting = waiting

    def ledger_fenced(self, ledger, why):
        self.fenced[ledger] = why

    def ledger_unfenced(self, ledger):
        del self.fenced[ledger]

    def snapshots_saved(self, kind, count):
        self.saved += [str(kind)] * count

    def snapshot_dropped(self, kind, reason):
        self.dropped.append((str(kind), str(reason)))

    def snapshot_rechecked(self, kind, *, same):
        self.rechecked.append((str(kind), same))

    def events_unchecked(self, ledger, count):
        self.unchecked.append(count)


class Clock:
    """A clock that stands still until it is set; microseconds."""

    def __init__(self, now_us=1_700_000_000_000_000):
        self.now_us = now_us

    def __call__(self):
        return self.now_us


class StoreEngine(SQLiteEngine):
    """SQLite, with every store wrapped by `wrap` (for named faults)."""

    def __init__(self, folder, wrap=lambda store: store):
        super().__init__(folder)
        self._wrap = wrap

    def open(self, ledger):
        return self._wrap(super().open(ledger))


class House:
    """Ledgers over a folder, with short ways to ask."""

    def __init__(
        self,
        folder: Path,
        *,
        wrap=lambda store: store,
        limits=None,
        clock=None,
        engine=None,
        seen=None,
    ):
        self.watcher = Watcher()
        self.clock = clock or Clock()
        self.ledgers = Ledgers(
            engine or StoreEngine(folder, wrap),
            self.watcher,
            self.clock,
            limits or Limits(),
            seen=seen,
        )

    @property
    def ledger(self):
        return self.ledgers.get(LEDGER)

    def request(self, command, request_id=None, *, body=None, caller="desk", **conditions):
        request_id = request_id or f"auto-{next(_IDS)}"
        # As on the wire, a field that came later does not change the bytes while it is not set.
        said = repr(command if body is None else body).replace(", bankroll=0)", ")")
        digest = sha256(said.encode()).digest()
        return Request(command, caller, request_id, digest, **conditions)

    async def create(self):
        return await self.ledgers.create(LEDGER, self.request(CreateLedger(LEDGER), "create"))

    async def ask(self, command, request_id=None, **conditions):
        return await self.ledger.submit(self.request(command, request_id, **conditions))

    async def deposit(self, player, amount, request_id=None, **conditions):
        return await self.ask(Deposit(f"player:{player}", "EUR", amount), request_id, **conditions)

    async def open_table(self, table="t1", **options):
        command = OpenTable(table, "ceelo_bank", options, PLAYERS, "EUR", PLAYERS[0])
        return await self.ask(command, f"open-{table}")

    async def play(self, command, *, table="t1", round_number=1, request_id=None, **conditions):
        return await self.ask(Play(table, round_number, command), request_id, **conditions)

    async def leave(self):
        """End as a process that is told to: it leaves snapshots behind."""
        await self.ledgers.drain()
        self.close()

    def log(self):
        """Return the stored bytes of the whole log, read past every layer of state."""
        store = SQLiteEngine(self.ledgers.engine._folder).open(LEDGER)
        try:
            return [bytes(record.state) for record in store.records(0, 1_000_000)]
        finally:
            store.close()

    def books(self):
        """Return everything that a refused command must leave as it is."""
        ledger = self.ledger
        tables = [(table.id, table.version, table.state) for table in ledger.tables("", 1000)]
        return (ledger.head(), dict(ledger.balances()), tables, self.log())

    def close(self):
        self.ledgers.close()


class Faulty:
    """A store with named faults, each of which happens once."""

    def __init__(self, store):
        self._store = store
        self.fault = ""
        self.then = ""

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _take(self, *names):
        if self.fault in names:
            fault, self.fault, self.then = self.fault, self.then, ""
            return fault
        return ""

    def try_lock(self):
        match self._take("lock_fails", "lock_is_held"):
            case "lock_fails":
                raise InterfaceError("the store is closed")
            case "lock_is_held":
                return False
        return self._store.try_lock()

    def lock(self):
        if self._take("waiting_fails"):
            raise InterfaceError("the store is closed")
        self._store.lock()

    def unlock(self):
        self._store.unlock()
        if self._take("unlock_fails"):
            raise OSError("bad file descriptor")

    def commit(self, records, commit):
        match self._take("fails", "fails_but_persisted", "head_moved"):
            case "fails":
                raise OperationalError("disk full")
            case "fails_but_persisted":
                self._store.commit(records, commit)
                raise OperationalError("connection lost")
            case "head_moved":
                raise HeadMovedError("somebody else was first")
        self._store.commit(records, commit)

    def head(self):
        match self._take("head_fails", "head_of_an_older_copy", "head_is_corrupt"):
            case "head_is_corrupt":
                raise DataError("a frontier of 7 bytes")
            case "head_fails":
                raise OperationalError("no answer")
            case "head_of_an_older_copy":
                return Head()
        return self._store.head()

    def look(self, keys):
        return self.head(), self._store.find_requests(keys)


async def refused(awaitable, reason):
    with pytest.raises(Refused) as caught:
        await awaitable
    assert caught.value.reason is reason
    return caught.value
