"""Replays a table from its events and recomputes what was paid. Any difference is a finding."""

from __future__ import annotations

from croupier.domain import table as rules
from croupier.domain.bookkeeping import table_postings
from croupier.domain.card_events import (
    HandDealt,
    HandScored,
    LeftoversTaken,
    MatchWon,
    TableSwept,
)
from croupier.domain.cup_events import (
    DrawRevealed,
    PlacesLit,
)
from croupier.domain.events import (
    BankDecided,
    Collected,
    FadingClosed,
    PaidOut,
    RoundSettled,
    RoundStarted,
    RoundVoided,
    ShootOutCalled,
    TableClosed,
    TableEvent,
)
from croupier.domain.games.protocol import secretive
from croupier.domain.names import bankroll, escrow
from croupier.domain.postings import deltas
from croupier.domain.race_events import (
    DeathRollAwarded,
    DeathRollStarted,
    DeathRollSurvived,
    DicePassed,
    Eliminated,
    GameRoundStarted,
    HouseOptionOffered,
    PlacesTied,
    PointsAdded,
    RaceWon,
    RollingOrderSettled,
)
from croupier.domain.table import ROUND_VOIDED, TABLE_CLOSED, Table
from croupier.services.store.mapper import payload_from_wire, posting_from_wire
from croupier.v1 import events_pb2

_AUTOMATIC = (
    Collected
    | PaidOut
    | FadingClosed
    | BankDecided
    | RoundSettled
    | PlacesLit
    | ShootOutCalled
    | PlacesTied
    | RollingOrderSettled
    | GameRoundStarted
    | PointsAdded
    | DicePassed
    | HouseOptionOffered
    | DeathRollStarted
    | DeathRollSurvived
    | Eliminated
    | DeathRollAwarded
    | RaceWon
    | HandDealt
    | TableSwept
    | LeftoversTaken
    | HandScored
    | MatchWon
)
"""What nobody can ask for: it comes by itself or not at all."""

_RETURNS = (TABLE_CLOSED, ROUND_VOIDED)
"""The rules under which a table gives everything back."""


class Replay:
    """A table's stream folded event by event, with its escrow and its bankroll summed beside it.

    What comes by itself (payouts, what a throw comes to, where the bank goes, which places are lit,
    the cards of a deck, the count of a hand, the end of a round) is recomputed from the state
    before it, by the functions that the server used; postings are recomputed from their events;
    escrow must equal what the state holds, and so must the bankroll where the house banks.
    """

    def __init__(self) -> None:
        self._table: Table | None = None
        self._escrow = 0
        self._bankroll = 0
        self._expected: tuple[TableEvent, ...] = ()

    @property
    def table(self) -> Table:
        """Return the table after the last event folded."""
        if self._table is None:
            msg = "nothing was replayed yet"
            raise ValueError(msg)
        return self._table

    def fold(self, stored: events_pb2.Event) -> list[str]:
        """Fold the next event of the stream and return what is wrong with it.

        Raises:
            UnknownEventError: a newer program wrote it.

        """
        event: TableEvent = payload_from_wire(stored)  # type: ignore[assignment]  # a table's stream
        findings = self._check_expected(event)
        self._table = rules.fold(self._table, event)
        at = self._table
        if stored.version != at.version:
            findings.append(f"version {stored.version} where {at.version} was expected")
        recorded = tuple(posting_from_wire(posting) for posting in stored.postings)
        currency = at.opened.currency
        expected = table_postings(event, at.id, currency, house_banks=at.house_banks)
        if recorded != expected:
            findings.append(f"postings {recorded} where {expected} were expected")
        changes = deltas(recorded)
        self._escrow += changes.get((escrow(at.id), currency), 0)
        if self._escrow != at.at_risk:
            findings.append(f"escrow holds {self._escrow}, the state {at.at_risk}")
        self._bankroll += changes.get((bankroll(at.id), currency), 0)
        if self._bankroll != at.bankroll:
            findings.append(f"the bankroll has {self._bankroll}, the state {at.bankroll}")
        # A round's first stake comes with its start, not after it; and while everything is given
        # back, nothing follows but that.
        returns = isinstance(event, PaidOut) and event.rule in _RETURNS
        if not self._expected and not isinstance(event, RoundStarted) and not returns:
            self._expected = rules.automatic(at)
        return findings

    def end(self) -> list[str]:
        """Return what is missing where the stream ends here."""
        return [f"the stream ends where {self._told(one)} has to follow" for one in self._expected]

    def _told(self, event: TableEvent) -> str:
        """Return what an event says; only its kind where not everybody may see all of it yet."""
        game = None if self._table is None else secretive(self._table.game)
        hides = game is not None and type(event) in game.secrets
        return type(event).__name__ if hides else str(event)

    def _check_expected(self, event: TableEvent) -> list[str]:
        if self._expected:
            expected, *rest = self._expected
            self._expected = tuple(rest)
            if event != expected:
                told, due = self._told(event), self._told(expected)
                return [f"recorded {told} where {due} has to follow"]
        elif self._comes_by_itself(event) and not self._closing(event):
            return [f"recorded {self._told(event)} where nothing is due"]
        elif isinstance(event, TableClosed | RoundVoided) and self._escrow:
            what = "closed" if isinstance(event, TableClosed) else "void"
            return [f"{what} while escrow holds {self._escrow}"]
        return []

    def _comes_by_itself(self, event: TableEvent) -> bool:
        """Return whether nobody can ask for this; a draw, not where it tells a deck of cards."""
        if isinstance(event, DrawRevealed) and self._table is not None:
            return secretive(self._table.game) is not None
        return isinstance(event, _AUTOMATIC)

    def _closing(self, event: TableEvent) -> bool:
        """Return whether a payout returns a whole holding to its owner, as the table says."""
        if not isinstance(event, PaidOut) or event.rule not in _RETURNS or self._table is None:
            return False
        held = [(one.player, one.amount) for one in self._table.holdings]
        return (event.player, event.returned) in held and not event.winnings + event.top_up
