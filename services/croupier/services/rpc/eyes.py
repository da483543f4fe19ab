"""Who sees what: events and receipts as a caller may see them now. The log keeps everything.

Only games that have secrets are asked, and only of facts that can hold one: of all other events
nothing is read, and they go out as they are stored. What once may be seen may be seen for ever, so
whoever is shown an event is asked about with the table as it is at that moment or later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from croupier.domain.event import NAMES
from croupier.domain.games import SECRETS
from croupier.domain.games.protocol import NOBODYS, Eyes, Secretive, secretive
from croupier.services.ledger.deciding import TABLES
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.turn import Receipt
from croupier.services.store.mapper import payload_from_wire, payload_to_wire
from croupier.v1 import events_pb2

SECRET = frozenset(NAMES[kind] for kind in SECRETS)
"""The permanent names of the kinds of events that can hold something to conceal."""


def receipt(ledger: Ledger, given: Receipt, eyes: Eyes) -> Receipt:
    """Return a receipt with its events as these eyes may see them."""
    if not given.hides:
        return given
    seen = events(ledger, given.events, eyes)
    return given if seen is given.events else replace(given, events=tuple(seen))


def events(
    ledger: Ledger, stored: Sequence[events_pb2.Event], eyes: Eyes
) -> Sequence[events_pb2.Event]:
    """Return events of the log as these eyes may see them: itself where nothing is concealed."""
    for event in stored:
        if event.type in SECRET:
            return list(_seen(ledger, stored, eyes))
    return stored


def is_open(ledger: Ledger, event: events_pb2.Event) -> bool:
    """Return whether nothing of an event is concealed from anybody, now and for ever."""
    return event.type not in SECRET or _hidden(ledger, event) is None


class Replayed:
    """The steps of a table's replay as these eyes may see them now."""

    def __init__(self, ledger: Ledger, eyes: Eyes) -> None:
        self._ledger = ledger
        self._eyes = eyes
        self._hiding: events_pb2.Event | None = None

    def step(self, event: events_pb2.Event) -> tuple[events_pb2.Event, Eyes]:
        """Return the next event as it may be seen, and the eyes that may see the state after it.

        Once the last thing that was hidden may be seen, the state of that moment may be.
        """
        if event.type in SECRET:
            self._hiding = event
        if self._hiding is not None and is_open(self._ledger, self._hiding):
            self._hiding = None
        (seen,) = events(self._ledger, (event,), self._eyes)
        return seen, None if self._hiding is None else self._eyes


class _Hidden(NamedTuple):
    """A fact of which somebody may not see everything yet, with its game and the state now."""

    game: Secretive
    state: Any
    fact: Any


def _seen(
    ledger: Ledger, stored: Sequence[events_pb2.Event], eyes: Eyes
) -> Iterator[events_pb2.Event]:
    for event in stored:
        hidden = _hidden(ledger, event) if event.type in SECRET else None
        yield event if hidden is None else _concealed(event, hidden, eyes)


def _hidden(ledger: Ledger, event: events_pb2.Event) -> _Hidden | None:
    table_id = event.stream.removeprefix(TABLES)
    # A round that is over hides nothing, whatever its game; and outside rounds the game is asked.
    table = ledger.in_round(table_id, event.round) if event.round else ledger.table(table_id)
    game = None if table is None else secretive(table.game)
    if table is None or game is None:
        return None
    fact: Any = payload_from_wire(event)
    if type(fact) not in game.secrets or game.conceal(table.state, fact, NOBODYS) is fact:
        return None
    return _Hidden(game, table.state, fact)


def _concealed(event: events_pb2.Event, hidden: _Hidden, eyes: Eyes) -> events_pb2.Event:
    """Return an event without what these eyes may not see yet.

    The digest of the request and the salt go too, even where they see all of the fact: by these he
    who knows most of a deck could find the rest by trying out, from the digest or a hash.
    """
    field, _, payload = payload_to_wire(hidden.game.conceal(hidden.state, hidden.fact, eyes))
    shown = events_pb2.Event()
    shown.CopyFrom(event)
    shown.ClearField("request_digest")
    shown.ClearField("salt")
    shown.concealed = True
    getattr(shown, field).CopyFrom(payload)
    return shown
