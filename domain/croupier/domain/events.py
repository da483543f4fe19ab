"""What happened: frozen events with permanent names, and the money that each of them moves.

The name in `@event(...)` is what the log stores. It never changes and never refers to a module.
Amounts are minor units. Facts of a game carry no table and no round: the record around them does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CardsCaptured,
    CardTrailed,
    DeckBrought,
    DeckDrawn,
    HandDealt,
    HandScored,
    LeftoversTaken,
    MatchWon,
    TableSwept,
)
from croupier.domain.cup_events import (
    BellRung,
    BetPlaced,
    CupCovered,
    CupOpened,
    DrawCommitted,
    DrawRevealed,
    HandlePressed,
    LightSwitchedOn,
    PlacesLit,
    ThrowVoided,
)
from croupier.domain.dice import Dice, Source
from croupier.domain.event import Value, event
from croupier.domain.ledger_events import LedgerUnfenced
from croupier.domain.money import Odds
from croupier.domain.race_events import (
    DeathRollAwarded,
    DeathRollStarted,
    DeathRollSurvived,
    DicePassed,
    Eliminated,
    GameRoundStarted,
    HouseOptionChosen,
    HouseOptionOffered,
    PlacesTied,
    PointsAdded,
    RaceWon,
    RollingOrderSettled,
)

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


CardFact = (
    DeckBrought
    | DeckDrawn
    | HandDealt
    | CardsCaptured
    | BuildCreated
    | BuildExtended
    | BuildRaised
    | CardTrailed
    | TableSwept
    | LeftoversTaken
    | HandScored
    | MatchWon
)

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
    | CardFact
)
"""What a game sees of its table's stream."""

TableEvent = TableOpened | RoundStarted | RoundSettled | TableClosed | Fact
Event = LedgerCreated | LedgerUnfenced | Deposited | Withdrawn | TableEvent
