"""Banked cee-lo as the ledger sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from croupier.domain.commands import Command
from croupier.domain.errors import Reason, Refused
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.ceelo_bank import deciding, folding, odds, passing
from croupier.domain.games.ceelo_bank.allowed import allowed
from croupier.domain.games.ceelo_bank.moments import moments
from croupier.domain.games.ceelo_bank.state import State
from croupier.domain.games.ceelo_bank.terms import OPTIONS, PRESETS, Terms
from croupier.domain.games.ceelo_bank.verdicts import EQUAL_POINT
from croupier.domain.games.options import Option
from croupier.domain.games.protocol import Allowed, Holding, Quote, SeatView, Setup, View
from croupier.domain.games.theory import Bet, Moments
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome

SEATS_LEAST = 2


class CeeloBank:
    """One of the players banks; the others fade parts of the bank and throw against him."""

    code = "ceelo_bank"
    title = "Cee-lo with a bank"
    edition = 1
    state_type = State
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    pushes = frozenset({EQUAL_POINT})

    def open(self, setup: Setup) -> State:
        """Return the state of a table just opened, or refuse."""
        if len(setup.seats) < SEATS_LEAST:
            raise Refused(
                Reason.INVALID_SEATS, "cee-lo is for two players or more", field="seats", least=2
            )
        if setup.banker not in setup.seats:
            raise Refused(
                Reason.INVALID_SEATS, "the first banker is one of the seats", field="banker"
            )
        return State(Terms.of(setup.options), setup.seats, setup.banker)

    def paytable(self, options: Mapping[str, Value]) -> Paytable:
        """Return what each line pays."""
        return Terms.of(options).paytable

    def quotes(self, options: Mapping[str, Value]) -> tuple[Quote, ...]:
        """Return the exact odds of a fade."""
        return odds.quotes(options)

    def moments(self, options: Mapping[str, Value], bets: Sequence[Bet]) -> Moments:
        """Return what the fades of a round come to by the odds, before its throws."""
        return moments(options, bets)

    def decide(self, state: State, command: Command) -> tuple[Fact, ...]:
        """Return the facts that a command causes, or refuse."""
        return deciding.decide(state, command)

    def follow(self, state: State) -> tuple[Fact, ...]:
        """Return the facts that follow by themselves."""
        return passing.follow(state)

    def outcome(self, state: State) -> Outcome | None:
        """Return what is owed now."""
        return passing.outcome(state)

    def fold(self, state: State, fact: Fact) -> State:
        """Return the state after a recorded fact."""
        return folding.fold(state, fact)

    def holdings(self, state: State) -> tuple[Holding, ...]:
        """Return whose money the table holds."""
        return state.holdings

    def in_round(self, state: State) -> bool:
        """Return whether a round is open."""
        return state.round_open

    def allowed(self, state: State) -> tuple[Allowed, ...]:
        """Return every command that the rules allow now."""
        return allowed(state)

    def view(self, state: State) -> View:
        """Return the state as shown to callers."""
        at_risk = dict.fromkeys(state.seats, 0)
        for holding in state.holdings:
            at_risk[holding.player] += holding.amount
        stakes = {bet.player: bet.stake for bet in state.bets}
        return View(
            phase=state.phase,
            allowed=allowed(state),
            seats=tuple(
                SeatView(player, at_risk[player], stakes.get(player, 0), _standing(state, player))
                for player in state.seats
            ),
            details={
                "banker": state.banker,
                "bank": state.bank,
                "carried": state.carried,
                "reserve": state.reserve,
                "faded": state.faded,
                "uncovered": state.uncovered,
                "point": state.point,
                "last_reading": state.last_reading,
                "last_rule": state.last_rule,
            },
        )


def _standing(state: State, player: str) -> str:
    if player == state.banker:
        return "banker"
    bet = next((bet for bet in state.bets if bet.player == player), None)
    if bet is not None:
        return bet.result or "faded"
    return "declined" if player in state.declined else "not_offered"
