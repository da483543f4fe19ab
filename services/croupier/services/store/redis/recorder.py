"""The library's recorder over one ledger's keys, and its `Store`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import structlog
from eventsourcing.persistence import (
    ApplicationRecorder,
    DataError,
    IntegrityError,
    InterfaceError,
    Notification,
    PersistenceError,
    StoredEvent,
    Subscription,
)

from croupier.services.audit.tree import Frontier
from croupier.services.store.redis import scripts
from croupier.services.store.redis.committing import commit_arguments
from croupier.services.store.redis.errors import UnansweredError
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.levels import asked, least
from croupier.services.store.redis.library import StreamRecorder
from croupier.services.store.redis.log import PAGE, OriginatorIdType
from croupier.services.store.redis.packing import (
    SNAPSHOT_FIELDS,
    last_of,
    request_entry,
    request_field,
    snapshot_of,
)
from croupier.services.store.redis.scripts import Script
from croupier.services.store.redis.servers import Line, Servers
from croupier.services.store.redis.turns import Turns
from croupier.services.store.redis.waiting import wait_for
from croupier.services.store.store import (
    AssumptionError,
    Commit,
    Head,
    HeadMovedError,
    RequestEntry,
    RequestKey,
    Snapshot,
)

logger = structlog.get_logger()

ALONE = 16
"""After so many commits among which it noticed no other writer, a writer does not look for one."""

RECORD_S = 0.000_1
"""How much longer a server may take for each record of a commit: many times what it needs."""


class Recorder(StreamRecorder, ApplicationRecorder):
    """The library's recorder of applications, and the `Store` of one ledger.

    The library's own methods work as documented: `insert_events(events)` allots positions. With
    `commit=` the events are records that hold their positions, and the head is compared and moved
    in the same step. A log with a head takes no more events without one.
    """

    def __init__(
        self, servers: Servers, keys: Keys, originator_id_type: OriginatorIdType = "text"
    ) -> None:
        super().__init__(servers, keys, originator_id_type)
        self._turns = Turns(keys)
        self._epoch: bytes | None = None
        self._unsettled = False
        self._seen: tuple[bytes, ...] = ()
        self._left: Head | None = None
        """The head as it was when this writer last saw it."""
        self._alone = 0
        """How many commits it has made since it noticed another writer."""
        self.asked = asked(servers.address)
        self._confirms = self.asked != least(servers.address)
        self._line: Line | None = None
        """On which commits were made that nobody has confirmed."""
        self._covers = True
        """Whether all that is to be confirmed was committed on it."""

    # --- the library's interface ---------------------------------------------------------------

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Record events, with the commit of which they are part if there is one."""
        commit: Commit | None = kwargs.get("commit")
        if commit is None:
            return self._append(stored_events, kwargs.get("tracking"))
        records = [one for one in stored_events if isinstance(one, Notification)]
        self.commit(records, commit)
        return [record.id for record in records]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return records in order of position, as the library describes."""
        first = max(1, (start or 0) + (start is not None and not inclusive_of_start))
        found: list[Notification] = []
        while len(found) < limit:
            wanted = PAGE if topics else limit - len(found)
            page = self._read(first, stop, wanted)
            found += [one for one in page if not topics or one.topic in topics]
            if len(page) < wanted:
                break
            first = page[-1].id + 1
        return found[:limit]

    def max_notification_id(self) -> int | None:
        """Return the last position, None in an empty log."""
        *_, last, _, _ = self._servers.run(scripts.HEAD, (self._keys.head, self._keys.log))
        return int(last.partition(b"-")[0]) or None

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Raise: as with SQLite, who follows a log asks for it again and again."""
        msg = f"{type(self).__qualname__} has no subscriptions: ask for notifications"
        raise NotImplementedError(msg)

    # --- the ledger's interface: the head --------------------------------------------------------

    def head(self) -> Head:
        """Return the committed head; one that makes no sense is a `DataError`.

        After a commit of which nobody knows what became of it, this settles it: either the head
        returned is that commit's, or the commit will never be recorded.
        """
        return self._look(())[0]

    def look(self, keys: Iterable[RequestKey]) -> tuple[Head, dict[RequestKey, RequestEntry]]:
        """Return the head and those of the requests that were accepted; see `Store.look`."""
        return self._look(list(keys))

    def _look(self, wanted: Sequence[RequestKey]) -> tuple[Head, dict[RequestKey, RequestEntry]]:
        if self._unsettled:
            # It may still be on its way. In another epoch it comes too late.
            self._servers.run(scripts.SETTLE, (self._keys.head,))
            self._unsettled = False
        form, position, recorded_us, frontier, epoch, last, length, found = self._servers.run(
            scripts.HEAD,
            (self._keys.head, self._keys.log, self._keys.requests),
            tuple(map(request_field, wanted)),
        )
        if form is None or epoch is None:
            msg = "the ledger's keys were removed or others were put in their place"
            raise DataError(msg)
        try:
            at = int(position)
            head = Head(Frontier.from_bytes(at, frontier), int(recorded_us))
        except (ValueError, TypeError) as error:
            msg = f"the stored head is none: {error}"
            raise DataError(msg) from error
        if last != b"%d-0" % at or length != at:
            msg = f"the head is at position {at}, the log ends at {last.decode()}, with {length}"
            raise DataError(msg)
        self._seen, self._epoch = (position, recorded_us, frontier), epoch
        if head != self._left:
            self._left, self._alone = head, 0
        return head, _entries(wanted, found)

    def assumed_head(self) -> Head | None:
        """Return the head that this writer left, unless somebody else may have moved it."""
        return None if self._alone < ALONE or self._unsettled else self._left

    def changed(self) -> bool:
        """Return whether somebody else has committed since the last `head` or commit."""
        key = self._keys.head
        at = self._servers.ask(key, "HMGET", key, "position", "recorded_us", "frontier")
        return tuple(at) != self._seen

    def commit(self, records: Sequence[Notification], commit: Commit) -> None:
        """Record all or nothing; see `Store.commit`."""
        assumed = commit.assumed_new is not None
        if self._epoch is None or self._unsettled:
            self.head()
        assert self._epoch is not None
        keys, arguments = commit_arguments(self._keys, records, commit, self._epoch, self._turns)
        try:
            answer = self._answer(scripts.COMMIT, keys, arguments, len(records))
        except UnansweredError:
            self._unsettled = True
            raise
        match answer:
            case [b"OK"]:
                self._turns.recorded()
                self._left, self._alone = commit.head, self._alone + 1
                at, us = (b"%d" % one for one in (commit.head.position, commit.head.recorded_us))
                self._seen = (at, us, commit.head.frontier.to_bytes())
            case [b"MOVED" | b"KNOWN", *_] if assumed:
                self._alone = 0
                raise AssumptionError("somebody else has committed, or the request is known")
            case [b"MOVED", *_]:
                self._turns.lost()
                msg = f"the head is not at {commit.expected.position} any more"
                raise HeadMovedError(msg)
            case [b"NEXT"]:
                self._alone = 0
                self._turns.lost()
                raise HeadMovedError("another writer is next")
            case [b"EXISTS" | b"KNOWN", what]:
                raise IntegrityError(what.decode())
            case [b"DENIED", what]:
                raise InterfaceError(f"the user may not {what.decode()}")
            case [b"BROKEN", what]:
                raise DataError(what.decode())
            case _:
                msg = "the ledger's keys were removed or others were put in their place"
                raise DataError(msg)

    def _answer(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Any], records: int
    ) -> Any:
        """Run a script; where commits are confirmed, keep the line on which that is asked for."""
        timeout_s = self._of.address.timeout_s + records * RECORD_S
        before, self._line = self._line, None
        answer, line = self._servers.run_and_hold(script, keys, arguments, before, timeout_s)
        if not self._confirms:
            line.release()
            return answer
        self._line = line
        if before is not None and self._line is not before:
            # On this one nobody can ask for what was committed on the other.
            self._covers = False
        return answer

    # --- the ledger's interface: reading ---------------------------------------------------------

    def records(self, after: int, limit: int) -> Sequence[Notification]:
        """Return records in order of position, from the one after `after`."""
        return self._read(after + 1, None, limit)

    def stream(self, stream: str, after: int, limit: int) -> Sequence[Notification]:
        """Return a stream's records in order of version, from the one after `after`."""
        found = self._stream_records(stream, after, None, limit)
        if not found and not after and self._is_known(stream):
            msg = f"the index of {stream} was removed"
            raise DataError(msg)
        return found

    def _is_known(self, stream: str) -> bool:
        key, name = self._keys.streams, f"[{stream}"
        return bool(self._servers.ask(key, "ZRANGE", key, name, name, "BYLEX"))

    def check_streams(self, position: int) -> None:
        """Compare how many records the indexes of all streams name; see `Store.check_streams`."""
        while True:
            count, after = 0, ""
            while page := self.streams("", after, PAGE):
                count += self._servers.run(scripts.INDEXED, tuple(map(self._keys.index, page)))
                after = page[-1]
            at = int(self._servers.ask(self._keys.head, "HGET", self._keys.head, "position") or -1)
            if count == at:
                return
            if at == position:
                msg = f"the log has {at} records, the indexes of its streams name {count}"
                raise DataError(msg)
            position = at  # somebody committed meanwhile

    def stream_version(self, stream: str) -> int:
        """Return the last version of a stream, 0 if there is none."""
        last = self._stream_records(stream, -1, None, 1, desc=True)
        return last[0].originator_version if last else 0

    def streams(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        """Return the streams that begin with `prefix`, in order, from the one after `after`."""
        first = f"({after}" if after >= prefix and after else f"[{prefix}" if prefix else "-"
        # No text in UTF-8 has this byte.
        last = b"(" + prefix.encode() + b"\xff" if prefix else b"+"
        found: list[str] = []
        while len(found) < limit:
            wanted = min(PAGE, limit - len(found))
            key = self._keys.streams
            page = self._servers.ask(key, "ZRANGE", key, first, last, "BYLEX", "LIMIT", 0, wanted)
            found += (name.decode() for name in page)
            if len(page) < wanted:
                break
            first = f"({found[-1]}"
        return found

    def find_requests(self, keys: Iterable[RequestKey]) -> dict[RequestKey, RequestEntry]:
        """Return those of the requests that were accepted."""
        wanted = list(keys)
        found: dict[RequestKey, RequestEntry] = {}
        for cut in range(0, len(wanted), PAGE):
            some = wanted[cut : cut + PAGE]
            key = self._keys.requests
            values = self._servers.ask(key, "HMGET", key, *map(request_field, some))
            found |= _entries(some, values)
        return found

    def count_requests(self, last: int) -> int:
        """Return how many accepted requests have all their events up to position `last`."""
        key = self._keys.requests
        head = self._keys.head
        before = self._servers.ask(head, "HGET", head, "position")
        count = int(self._servers.ask(key, "HLEN", key))
        if before == b"%d" % last == self._servers.ask(head, "HGET", head, "position"):
            return count
        # Some of them are of later events. A scan may return a request twice.
        fields: set[bytes] = set()
        cursor: bytes | int | None = None
        while cursor != b"0":
            cursor, page = self._servers.ask(key, "HSCAN", key, cursor or 0, "COUNT", PAGE)
            fields.update(
                field
                for field, value in zip(page[::2], page[1::2], strict=True)
                if last_of(value) <= last
            )
        return len(fields)

    def snapshot(self, name: str) -> Snapshot | None:
        """Return the snapshot of this name; see `Store.snapshot`."""
        key = self._keys.snapshot(name)
        return snapshot_of(name, self._servers.ask(key, "HMGET", key, *SNAPSHOT_FIELDS))

    # --- the ledger's interface: how safe commits are ------------------------------------------

    @property
    def durability(self) -> str:
        """Return how safe a commit is when the server has answered; see `Store.durability`."""
        return self._of.level(self._keys.head)

    def mark(self, head: Head) -> bool:
        """Make all up to `head` part of what `confirm` confirms; see `Store.mark`."""
        if self._closed or not self._confirms:
            return False
        # WAIT and WAITAOF wait for what was written on their own connection: so something must be.
        before, arguments = self._line, (head.position, head.frontier.to_bytes())
        try:
            if self._answer(scripts.MARK, (self._keys.head,), arguments, 0):
                self._covers = True
                return True
        except PersistenceError as error:
            logger.warning("earlier commits not confirmed", error=str(error))
            return False
        if before is None and self._line is not None:
            self._line.release()  # nothing was written on it
            self._line = None
        return False

    def confirm(self) -> Callable[[], str] | None:
        """Return what waits for replicas, or for the disk; see `Store.confirm`."""
        line, self._line, covers = self._line, None, self._covers
        self._covers = True
        if line is None:
            return None
        return partial(wait_for, line, self._servers.address, covers=covers)

    # --- the ledger's interface: taking turns ----------------------------------------------------

    def try_lock(self) -> bool:
        """Begin a turn; return whether it is this writer's.

        Who has no rivals asks nobody. After a commit in vain he asks to be next, and for a number
        of turns more.
        """
        return self._turns.begin(self._servers)

    def lock(self) -> None:
        """Wait until it is this writer's turn, in the order in which writers asked."""
        self._turns.wait(lambda: self._servers)

    def unlock(self) -> None:
        """End a turn; whoever waits longest is next."""
        if not self._closed:
            self._turns.end(self._servers)

    def close(self) -> None:
        """Let go of what is held; the connections are the engine's."""
        self._closed = True
        if self._line is not None:
            self._line.release()
            self._line = None


def _entries(
    wanted: Sequence[RequestKey], values: Sequence[bytes | None]
) -> dict[RequestKey, RequestEntry]:
    """Return the requests of which there is a value."""
    there = zip(wanted, values, strict=True)
    return {one: request_entry(one, value) for one, value in there if value is not None}
