"""The ledger's state in layers: what is committed, and frozen changes on top of it.

A turn adds one layer, and each command in it another. What goes wrong drops a layer and nothing
else: a refusal drops the command's, a failed commit drops the turn's.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from croupier.domain.postings import Key, Posting, deltas
from croupier.domain.table import Table


class State(Protocol):
    """What can be asked of any layer."""

    def table(self, table_id: str) -> Table | None:
        """Return a table, None if there is none."""
        ...

    def balance(self, key: Key) -> int:
        """Return a balance, minor units; 0 for an account that never moved."""
        ...

    def version(self, stream: str) -> int:
        """Return the last version of a stream, 0 if there is none."""
        ...


class Layer:
    """Changes on top of another state, which it leaves as it is."""

    __slots__ = ("_below", "balances", "tables", "versions")

    def __init__(self, below: State) -> None:
        self._below = below
        self.tables: dict[str, Table] = {}
        self.balances: dict[Key, int] = {}
        self.versions: dict[str, int] = {}

    def table(self, table_id: str) -> Table | None:
        """Return a table as this layer sees it."""
        return self.tables.get(table_id) or self._below.table(table_id)

    def balance(self, key: Key) -> int:
        """Return a balance as this layer sees it."""
        found = self.balances.get(key)
        return self._below.balance(key) if found is None else found

    def version(self, stream: str) -> int:
        """Return a stream's version as this layer sees it."""
        found = self.versions.get(stream)
        return self._below.version(stream) if found is None else found

    def post(self, postings: tuple[Posting, ...]) -> None:
        """Apply postings to this layer."""
        for key, change in deltas(postings).items():
            self.balances[key] = self.balance(key) + change

    def merge(self, layer: Layer) -> None:
        """Take over the changes of the layer on top of this one."""
        self.tables.update(layer.tables)
        self.balances.update(layer.balances)
        self.versions.update(layer.versions)


class Keeper(Protocol):
    """Who is told which tables are in memory, so that he can take snapshots of them."""

    def kept(self, table: Table) -> None:
        """A table came into memory or moved on."""
        ...

    def let_go(self, table: Table) -> None:
        """A table left the memory."""
        ...


class Live:
    """Tables kept in memory, the most recently used ones; any other is loaded when needed."""

    def __init__(self, capacity: int, keeper: Keeper) -> None:
        self._capacity = capacity
        self._keeper = keeper
        self._tables: OrderedDict[str, Table] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tables)

    def get(self, table_id: str) -> Table | None:
        """Return a table that is in memory."""
        table = self._tables.get(table_id)
        if table is not None:
            self._tables.move_to_end(table_id)
        return table

    def put(self, table: Table) -> None:
        """Keep a table, and let go of the one that was not used for longest."""
        self._tables[table.id] = table
        self._tables.move_to_end(table.id)
        self._keeper.kept(table)
        if len(self._tables) > self._capacity:
            _, oldest = self._tables.popitem(last=False)
            self._keeper.let_go(oldest)
