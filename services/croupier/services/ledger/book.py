"""The book: all that a log says but its tables, folded from committed records, and its snapshot."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from eventsourcing.persistence import Notification

from croupier.domain import names
from croupier.domain.events import (
    LedgerCreated,
)
from croupier.domain.postings import Key, post
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.deciding import FORMAT_VERSION, LEDGER_STREAM, TABLES
from croupier.services.ledger.sealing import microseconds
from croupier.services.ledger.state import Layer
from croupier.services.store.mapper import UnknownEventError, payload_from_wire, posting_from_wire
from croupier.services.store.store import Commit
from croupier.v1 import events_pb2

BOOK_STAMP = "book 2"
"""The format of a book's snapshot. Books come from postings, so no change of rules touches them."""

SLICE = 1_000
"""Entries encoded at a time, between which others may run; about a millisecond's work."""


_NO_ROUND = (0, 0)


class LogError(Exception):
    """The log cannot be served: it is not what its head says, or not what this program can read."""


class NewerLogError(LogError):
    """A newer program wrote in the log what this one does not know."""


class LostError(LogError):
    """The log does not lead through what was seen of it before: it lost something.

    `ended` is where it ended when that was noticed, if that was before what was seen, else None.
    """

    def __init__(self, message: str, ended: int | None = None) -> None:
        super().__init__(message)
        self.ended = ended


def read(record: Notification) -> events_pb2.Event:
    """Return the event of a record, whose columns must say the same as its bytes.

    Raises:
        LogError: they differ, or the bytes are no event that this program knows.

    """
    try:
        event = events_pb2.Event.FromString(record.state)
    except Exception as error:
        msg = f"position {record.id} does not hold an event"
        raise LogError(msg) from error
    said = (event.position, event.stream, event.version, event.type)
    columns = (record.id, record.originator_id, record.originator_version, record.topic)
    if said != columns:
        msg = f"position {record.id}: the columns say {columns}, the record says {said}"
        raise LogError(msg)
    if not kind_known(event):
        msg = f"position {event.position} holds {event.type!r}, which this program does not know"
        raise NewerLogError(msg)
    return event


def kind_known(event: events_pb2.Event) -> bool:
    """Return whether this program knows what happened."""
    return event.WhichOneof("payload") is not None


class Book:
    """Balances, versions of streams, open rounds and the count of requests.

    It grows with accounts and with tables in the middle of a round only. `versions` has no tables:
    they know their own. `rounds` says by table which round is open, and since when: microseconds
    since 1970.
    """

    __slots__ = (
        "balances",
        "format_version",
        "frontier",
        "last_request",
        "requests",
        "rounds",
        "versions",
    )

    def __init__(self) -> None:
        self.frontier = Frontier()
        self.balances: dict[Key, int] = {}
        self.versions: dict[str, int] = {}
        self.rounds: dict[str, tuple[int, int]] = {}
        self.requests = 0
        self.last_request: tuple[str, str] | None = None
        self.format_version = 0

    @property
    def position(self) -> int:
        """Return the position of the last record folded."""
        return self.frontier.size

    @property
    def entries(self) -> int:
        """Return how many entries a snapshot has."""
        return len(self.balances) + len(self.versions) + len(self.rounds)

    def copy(self) -> Book:
        """Return a book that goes its own way from here."""
        book = Book()
        for name in self.__slots__:
            setattr(book, name, getattr(self, name))
        for name in ("balances", "versions", "rounds"):
            setattr(book, name, getattr(self, name).copy())
        return book

    def advance(self, layer: Layer, commit: Commit) -> None:
        """Take over what a commit of this process has recorded."""
        self.balances.update(layer.balances)
        self.versions.update(layer.versions)
        for table in layer.tables.values():
            if not table.in_round:
                self.rounds.pop(table.id, None)
            elif self.rounds.get(table.id, _NO_ROUND)[0] != table.round:
                # All events of a commit were recorded at the same time.
                self.rounds[table.id] = (table.round, commit.head.recorded_us)
        self.requests += len(commit.requests)
        if commit.requests:
            self.last_request = commit.requests[-1].key
        if not self.format_version and LEDGER_STREAM in layer.versions:
            self.format_version = FORMAT_VERSION
        self.frontier = commit.head.frontier

    def fold(self, record: Notification, event: events_pb2.Event) -> None:
        """Fold the next record of the log, whose event it has been read as.

        Raises:
            LogError: it is not the next one, or not what this program can read.

        """
        if event.position != self.frontier.size + 1:
            msg = f"position {self.frontier.size + 1} is missing"
            raise LogError(msg)
        self.frontier = self.frontier.append(leaf_hash(record.state))
        request = (event.caller, event.request_id)
        if request != self.last_request:  # a request's events follow one another
            self.last_request = request
            self.requests += 1
        try:
            post(self.balances, map(posting_from_wire, event.postings))
            if event.stream.startswith(TABLES):
                self._fold_round(event)
            else:
                self.versions[event.stream] = event.version
                if event.stream == LEDGER_STREAM:
                    self._fold_ledger(event)
        except (UnknownEventError, ValueError) as error:
            raise LogError(str(error)) from error

    def _fold_round(self, event: events_pb2.Event) -> None:
        table = event.stream.removeprefix(TABLES)
        match event.WhichOneof("payload"):
            case "round_started":
                since_us = microseconds(event.recorded_time)
                self.rounds[table] = (event.round_started.round, since_us)
            case "round_settled" | "round_voided":
                self.rounds.pop(table, None)
            case _:
                pass

    def _fold_ledger(self, event: events_pb2.Event) -> None:
        created = payload_from_wire(event)
        if isinstance(created, LedgerCreated):
            self.format_version = created.format_version
            if created.format_version > FORMAT_VERSION:
                newer = created.format_version
                msg = f"format {newer} is newer than this program's, which is {FORMAT_VERSION}"
                raise NewerLogError(msg)

    def is_sound(self) -> bool:
        """Return whether this can be the book of any log that this program reads."""
        sums: dict[str, int] = {}
        for (account, currency), balance in self.balances.items():
            if balance < 0 and account != names.EXTERNAL:
                return False
            sums[currency] = sums.get(currency, 0) + balance
        return not any(sums.values()) and 0 < self.format_version <= FORMAT_VERSION


# --- as bytes -------------------------------------------------------------------------------------


def _line(values: Any) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def _slices(entries: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(entries)
    while some := list(islice(rest, SLICE)):
        yield some


async def encode(book: Book) -> bytes:
    """Return a book as bytes. It takes as many small steps as needed and must not change."""
    # A fast compression, since the commit that takes the bytes along does so in one step.
    packer = zlib.compressobj(level=1)
    packed = []
    for line in _lines(book):
        packed.append(packer.compress(line))
        await asyncio.sleep(0)
    return b"".join([*packed, packer.flush()])


def _lines(book: Book) -> Iterator[bytes]:
    yield _line(
        {
            "position": book.position,
            "frontier": book.frontier.to_bytes().hex(),
            "balances": len(book.balances),
            "versions": len(book.versions),
            "rounds": len(book.rounds),
            "requests": book.requests,
            "last_request": book.last_request,
            "format_version": book.format_version,
        }
    )
    for some in _slices(book.balances.items()):
        yield _line([(*key, balance) for key, balance in some])
    for some in _slices(book.versions.items()):
        yield _line(some)
    for some in _slices(book.rounds.items()):
        yield _line([(table, *opened) for table, opened in some])


def decode(state: bytes) -> Book:
    """Return the book of such bytes.

    Raises:
        Exception: they are not those of a book; which one depends on what they are.

    """
    first, *lines = zlib.decompress(state).splitlines()
    head = json.loads(first)
    book = Book()
    book.frontier = Frontier.from_bytes(head["position"], bytes.fromhex(head["frontier"]))
    book.requests = int(head["requests"])
    caller, request_id = head["last_request"]
    book.last_request = (str(caller), str(request_id))
    book.format_version = int(head["format_version"])
    rest = iter(lines)

    def entries(what: str) -> Iterator[Any]:
        for line in islice(rest, -(-head[what] // SLICE)):
            yield from json.loads(line)

    for account, currency, balance in entries("balances"):
        book.balances[str(account), str(currency)] = int(balance)
    for stream, version in entries("versions"):
        book.versions[str(stream)] = int(version)
    for table, number, since_us in entries("rounds"):
        book.rounds[str(table)] = (int(number), int(since_us))
    said = (head["balances"], head["versions"], head["rounds"])
    found = (len(book.balances), len(book.versions), len(book.rounds))
    if said != found or next(rest, None) is not None:
        msg = f"{said} entries were written, {found} are here"
        raise ValueError(msg)
    return book


def differences(one: Book, other: Book) -> Iterator[str]:
    """Yield what differs between two books of one position; between entries others may run.

    An empty text is no difference, only a good place to pause.
    """
    if one.frontier != other.frontier:
        yield f"the tree over events 1 to {one.position} is another: an event was changed"
    for name in ("requests", "last_request", "format_version"):
        if getattr(one, name) != getattr(other, name):
            yield f"{name} is {getattr(one, name)!r}, not {getattr(other, name)!r}"
    yield from _entries_differ("balance", one.balances, other.balances)
    yield from _entries_differ("version", one.versions, other.versions)
    yield from _entries_differ("open round", one.rounds, other.rounds)


def _entries_differ(what: str, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> Iterator[str]:
    if len(one) != len(other):
        yield f"there are {len(one)} entries of {what}, not {len(other)}"
    for some in _slices(one.items()):
        yield ""
        for key, value in some:
            if other.get(key) != value:
                yield f"{what} of {key} is {value}, not {other.get(key)}"
