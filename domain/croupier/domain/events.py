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
    """A table closed; nothing is held for it any more."""

    table: str


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


@event("croupier.v1.ShootOutCalled")
class ShootOutCalled:
    """The best throw, `reading`, was thrown by all of `players`: only they throw again, so ordered.

    `number` counts the shoot-outs of the round from 1.
    """

    players: tuple[str, ...]
    reading: str
    number: int


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


# --- facts of a race with three dice --------------------------------------------------------------


@event("croupier.v1.PlacesTied")
class PlacesTied:
    """Players threw equal dice and throw again among themselves for the places they share."""

    players: tuple[str, ...]


@event("croupier.v1.RollingOrderSettled")
class RollingOrderSettled:
    """The rolling order of the whole game is settled; who is first goes first."""

    players: tuple[str, ...]


@event("croupier.v1.GameRoundStarted")
class GameRoundStarted:
    """A round of the game began, in which every player still in has a turn."""

    number: int


@event("croupier.v1.PointsAdded")
class PointsAdded:
    """A throw in a turn added `points` to a player's, who has `total` now."""

    player: str
    points: int
    total: int


@event("croupier.v1.DicePassed")
class DicePassed:
    """A throw in a turn scored nothing; the dice pass on."""

    player: str


@event("croupier.v1.HouseOptionOffered")
class HouseOptionOffered:
    """A player threw a High Storm and has to choose: the win, or a Death Roll."""

    player: str


@event("croupier.v1.HouseOptionChosen")
class HouseOptionChosen:
    """A player chose what his High Storm is: `choice` is "win" or "death_roll"."""

    player: str
    choice: str


@event("croupier.v1.DeathRollStarted")
class DeathRollStarted:
    """A player started a Death Roll with this bar; `award` is his when the next round starts."""

    player: str
    bar: int
    award: int


@event("croupier.v1.DeathRollSurvived")
class DeathRollSurvived:
    """A player survived a Death Roll; `award` is his when the next round starts.

    `bar` is what those after him have to match or beat.
    """

    player: str
    award: int
    bar: int


@event("croupier.v1.Eliminated")
class Eliminated:
    """A player is out of the game, by "low_storm" or by a "death_roll" that he failed."""

    player: str
    rule: str


@event("croupier.v1.DeathRollAwarded")
class DeathRollAwarded:
    """As a round starts, a Death Roll's award adds `points` to a player's, who has `total` now."""

    player: str
    points: int
    total: int


@event("croupier.v1.RaceWon")
class RaceWon:
    """A player won the game, and with it the pot.

    `rule` is "target" (reached in a turn), "highest_total" (as a round starts), "high_storm" or
    "last_player_left".
    """

    player: str
    rule: str


# --- settlement: money leaving a stake ----------------------------------------------------------


@event("croupier.v1.Collected")
class Collected:
    """A losing stake was collected: `amount` of the loser's escrow now belongs to the bank."""

    player: str
    stake: int
    odds: Odds
    amount: int
    rule: str


@event("croupier.v1.PaidOut")
class PaidOut:
    """Escrow paid a player his own `returned` money and, for a win, `winnings` and `top_up`.

    `winnings` come out of the bank, `top_up` is the banker's extra payment beyond the bank.
    `owed` is the full profit by the odds: more than was paid only where liability is capped.
    """

    player: str
    rule: str
    stake: int
    odds: Odds | None = None
    returned: int
    winnings: int = 0
    top_up: int = 0
    owed: int = 0


Fact = (
    BankPosted
    | Faded
    | FadeDeclined
    | FadingClosed
    | Anted
    | Rolled
    | ShootOutCalled
    | BetDecided
    | BankDecided
    | BankerChosen
    | Collected
    | PaidOut
    | RoundVoided
    | PlacesTied
    | RollingOrderSettled
    | GameRoundStarted
    | PointsAdded
    | DicePassed
    | HouseOptionOffered
    | HouseOptionChosen
    | DeathRollStarted
    | DeathRollSurvived
    | Eliminated
    | DeathRollAwarded
    | RaceWon
)
"""What a game sees of its table's stream."""

TableEvent = TableOpened | RoundStarted | RoundSettled | TableClosed | Fact
Event = LedgerCreated | Deposited | Withdrawn | TableEvent
