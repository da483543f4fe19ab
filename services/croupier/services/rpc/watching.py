"""What watchers are sent: pages of the log, read and encoded once for all who want the same.

Where something of a page is hidden from somebody, what is encoded is kept for those with the same
eyes, and only until the log goes on: then a hand may be over, and who comes next may see more.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.games.protocol import Eyes
from croupier.services.ledger.ledger import Ledger
from croupier.services.rpc.eyes import events
from croupier.v1 import events_pb2
from croupier.v1.audit_pb2 import WatchEventsResponse

PAGE = 256
"""Events of one page; pages begin after the multiples of it."""

PAGES = 16
"""Pages kept in memory for a ledger."""

NEAR = PAGE * PAGES // 2
"""Who is no further behind than this many events reads pages that others read too."""

ENCODED = 64
"""Answers kept with a page, for whoever comes next with the same wish."""

KINDS = frozenset(one.name for one in events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a watcher wants: of one stream, "" for all; of some kinds, none for all.

    `eyes` are his, which see less of some events than others' do.
    """

    stream: str
    kinds: frozenset[str]
    eyes: Eyes

    @classmethod
    def of(cls, stream: str, kinds: list[str], eyes: Eyes) -> Wanted:
        """Return what is wanted, or refuse a kind that there is not."""
        for kind in kinds:
            if kind not in KINDS:
                raise Refused(
                    Reason.UNKNOWN_KIND,
                    f"no event is of the kind {shown(kind)}",
                    field="kinds",
                    kind=kind[:64],
                )
        return cls(stream, frozenset(kinds), eyes)

    def __contains__(self, event: events_pb2.Event) -> bool:
        """Return whether an event is wanted."""
        if self.stream and event.stream != self.stream:
            return False
        return not self.kinds or event.WhichOneof("payload") in self.kinds


@dataclass(slots=True)
class Page:
    """Events in order, from the one after position `start`."""

    ledger: Ledger
    start: int
    events: list[events_pb2.Event] = field(default_factory=list)
    _encoded: dict[tuple[Any, ...], bytes] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """Return the position of the last event."""
        return self.start + len(self.events)

    def extend(self, events: list[events_pb2.Event]) -> None:
        """Add what was recorded since."""
        self.events += events
        self._encoded.clear()

    def after(self, position: int, wanted: Wanted, head: int) -> bytes:
        """Return the events after a position that are wanted, encoded; empty if there are none.

        They are as the watcher may see them when the log has come to `head` or further.
        """
        for_all = (position, wanted.stream, wanted.kinds)
        for_now = (position, wanted, head)
        encoded = self._encoded.get(for_all)
        if encoded is None:
            encoded = self._encoded.get(for_now)
        if encoded is None:
            some = [event for event in self.events[position - self.start :] if event in wanted]
            seen = events(self.ledger, some, wanted.eyes)
            encoded = WatchEventsResponse(events=seen).SerializeToString()
            if len(self._encoded) >= ENCODED:
                self._encoded.clear()
            hidden = any(event.concealed for event in seen)
            self._encoded[for_now if hidden else for_all] = encoded
        return encoded


class Pages:
    """The pages of one ledger's log that somebody wanted lately."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pages: OrderedDict[int, Page] = OrderedDict()

    def get(self, position: int, head: int) -> Page:
        """Return the page with the events after a position, as far as the head."""
        start = position // PAGE * PAGE
        page = self._pages.get(start)
        if page is None:
            page = self._pages[start] = Page(self._ledger, start)
            if len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(start)
        most = min(head, start + PAGE)
        if page.last < most:
            page.extend(self._ledger.events(page.last, most - page.last))
        return page


def message(encoded: bytes, next_position: int, head: int) -> bytes:
    """Return a response: messages that are encoded one after the other are one message."""
    rest = WatchEventsResponse(next_position=next_position, head_position=head)
    return encoded + rest.SerializeToString()
