"""What the ledger asks of an engine: a head that moves by compare-and-swap, and records.

An engine is a recorder of the eventsourcing library with this much more. Records are the
library's notifications, since those already hold their position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol, runtime_checkable

from eventsourcing.persistence import IntegrityError, Notification, PersistenceError

from croupier.services.audit.tree import Frontier

RequestKey = tuple[str, str]
"""The caller and the request id that he minted."""


class HeadMovedError(IntegrityError):
    """The head is not where the commit expected it: somebody else committed first."""


class AssumptionError(HeadMovedError):
    """What a turn was decided on without a look is not so: look, and decide it again at once."""


class NewerLayoutError(PersistenceError):
    """A newer program made the store; this one would not understand it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a log: its tree (whose size is the last position) and its last recorded time."""

    frontier: Frontier = field(default_factory=Frontier)
    recorded_us: int = 0

    @property
    def position(self) -> int:
        """Return the position of the last event, 0 in an empty log."""
        return self.frontier.size


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """An accepted request: its body's digest and the positions of the events it caused."""

    caller: str
    request_id: str
    digest: bytes
    first: int
    last: int

    @property
    def key(self) -> RequestKey:
        """Return what makes a request id unique: it and its caller."""
        return (self.caller, self.request_id)


class SnapshotError(Exception):
    """A stored snapshot is not what was saved: whoever asked does as if there were none."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was folded from the log up to `position`: a cache, and never the only place of anything.

    `stamp` says what wrote `state`; who does not write the same stamp does not read the state.
    """

    name: str
    position: int
    stamp: str
    state: bytes

    def digest(self) -> bytes:
        """Return the SHA-256 over all fields, which is kept beside them."""
        digest = sha256()
        for part in (self.name.encode(), b"%d" % self.position, self.stamp.encode(), self.state):
            digest.update(b"%d:" % len(part))
            digest.update(part)
        return digest.digest()

    @classmethod
    def checked(
        cls, name: object, position: object, stamp: object, state: object, digest: object
    ) -> Snapshot:
        """Return the snapshot of stored fields.

        Raises:
            SnapshotError: they are of other types than they should be, or their digest is another.

        """
        if not (
            isinstance(name, str)
            and isinstance(position, int)
            and isinstance(stamp, str)
            and isinstance(state, bytes)
        ):
            raise SnapshotError("a field of the snapshot is of another type")
        snapshot = cls(name, position, stamp, state)
        if snapshot.digest() != digest:
            raise SnapshotError(f"the snapshot {name} was changed after it was saved")
        return snapshot


@dataclass(frozen=True, slots=True)
class Commit:
    """What a transaction records beside its events, and the head on which it was decided.

    Snapshots replace those of the same names. A commit may have no events: it leaves the head
    where it is. `assumed_new` are request ids that were taken for new on an assumed head, those of
    `requests` and of what was refused; None where they were looked for.
    """

    expected: Head
    head: Head
    requests: Sequence[RequestEntry] = ()
    snapshots: Sequence[Snapshot] = ()
    assumed_new: frozenset[RequestKey] | None = None


class Store(Protocol):
    """One ledger's log in some engine. Raises the library's persistence errors."""

    @property
    def durability(self) -> str:
        """Return how safe a commit is when `commit` returns, in a word that receipts carry."""
        ...

    @property
    def asked(self) -> str:
        """Return how safe a commit is when what `confirm` returns has done all that it should."""
        ...

    def head(self) -> Head:
        """Return the committed head."""
        ...

    def look(self, keys: Iterable[RequestKey]) -> tuple[Head, dict[RequestKey, RequestEntry]]:
        """Return what `head` and `find_requests` do, as of one moment or while nobody commits."""
        ...

    def assumed_head(self) -> Head | None:
        """Return where the head is unless somebody else committed; None where one has to look.

        An engine over a network spares a turn the look as long as nobody else seems to write. What
        is decided on it counts only once `commit` has compared it, and the ids in `assumed_new`.
        """
        ...

    def changed(self) -> bool:
        """Return whether anybody else may have committed since the last `head`; cheap."""
        ...

    def commit(self, records: Sequence[Notification], commit: Commit) -> None:
        """Record all or nothing.

        Raises:
            HeadMovedError: nothing was recorded, since the head is not the expected one.
            AssumptionError: nor was it, since something is not as it was assumed.
            PersistenceError: the engine failed; whether it committed has to be looked up.

        """
        ...

    def records(self, after: int, limit: int) -> Sequence[Notification]:
        """Return records in order of position, from the one after `after`."""
        ...

    def stream(self, stream: str, after: int, limit: int) -> Sequence[Notification]:
        """Return a stream's records in order of version, from the one after `after`."""
        ...

    def check_streams(self, position: int) -> None:
        """Check that the streams have all records of the log, which was seen to end at `position`.

        Raises:
            DataError: a record is in no stream. Whoever reads its stream would miss it.

        """
        ...

    def stream_version(self, stream: str) -> int:
        """Return the last version of a stream, 0 if there is none."""
        ...

    def streams(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        """Return the streams that begin with `prefix`, in order, from the one after `after`."""
        ...

    def find_requests(self, keys: Iterable[RequestKey]) -> dict[RequestKey, RequestEntry]:
        """Return those of the requests that were accepted."""
        ...

    def count_requests(self, last: int) -> int:
        """Return how many accepted requests have all their events up to position `last`."""
        ...

    def snapshot(self, name: str) -> Snapshot | None:
        """Return the snapshot that was saved last under this name, None if there is none.

        Raises:
            SnapshotError: there is something else in its place.

        """
        ...

    def confirm(self) -> Callable[[], str] | None:
        """Return what makes sure that all commits so far are as safe as was asked for.

        It blocks, for a limited time, and is to be called in a thread; it returns how safe they
        are, and never fails. None means that they are that safe already.
        """
        ...

    def mark(self, head: Head, /) -> bool:
        """Have `confirm` make sure of all commits up to `head`, whoever made them and when.

        It changes nothing. False where commits are safe at once, where the log does not end at
        `head` (any more), or where the engine does not answer.
        """
        ...

    def try_lock(self) -> bool:
        """Take the ledger's lock if nobody has it or waits for it."""
        ...

    def lock(self) -> None:
        """Take the ledger's lock, waiting for it in turn."""
        ...

    def unlock(self) -> None:
        """Give the ledger's lock back."""
        ...

    def close(self) -> None:
        """Let go of all that the engine holds."""
        ...


@runtime_checkable
class Changeable(Protocol):
    """An engine on servers, whose settings somebody may change while ledgers are on them."""

    @property
    def as_required(self) -> bool:
        """Return whether the servers were as they have to be when they were last looked at."""
        ...

    def look_again(self) -> None:
        """Look at the servers. It may take long, and is for a thread; it raises nothing."""
        ...


class Engine(Protocol):
    """Where ledgers are kept."""

    @property
    def name(self) -> str:
        """Return which kind of engine it is."""
        ...

    @property
    def where(self) -> str:
        """Return where the ledgers are, for a person; nothing secret is in it."""
        ...

    @property
    def durability(self) -> str:
        """Return what an acknowledgement means, in a word that receipts carry."""
        ...

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers that may exist here, sorted."""
        ...

    def exists(self, ledger: str) -> bool:
        """Return whether anything is kept under this id."""
        ...

    def open(self, ledger: str) -> Store:
        """Return the store of a ledger, made if it does not exist."""
        ...

    def close(self) -> None:
        """Let go of all that the engine holds; stores are closed before."""
        ...
