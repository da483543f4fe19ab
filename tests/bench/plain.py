"""The plain way: an aggregate, and one `Application.save` for each command, with the library alone.

In process, without gRPC, request ids, money or proofs: what it leaves out is to its advantage.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import UUID, uuid5

from eventsourcing import sqlite as library
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import Measured

SETTINGS = "its SQLite module, WAL, synchronous=FULL, cache of aggregates on, in process"
NAMES = UUID(int=0)


class Table(Aggregate):
    """A table that knows who throws, and remembers the last throw."""

    @event("Opened")
    def __init__(self, number: int, banker: str) -> None:
        self.number = number
        self.banker = banker
        self.last: tuple[int, ...] = ()

    @staticmethod
    def create_id(number: int, banker: str) -> UUID:
        del banker
        return uuid5(NAMES, str(number))

    def roll(self, player: str, dice: tuple[int, ...]) -> None:
        """Check a throw as far as any program would, and record it."""
        if player != self.banker or len(dice) != 3 or not all(1 <= one <= 6 for one in dice):
            raise ValueError(f"{player} cannot throw {dice}")
        self.rolled(player, dice)

    @event("Rolled")
    def rolled(self, player: str, dice: tuple[int, ...]) -> None:
        del player
        self.last = dice


class _Pool(library.SQLiteConnectionPool):
    """The library leaves the level to SQLite's build; ours is set, so this one is too."""

    def _create_connection(self) -> library.SQLiteConnection:
        connection = super()._create_connection()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=FULL")
        return connection


class Factory(library.SQLiteFactory):
    """The library's factory, with connections as durable as the service's."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.datastore.pool.close()
        self.datastore.pool = _Pool(db_name=self.datastore.pool.db_name)


class Plain:
    """As many tables as the service has, each an aggregate of one application."""

    def __init__(self, folder: Path) -> None:
        self._app: Application = Application(
            env={
                "PERSISTENCE_MODULE": "tests.bench.plain",
                "SQLITE_DBNAME": str(folder / "plain.db"),
                "AGGREGATE_CACHE_MAXSIZE": str(2 * IN_FLIGHT),
            }
        )
        tables = [Table(number, "anna") for number in range(IN_FLIGHT)]
        self._app.save(*tables)
        self._ids = [table.id for table in tables]

    def throws(self, seconds: float) -> Measured:
        """Return what commands one after the other come to."""
        latencies: list[float] = []
        started = perf_counter()
        while (before := perf_counter()) - started < seconds:
            table = self._app.repository.get(self._ids[len(latencies) % IN_FLIGHT])
            table.roll("anna", (1, 2, 4))
            self._app.save(table)
            latencies.append(perf_counter() - before)
        return Measured(len(latencies) / (perf_counter() - started), latencies)

    def close(self) -> None:
        self._app.close()
