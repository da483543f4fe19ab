"""The names of a ledger's keys.

All keys of a ledger share one hash tag, its id in braces, so that they are in one slot: a script
may use all of them, and a Cluster spreads ledgers over its nodes.
"""

from __future__ import annotations

FORMAT = 1
"""The format of the keys, in every head; a program refuses those of a later one."""


class Keys:
    """The keys of one ledger below a prefix."""

    __slots__ = ("_start", "head", "log", "queue", "requests", "streams", "tracking")

    def __init__(self, prefix: str, ledger: str) -> None:
        self._start = f"{prefix}:{{{ledger}}}:"
        self.head = f"{self._start}head"
        """A hash: format, position, recorded_us, frontier, epoch; who is next, until when."""
        self.log = f"{self._start}log"
        """A stream: each record under its position, with its columns s, v, t and its bytes b."""
        self.requests = f"{self._start}requests"
        """A hash: caller and request id, to digest and positions."""
        self.streams = f"{self._start}streams"
        """A sorted set of all streams' names, which all have the same score."""
        self.queue = f"{self._start}queue"
        """A list of the writers that wait to be next; it is gone when nobody does."""
        self.tracking = f"{self._start}tracking"
        """A hash that only the library's followers have: how far each was processed."""

    def index(self, stream: str) -> str:
        """Return the key of a stream's index: the list of its records' positions, by version."""
        return f"{self._start}index:{stream}"

    def snapshot(self, name: str) -> str:
        """Return the key of a snapshot: a hash of its fields."""
        return f"{self._start}snapshot:{name}"

    @property
    def own(self) -> tuple[str, ...]:
        """Return the keys that a ledger has whatever it holds."""
        return (self.head, self.log, self.requests, self.streams)


class Directory:
    """The keys below a prefix that are no ledger's."""

    __slots__ = ("format", "ledgers")

    def __init__(self, prefix: str) -> None:
        self.format = f"{prefix}:format"
        """The format of everything below the prefix."""
        self.ledgers = f"{prefix}:ledgers"
        """The set of the ids of all ledgers that were ever opened."""
