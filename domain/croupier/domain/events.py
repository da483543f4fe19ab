"""What happened: frozen events with permanent names, and the money that each of them moves.

The name in `@event(...)` is what the log stores. It never changes and never refers to a module.
Amounts are minor units. Facts of a game carry no table and no round: the record around them does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from croupier.domain.dice import Dice, Source
from croupier.domain.money import Odds

Value = int | str | bool
T = TypeVar("T")

EVENTS: dict[str, type] = {}
"""Every kind of event by its permanent name."""

NAMES: dict[type, str] = {}
"""The permanent name of every kind of event."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(name: str) -> Callable[[type[T]], type[T]]:
    """Make a frozen event that the log knows as `name`."""

    def register(cls: type[T]) -> type[T]:
        frozen = dataclass(frozen=True, kw_only=True)(cls)
        if name in EVENTS:
            msg = f"two events are called {name}"
            raise ValueError(msg)
        EVENTS[name] = frozen
        NAMES[frozen] = name
        return frozen

    return register


# --- the ledger and its accounts ------------------------------------------------------------


@event("croupier.v1.LedgerCreated")
class LedgerCreated:
    """Position 1 of every log: the ledger begins, in this format."""

    ledger: str
    format_version: int


@event("croupier.v1.Deposited")
class Deposited:
    """Money came from the world outside into an account."""

    account: str
    currency: str
    amount: int


@event("croupier.v1.Withdrawn")
class Withdrawn:
    """Money left an account for the world outside."""

    account: str
    currency: str
    amount: int


# --- the table's own life --------------------------------------------------------------------


@event("croupier.v1.TableOpened")
class TableOpened:
    """A table opened; every option is written out, so no later default can change this game."""

    table: str
    game: str
    edition: int
    options: Mapping[str, Value] = field(default_factory=dict)
    seats: tuple[str, ...]
    currency: str
    banker: str
    paytable_digest: bytes
    bankroll: int = 0
    """What the house puts at risk here, minor units; 0 where a player banks."""


@event("croupier.v1.RoundStarted")
class RoundStarted:
    """A round began, on this paytable."""

    round: int
    paytable_digest: bytes


@event("croupier.v1.RoundSettled")
class RoundSettled:
    """A round ended and nothing is owed from it; `carried` stays in escrow for the next."""

    round: int
    carried: int


@event("croupier.v1.RoundVoided")
class RoundVoided:
    """A round ended as if it had never been: every stake went back, for this reason."""

    round: int
    reason: str


@event("croupier.v1.TableClosed")
class TableClosed:
    """A table closed; nothing is held for it any more. Its `bankroll` goes back to the house."""

    table: str
    bankroll: int = 0


# --- facts of games ---------------------------------------------------------------------------


@event("croupier.v1.BankPosted")
class BankPosted:
    """The banker posted a bank of `bank` = `carried` + `added`.

    `reserve` is what he put in escrow beyond the bank, for payouts above even money.
    """

    player: str
    bank: int
    carried: int
    added: int
    reserve: int


@event("croupier.v1.Faded")
class Faded:
    """A player covered `stake` of the bank; `reserve` is his escrow beyond it."""

    player: str
    stake: int
    reserve: int


@event("croupier.v1.FadeDeclined")
class FadeDeclined:
    """A player, offered the bank, covered none of it."""

    player: str


@event("croupier.v1.FadingClosed")
class FadingClosed:
    """Fading ended with `faded` of the bank covered and `uncovered` going back to the banker."""

    faded: int
    uncovered: int


@event("croupier.v1.Anted")
class Anted:
    """A player put `amount` into the pot that the winner takes."""

    player: str
    amount: int


@event("croupier.v1.Rolled")
class Rolled:
    """A player threw dice; `reading` names the throw in the words of the game's rules."""

    player: str
    dice: Dice
    source: Source
    reading: str


@event("croupier.v1.BetDecided")
class BetDecided:
    """A throw decided a bet: `result` is "won", "lost" or "pushed".

    `line` names the line of the paytable that applies to it, "" for even money.
    """

    player: str
    stake: int
    result: str
    line: str


@event("croupier.v1.BankDecided")
class BankDecided:
    """After all bets: `bank_left` was in the bank, and `rule` says who banks next.

    `carried` of it stays in escrow; the rest is paid to the old banker. An empty `next_banker`
    means that the banker has to choose.
    """

    banker: str
    bank_left: int
    carried: int
    next_banker: str
    rule: str


@event("croupier.v1.BankerChosen")
class BankerChosen:
    """Between rounds the bank was kept, passed or resigned; `banker` banks next."""

    previous: str
    banker: str
    rule: str


@event("croupier.v1.CupCovered")
class CupCovered:
    """The cup was covered; `carried` are the bets that a void throw before left standing."""

    carried: tuple[int, ...] = ()


@event("croupier.v1.HandlePressed")
class HandlePressed:
    """The handle was pressed, for the `press`th time since the cup was covered."""

    press: int


@event("croupier.v1.DrawCommitted")
class DrawCommitted:
    """The service committed to a draw: SHA-256 of a secret nonce and then of the `context`."""

    commitment: bytes
    context: str


@event("croupier.v1.DrawRevealed")
class DrawRevealed:
    """The nonce of the draw that was committed to; the dice follow from it."""

    nonce: bytes


@event("croupier.v1.LightSwitchedOn")
class LightSwitchedOn:
    """The light went on: place your bets."""


@event("croupier.v1.BetPlaced")
class BetPlaced:
    """A player bet `stake` on a place. `bet` is its number, which no other bet of the table has."""

    bet: int
    player: str
    place: str
    stake: int


@event("croupier.v1.BellRung")
class BellRung:
    """The bell rang: no more bets."""


@event("croupier.v1.CupOpened")
class CupOpened:
    """The cup was opened, and the dice lay flat."""

    dice: Dice
    source: Source


@event("croupier.v1.ThrowVoided")
class ThrowVoided:
    """The cup was opened, and the throw does not count: no bet wins or loses."""

    reason: str


@event("croupier.v1.PlacesLit")
class PlacesLit:
    """The winning places were lit."""

    places: tuple[str, ...]


# --- settlement: money leaving a stake ----------------------------------------------------------


@event("croupier.v1.Collected")
class Collected:
    """A losing stake was collected: `amount` of the loser's escrow now belongs to the bank.

    Where the house banks it goes to the table's bankroll; `bet` is the number of the bet, if it
    has one.
    """

    player: str
    stake: int
    odds: Odds
    amount: int
    rule: str
    bet: int = 0


@event("croupier.v1.PaidOut")
class PaidOut:
    """Escrow paid a player his own `returned` money and, for a win, `winnings` and `top_up`.

    `winnings` come out of the bank (where the house banks, the table's bankroll), `top_up` is the
    banker's extra payment beyond the bank. `owed` is the full profit by the odds: more than was
    paid only where liability is capped. `bet` is the number of the bet, if it has one.
    """

    player: str
    rule: str
    stake: int
    odds: Odds | None = None
    returned: int
    winnings: int = 0
    top_up: int = 0
    owed: int = 0
    bet: int = 0


Fact = (
    BankPosted
    | Faded
    | FadeDeclined
    | FadingClosed
    | Anted
    | Rolled
    | BetDecided
    | BankDecided
    | BankerChosen
    | CupCovered
    | HandlePressed
    | DrawCommitted
    | DrawRevealed
    | LightSwitchedOn
    | BetPlaced
    | BellRung
    | CupOpened
    | ThrowVoided
    | PlacesLit
    | Collected
    | PaidOut
    | RoundVoided
)
"""What a game sees of its table's stream."""

TableEvent = TableOpened | RoundStarted | RoundSettled | TableClosed | Fact
Event = LedgerCreated | Deposited | Withdrawn | TableEvent
