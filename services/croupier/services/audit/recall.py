"""What a round was: folded from its events alone, for any game."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from croupier.domain import names
from croupier.domain.dice import DRAWN, Source
from croupier.services.store.mapper import kind_of
from croupier.v1 import events_pb2

DRAWN_DECK = Source(DRAWN, "hmac-sha256")
"""Where a deck comes from whose event names no source: it was drawn by the service."""


@dataclass(slots=True)
class Recall:
    """A round's events folded one by one. Amounts are minor units, by player."""

    table_id: str
    paytable_digest: bytes = b""
    staked: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)
    winnings: Counter[str] = field(default_factory=Counter)
    callers: dict[str, None] = field(default_factory=dict)
    actors: dict[str, None] = field(default_factory=dict)
    sources: dict[Source, None] = field(default_factory=dict)

    def fold(self, event: events_pb2.Event) -> None:
        """Fold the next event of the round."""
        self.callers.setdefault(event.caller)
        if event.actor:
            self.actors.setdefault(event.actor)
        kind = kind_of(event)
        fact: Any = getattr(event, kind)
        if kind == "round_started":
            self.paytable_digest = fact.paytable_digest
        elif kind == "paid_out":
            self.returned[fact.player] += fact.returned
            self.winnings[fact.player] += fact.winnings + fact.top_up
        elif kind == "deck_drawn":
            self.sources.setdefault(DRAWN_DECK)
        elif "source" in fact.DESCRIPTOR.fields_by_name:
            self.sources.setdefault(Source(fact.source.kind, fact.source.id))
        self._post(event)

    def _post(self, event: events_pb2.Event) -> None:
        """Take what players put at risk, and what the bankroll pays and collects."""
        escrow, bankroll = names.escrow(self.table_id), names.bankroll(self.table_id)
        for posting in event.postings:
            if posting.source == bankroll:
                self.staked[names.HOUSE] += posting.amount
            elif posting.destination == bankroll:
                self.returned[names.HOUSE] += posting.amount
            elif posting.destination == escrow:
                self.staked[posting.source.removeprefix("player:")] += posting.amount
