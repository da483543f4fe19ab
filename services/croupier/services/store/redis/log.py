"""What is read of a log, whoever reads it."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from eventsourcing.persistence import (
    DataError,
    InterfaceError,
    Notification,
    NotSupportedError,
)

from croupier.services.store.redis import scripts
from croupier.services.store.redis.keys import FORMAT, Keys
from croupier.services.store.redis.packing import row_of
from croupier.services.store.redis.servers import Servers

PAGE = 1_000
"""How many records, names or requests are asked for at a time: a server does nothing else then."""

OriginatorIdType = Literal["uuid", "text"]


class Log:
    """The records under one ledger's keys, by position and by stream."""

    def __init__(
        self, servers: Servers, keys: Keys, originator_id_type: OriginatorIdType = "text"
    ) -> None:
        self._of = servers
        self._keys = keys
        self._by_uuid = originator_id_type == "uuid"
        self._closed = False

    @property
    def _servers(self) -> Servers:
        if self._closed:
            msg = "the store is closed"
            raise InterfaceError(msg)
        return self._of

    def create(self) -> None:
        """Make the keys, unless they are there.

        Raises:
            DataError: there are some, but not those of a ledger.
            NotSupportedError: a later program made them.

        """
        made = self._servers.run(scripts.MAKE, self._keys.own)
        if not made.isdigit():
            msg = f"{self._keys.head} is not there, other keys of that ledger are"
            raise DataError(msg)
        if int(made) != FORMAT:
            msg = (
                f"{self._keys.head} is of format {int(made)}, this program knows {FORMAT}: "
                "a later version of it wrote that"
            )
            raise NotSupportedError(msg)

    def _converted(self, stream: str) -> UUID | str:
        return UUID(stream) if self._by_uuid else stream

    def _read(self, first: int, last: int | None, limit: int) -> list[Notification]:
        """Return up to `limit` records from position `first` to `last`."""
        found: list[Notification] = []
        end = "+" if last is None else last
        while len(found) < limit:
            wanted = min(PAGE, limit - len(found))
            entries = self._servers.ask(
                self._keys.log, "XRANGE", self._keys.log, first, end, "COUNT", wanted
            )
            found += map(self._notification, entries)
            if len(entries) < wanted:
                break
            first = found[-1].id + 1
        return found

    def _notification(self, entry: Any) -> Notification:
        position, stream, version, topic, state = row_of(entry)
        return Notification(
            id=position,
            originator_id=self._converted(stream),
            originator_version=version,
            topic=topic,
            state=state,
        )

    def _stream_records(
        self, stream: str, after: int, to: int | None, limit: int, *, desc: bool = False
    ) -> list[Notification]:
        """Return records of a stream with versions above `after` up to `to`."""
        found: list[Notification] = []
        keys = (self._keys.index(stream), self._keys.log)
        while len(found) < limit:
            wanted = min(PAGE, limit - len(found))
            arguments = (after, "" if to is None else to, wanted, "desc" if desc else "")
            page = [
                self._notification(entry)
                for entry in self._servers.run(scripts.STREAM, keys, arguments)
            ]
            if any(record.originator_id != self._converted(stream) for record in page):
                msg = f"the index of {stream} names records of another stream"
                raise DataError(msg)
            if len(page) < wanted:
                return found + page[:: -1 if desc else 1]
            if desc:
                to = page[0].originator_version - 1
            else:
                after = page[-1].originator_version
            found += page[:: -1 if desc else 1]
        return found
