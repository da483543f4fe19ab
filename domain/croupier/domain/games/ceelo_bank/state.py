"""The state of a table of banked cee-lo, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.ceelo_throws import MEANINGLESS
from croupier.domain.games.protocol import Holding
from croupier.domain.settlement import Claim

BANK_OPEN = "BANK_OPEN"
FADING = "FADING"
NO_ACTION = "NO_ACTION"
BANKER_THROWS = "BANKER_THROWS"
PLAYER_THROWS = "PLAYER_THROWS"
SETTLE = "SETTLE"
BANK_CHOICE = "BANK_CHOICE"


@dataclass(frozen=True, slots=True)
class Bet:
    """A fade. `held` is what is still in escrow of its stake and reserve, minor units.

    Undecided it has no `result`; `reading` is the throw that decided it, the banker's own where
    `by_banker`.
    """

    player: str
    stake: int
    reserve: int
    held: int
    result: str = ""
    line: str = ""
    reading: str = ""
    by_banker: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Amounts are minor units. `due` is owed to a banker, whatever the bets do.

    `bank` is the money bets are paid from: carried between rounds, posted at the beginning of one,
    filled by losing stakes at its end; `carried` is how much of it stood from the round before.
    `reserve` is the banker's escrow beyond it.
    """

    terms: Terms
    seats: tuple[str, ...]
    banker: str
    phase: str = BANK_OPEN
    round_open: bool = False
    bank: int = 0
    carried: int = 0
    reserve: int = 0
    faded: int = 0
    offered: int = 0
    declined: tuple[str, ...] = ()
    bets: tuple[Bet, ...] = ()
    point: int = 0
    last_reading: str = ""
    last_roller: str = ""
    last_rule: str = ""
    due: tuple[Claim, ...] = ()

    @property
    def faders(self) -> tuple[str, ...]:
        """Return the seats that are offered the bank, clockwise from the banker's left."""
        at = self.seats.index(self.banker)
        return self.seats[at + 1 :] + self.seats[:at]

    @property
    def left_neighbour(self) -> str:
        """Return the seat on the banker's left."""
        return self.faders[0]

    @property
    def uncovered(self) -> int:
        """Return how much of the bank nobody has faded yet."""
        return self.bank - self.faded if self.phase == FADING else 0

    @property
    def is_moving(self) -> bool:
        """Return whether a throw was read that decides bets which are not decided yet."""
        if self.phase == BANKER_THROWS:
            return self.last_reading not in ("", MEANINGLESS)
        bet = self.next_bet
        threw = bet is not None and self.last_roller == bet.player
        return self.phase == PLAYER_THROWS and threw and self.last_reading != MEANINGLESS

    @property
    def next_offer(self) -> str:
        """Return the seat that is offered the bank now, "" when all were."""
        faders = self.faders
        return faders[self.offered] if self.offered < len(faders) else ""

    @property
    def next_bet(self) -> Bet | None:
        """Return the first bet that no throw has decided."""
        return next((bet for bet in self.bets if not bet.result), None)

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds."""
        held = []
        if self.bank:
            held.append(Holding(self.banker, self.bank, "bank"))
        if self.reserve:
            held.append(Holding(self.banker, self.reserve, "reserve"))
        held += [Holding(bet.player, bet.held, "fade") for bet in self.bets if bet.held]
        held += [Holding(one.player, one.stake, one.rule) for one in self.due if one.stake]
        return tuple(held)
