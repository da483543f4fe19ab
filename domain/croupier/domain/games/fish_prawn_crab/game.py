"""Fish-Prawn-Crab as the ledger sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from croupier.domain.commands import Command
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.fish_prawn_crab import deciding, exposure, folding, odds, paying
from croupier.domain.games.fish_prawn_crab.allowed import allowed
from croupier.domain.games.fish_prawn_crab.moments import moments
from croupier.domain.games.fish_prawn_crab.state import READY, State
from croupier.domain.games.fish_prawn_crab.terms import OPTIONS, PRESETS, Terms
from croupier.domain.games.options import Option
from croupier.domain.games.protocol import Allowed, Exposure, Holding, Quote, SeatView, Setup, View
from croupier.domain.games.theory import Bet, Moments
from croupier.domain.names import HOUSE
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome


class FishPrawnCrab:
    """Players bet on 39 places against the house; three dice under a cup decide."""

    code = "fish_prawn_crab"
    title = "Fish-Prawn-Crab"
    edition = 1
    state_type = State
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    pushes: frozenset[str] = frozenset()

    def open(self, setup: Setup) -> State:
        """Return the state of a table just opened, or refuse."""
        terms = Terms.of(setup.options)
        terms.check()
        return State(terms, setup.seats, setup.bankroll)

    def paytable(self, options: Mapping[str, Value]) -> Paytable:
        """Return what each line pays."""
        return Terms.of(options).paytable

    def quotes(self, options: Mapping[str, Value]) -> tuple[Quote, ...]:
        """Return the exact odds of all places; the edge is the house's."""
        return tuple(one.quote for one in odds.odds(options))

    def moments(self, options: Mapping[str, Value], bets: Sequence[Bet]) -> Moments:
        """Return what the bets on a throw come to by the odds, before it is seen."""
        return moments(options, bets)

    def decide(self, state: State, command: Command) -> tuple[Fact, ...]:
        """Return the facts that a command causes, or refuse."""
        return deciding.decide(state, command)

    def follow(self, state: State) -> tuple[Fact, ...]:
        """Return the facts that follow by themselves."""
        return paying.follow(state)

    def outcome(self, state: State) -> Outcome | None:
        """Return what is owed now."""
        return paying.outcome(state)

    def fold(self, state: State, fact: Fact) -> State:
        """Return the state after a recorded fact."""
        return folding.fold(state, fact)

    def holdings(self, state: State) -> tuple[Holding, ...]:
        """Return whose money the table holds."""
        return state.holdings

    def in_round(self, state: State) -> bool:
        """Return whether a round is open: from the covering of the cup until all is paid."""
        return state.phase != READY

    def bankroll(self, state: State) -> int:
        """Return what the house has at this table."""
        return state.bankroll

    def exposure(self, state: State) -> Exposure:
        """Return what every outcome would come to for the house."""
        return exposure.exposure(state.nets, state.bankroll, state.staked)

    def allowed(self, state: State) -> tuple[Allowed, ...]:
        """Return every command that the rules allow now."""
        return allowed(state)

    def view(self, state: State) -> View:
        """Return the state as shown to callers."""
        stakes = state.stakes
        return View(
            phase=state.phase,
            allowed=allowed(state),
            seats=tuple(
                SeatView(
                    player,
                    at_risk=stakes.get(player, 0),
                    stake=stakes.get(player, 0),
                    standing="bet" if player in stakes else "no_bet",
                )
                for player in state.seats
            ),
            details={
                "banker": HOUSE,
                "presses": state.presses,
                "bets": len(state.bets),
                "staked": sum(stakes.values()),
                "worst_case": min(state.nets),
                "dice": state.dice,
                "lit": state.lit,
            },
        )
