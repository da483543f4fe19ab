"""A line between a process and its engine that is cut at chosen moments of a commit."""

from __future__ import annotations

from collections import deque
from enum import StrEnum

from eventsourcing.persistence import OperationalError


class Cut(StrEnum):
    """When the line is cut."""

    NOT = "not"
    BEFORE = "before"
    """The engine never hears of the commit."""
    DURING = "during"
    """The engine hears half of it."""
    AFTER = "after"
    """The engine has committed, and its answer is lost."""


class Line:
    """Which of the next commits are cut, and how many attempts to reach the engine then fail."""

    def __init__(self):
        self.moments: deque[Cut] = deque()
        self.away = 0
        self.cuts = 0

    def cut(self, *moments: Cut, away: int = 0) -> None:
        """Cut the next commits so, one each; after the first cut so many attempts fail."""
        self.moments.extend(moments)
        self._then_away = away

    _then_away = 0

    def next_commit(self) -> Cut:
        """Return what happens to a commit that is on its way now."""
        moment = self.moments.popleft() if self.moments else Cut.NOT
        if moment is not Cut.NOT:
            self.cuts += 1
            self.away, self._then_away = self._then_away, 0
        return moment

    def is_away(self) -> bool:
        """Return whether this attempt to reach the engine fails."""
        self.away -= self.away > 0
        return self.away > 0


class CutEngine:
    """An engine in the same process behind such a line."""

    def __init__(self, engine, line):
        self._engine = engine
        self._line = line

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def open(self, ledger):
        return CutStore(self._engine.open(ledger), self._line)


class CutStore:
    """A store of such an engine."""

    def __init__(self, store, line):
        self._store = store
        self._line = line

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _reach(self):
        if self._line.is_away():
            raise OperationalError("the engine does not answer")

    def head(self):
        self._reach()
        return self._store.head()

    def look(self, keys):
        self._reach()
        return self._store.look(keys)

    def find_requests(self, keys):
        self._reach()
        return self._store.find_requests(keys)

    def commit(self, records, commit):
        self._reach()
        moment = self._line.next_commit()
        if moment is Cut.AFTER:
            self._store.commit(records, commit)
        if moment is not Cut.NOT:
            raise OperationalError("the connection was lost")
        self._store.commit(records, commit)
