"""The aggregate: one table of any game, its rounds and versions. Commands decide, events fold.

The table knows nothing of a game but its protocol, and a game knows nothing of tables: the table
adds the opening, the numbering of rounds, the payouts and the closing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from croupier.domain import names
from croupier.domain.commands import Command
from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    PaidOut,
    RoundSettled,
    RoundStarted,
    RoundVoided,
    TableClosed,
    TableEvent,
    TableOpened,
)
from croupier.domain.evolve import evolve
from croupier.domain.games import game_of
from croupier.domain.games.options import resolve
from croupier.domain.games.protocol import (
    Allowed,
    Exposure,
    Eyes,
    Game,
    Holding,
    Setup,
    View,
    house_banked,
    secretive,
)
from croupier.domain.money import check_amount, check_currency
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import settle

SEATS_MAX = 64
"""The most seats at one table; a limit on everything, no rule of a game."""

STEPS_MAX = 1_000
"""The most times that something follows by itself after a command; who needs more, loops."""

TABLE_CLOSED = "table_closed"
"""The payout rule under which a closing table returns what it still holds."""

ROUND_VOIDED = "round_voided"
"""The payout rule under which a void round returns all that the table holds."""

REASON_MAX = 200
"""The longest reason that is given for the record, characters."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table's stream folded. `round` is the open round, or between rounds the next one."""

    id: str
    version: int
    game: Game[Any]
    opened: TableOpened
    paytable: Paytable
    state: Any
    round: int = 1
    in_round: bool = False
    closed: bool = False

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds, piece by piece."""
        return self.game.holdings(self.state)

    @property
    def at_risk(self) -> int:
        """Return all that the table holds, minor units: exactly the balance of its escrow."""
        return sum(holding.amount for holding in self.holdings)

    @property
    def house_banks(self) -> bool:
        """Return whether the house banks here, out of the table's own bankroll."""
        return self.opened.bankroll > 0

    @property
    def bankroll(self) -> int:
        """Return the house's money here, minor units: exactly the balance of its account."""
        if self.closed or not self.house_banks:
            return 0
        house = house_banked(self.game)
        return house.bankroll(self.state) if house else 0

    @property
    def exposure(self) -> Exposure | None:
        """Return what every outcome would come to for the house, None where a player banks."""
        house = house_banked(self.game)
        return house.exposure(self.state) if house else None

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        """Return every command that may be played now; none while something follows by itself."""
        return () if self.closed or automatic(self) else self.game.allowed(self.state)

    @property
    def view(self) -> View:
        """Return the game's state as shown; nobody has to act while something follows by itself."""
        view = self.game.view(self.state)
        return evolve(view, allowed=()) if automatic(self) else view

    def seen(self, eyes: Eyes) -> View:
        """Return the same as these eyes may see it."""
        game = secretive(self.game)
        if game is None:
            return self.view
        view = game.seen(self.state, eyes)
        return evolve(view, allowed=()) if automatic(self) else view


class Step(NamedTuple):
    """An event, the round that it belongs to (0 outside rounds), and the table after it."""

    event: TableEvent
    round: int
    after: Table


def open_table(
    *,
    table_id: str,
    game_code: str,
    options: Mapping[str, Value],
    seats: tuple[str, ...],
    currency: str,
    banker: str,
    bankroll: int = 0,
) -> TableOpened:
    """Return the event that opens a table, with every option resolved, or refuse."""
    names.check_id(table_id, "table")
    game = game_of(game_code)
    check_currency(currency)
    if not 1 <= len(seats) <= SEATS_MAX or len(set(seats)) != len(seats):
        raise Refused(
            Reason.INVALID_SEATS,
            f"a table has 1 to {SEATS_MAX} seats, each for another player",
            field="seats",
            least=1,
            most=SEATS_MAX,
        )
    try:
        for seat in seats:
            names.check_id(seat, "player")
    except Refused as refusal:
        raise refusal.at("seats") from None
    if names.HOUSE in seats:
        raise Refused(
            Reason.INVALID_SEATS,
            f"{names.HOUSE} is who banks for the house, and has no seat",
            field="seats",
            banker=names.HOUSE,
        )
    if house_banked(game):
        banker = banker or names.HOUSE
        _check_house(banker, bankroll)
    elif bankroll:
        raise Refused(
            Reason.AMOUNT_OUT_OF_RANGE,
            f"the house does not bank in {game.code}, so the table has no bankroll",
            field="bankroll",
            amount=bankroll,
            least=0,
            most=0,
        )
    resolved = resolve(game.options, game.presets, options)
    game.open(Setup(seats=seats, options=resolved, banker=banker, bankroll=bankroll))
    return TableOpened(
        table=table_id,
        game=game.code,
        edition=game.edition,
        options=resolved,
        seats=seats,
        currency=currency,
        banker=banker,
        paytable_digest=game.paytable(resolved).digest(),
        bankroll=bankroll,
    )


def _check_house(banker: str, bankroll: int) -> None:
    """Refuse what cannot open a table at which the house banks."""
    if banker != names.HOUSE:
        raise Refused(
            Reason.INVALID_SEATS,
            f"the banker is {names.HOUSE}, who has no seat",
            field="banker",
            banker=names.HOUSE,
        )
    if not bankroll:
        raise Refused(
            Reason.MISSING_FIELD, "the house banks, so a bankroll is required", field="bankroll"
        )
    try:
        check_amount(bankroll)
    except Refused as refusal:
        raise refusal.at("bankroll") from None


def play(table: Table, command: Command, round_number: int) -> tuple[Step, ...]:
    """Return step by step all that `command` causes at the table, payouts included, or refuse.

    Raises:
        Refused: the table is closed, the round is another, the player has no seat, or the game's
            rules do not allow the command now.

    """
    _check_open(table)
    _check_round(table, round_number)
    deals = table.house_banks and command.player == names.HOUSE
    if command.player not in table.opened.seats and not deals:
        raise Refused(
            Reason.NOT_SEATED,
            f"{shown(command.player)} has no seat at this table",
            field="player",
            player=command.player[:64],
        )
    return tuple(_consequences(table, table.game.decide(table.state, command)))


def close(table: Table) -> tuple[Step, ...]:
    """Return the steps that close a table between rounds and pay out what it still holds.

    A bankroll goes back to the house.
    """
    _check_open(table)
    if table.in_round:
        raise Refused(
            Reason.ROUND_OPEN,
            f"round {table.round} is open; a table closes between rounds",
            round=table.round,
        )
    returned = _returned(table, TABLE_CLOSED)
    closed = TableClosed(table=table.id, bankroll=table.bankroll)
    return tuple(_steps(table, (*returned, closed)))


def void(table: Table, round_number: int, reason: str) -> tuple[Step, ...]:
    """Return the steps that end an open round as if it had never been, and return every stake.

    Raises:
        Refused: no round is open, it is another, or no reason is given.

    """
    _check_open(table)
    check_reason(reason)
    _check_round(table, round_number)
    if not table.in_round:
        raise Refused(
            Reason.ROUND_NOT_OPEN, f"round {table.round} has not begun", round=table.round
        )
    returned = _returned(table, ROUND_VOIDED)
    return tuple(_steps(table, (*returned, RoundVoided(round=table.round, reason=reason))))


def check_reason(reason: str) -> None:
    """Refuse what is no reason that can stand on a record."""
    if not reason or len(reason) > REASON_MAX or not reason.isprintable():
        raise Refused(
            Reason.INVALID_TEXT,
            f"a reason is required, up to {REASON_MAX} printable characters",
            field="reason",
            most=REASON_MAX,
        )


def _returned(table: Table, rule: str) -> Iterator[PaidOut]:
    """Yield the payouts that return to everybody what the table holds of his."""
    for held in table.holdings:
        yield PaidOut(player=held.player, rule=rule, stake=held.amount, returned=held.amount)


def _check_round(table: Table, round_number: int) -> None:
    if round_number != table.round:
        raise Refused(
            Reason.ROUND_MISMATCH,
            f"the command is for round {round_number}, the table is at round {table.round}",
            field="round",
            round=table.round,
            asked=round_number,
        )


def _check_open(table: Table) -> None:
    if table.closed:
        raise Refused(Reason.TABLE_CLOSED, "the table is closed")


def _consequences(table: Table, facts: Iterable[TableEvent]) -> Iterator[Step]:
    """Yield `facts`, then the payouts and automatic facts that follow, until a person must act."""
    pending = tuple(facts)
    for _ in range(STEPS_MAX):
        for step in _steps(table, pending):
            table = step.after
            yield step
        pending = automatic(table)
        if not pending:
            return
    again = type(pending[0]).__name__  # not the fact: who reads logs may not see what it says
    msg = f"{table.game.code} does not come to rest: {again} follows again and again"
    raise AssertionError(msg)


def _steps(table: Table, events: Iterable[TableEvent]) -> Iterator[Step]:
    """Yield events one after the other, a round's start before the fact that opens it."""
    for event in events:
        after = fold(table, event)
        if not table.in_round and table.game.in_round(after.state):
            started = RoundStarted(round=table.round, paytable_digest=table.paytable.digest())
            table = fold(table, started)
            yield Step(started, table.round, table)
            after = fold(table, event)
        yield Step(event, table.round if table.in_round else 0, after)
        table = after


def automatic(table: Table) -> tuple[TableEvent, ...]:
    """Return what must come next by itself, nothing where a person has to act.

    That is the payouts that the state owes (settlement over the round's events), else the facts
    that follow by the rules, else the end of a round from which nothing is owed. Replay asks the
    same, so an event that is missing, added or changed here is found.
    """
    if outcome := table.game.outcome(table.state):
        return settle(outcome, table.paytable)
    if facts := table.game.follow(table.state):
        return facts
    if table.in_round and not table.game.in_round(table.state):
        return (RoundSettled(round=table.round, carried=table.at_risk),)
    return ()


def fold(table: Table | None, event: TableEvent) -> Table:
    """Return the table after a recorded event. Never refuses a recorded fact."""
    if isinstance(event, TableOpened):
        return _opened(event)
    if table is None:
        msg = f"a stream begins with TableOpened, not {type(event).__name__}"
        raise ValueError(msg)
    version = table.version + 1
    match event:
        case RoundStarted():
            return evolve(table, version=version, in_round=True)
        case RoundSettled():
            return evolve(table, version=version, in_round=False, round=event.round + 1)
        case RoundVoided():
            state = table.game.fold(table.state, event)
            after = event.round + 1
            return evolve(table, version=version, in_round=False, round=after, state=state)
        case TableClosed():
            return evolve(table, version=version, closed=True)
        case _:
            return evolve(table, version=version, state=table.game.fold(table.state, event))


def _opened(event: TableOpened) -> Table:
    game = game_of(event.game)
    if event.edition != game.edition:
        msg = f"{event.game} edition {event.edition} was recorded, {game.edition} is known"
        raise ValueError(msg)
    setup = Setup(event.seats, event.options, event.banker, event.bankroll)
    return Table(
        id=event.table,
        version=1,
        game=game,
        opened=event,
        paytable=game.paytable(event.options),
        state=game.open(setup),
    )
