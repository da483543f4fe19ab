"""Two Alike 12 High as the ledger sees it."""

from __future__ import annotations

from collections.abc import Mapping

from croupier.domain.commands import Command
from croupier.domain.errors import Reason, Refused
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.options import Option
from croupier.domain.games.protocol import Allowed, Holding, Quote, SeatView, Setup, View
from croupier.domain.games.twelve_high import deciding, folding, racing
from croupier.domain.games.twelve_high.allowed import allowed
from croupier.domain.games.twelve_high.state import ANTE, DEATH_ROLL, Racer, State
from croupier.domain.games.twelve_high.terms import OPTIONS, PRESETS, Terms
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome

SEATS_LEAST = 2


class TwelveHigh:
    """All ante; the odd die of three scores, trips start a Death Roll, the winner takes the pot."""

    code = "twelve_high"
    title = "Two Alike 12 High"
    edition = 1
    state_type = State
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS

    def open(self, setup: Setup) -> State:
        """Return the state of a table just opened, or refuse. There is no banker."""
        if len(setup.seats) < SEATS_LEAST:
            raise Refused(
                Reason.INVALID_SEATS,
                "Two Alike 12 High is for two players or more",
                field="seats",
                least=SEATS_LEAST,
            )
        return State.before(Terms.of(setup.options), setup.seats)

    def paytable(self, options: Mapping[str, Value]) -> Paytable:
        """Return what each line pays."""
        return Terms.of(options).paytable

    def quotes(self, options: Mapping[str, Value]) -> tuple[Quote, ...]:
        """Return nothing: players race for a pot, against each other and not against odds."""
        del options
        return ()

    def decide(self, state: State, command: Command) -> tuple[Fact, ...]:
        """Return the facts that a command causes, or refuse."""
        return deciding.decide(state, command)

    def follow(self, state: State) -> tuple[Fact, ...]:
        """Return the facts that follow by themselves."""
        return racing.follow(state)

    def outcome(self, state: State) -> Outcome | None:
        """Return what is owed now."""
        return racing.outcome(state)

    def fold(self, state: State, fact: Fact) -> State:
        """Return the state after a recorded fact."""
        return folding.fold(state, fact)

    def holdings(self, state: State) -> tuple[Holding, ...]:
        """Return whose money the table holds."""
        return state.holdings

    def in_round(self, state: State) -> bool:
        """Return whether a round of the table, one whole race, is open."""
        return state.is_open

    def allowed(self, state: State) -> tuple[Allowed, ...]:
        """Return every command that the rules allow now."""
        return allowed(state)

    def view(self, state: State) -> View:
        """Return the state as shown to callers. `points` are in the order of the seats."""
        at_risk = dict.fromkeys(state.seats, 0)
        for holding in state.holdings:
            at_risk[holding.player] += holding.amount
        return View(
            phase=state.phase,
            allowed=allowed(state),
            seats=tuple(
                SeatView(racer.player, at_risk[racer.player], racer.held, _standing(state, racer))
                for racer in state.racers
            ),
            details={
                "ante": state.terms.ante,
                "target": state.terms.target,
                "pot": sum(at_risk.values()),
                "rolling_order": state.order,
                "game_round": state.game_round,
                "points": tuple(racer.points for racer in state.racers),
                "awards": tuple(racer.award for racer in state.racers),
                "out": tuple(racer.player for racer in state.racers if racer.is_out),
                "starter": state.starter if state.phase == DEATH_ROLL else "",
                "bar": state.bar if state.phase == DEATH_ROLL else 0,
                "last_reading": state.reading,
                "winner": state.winner,
                "win_rule": state.win_rule,
            },
        )


def _standing(state: State, racer: Racer) -> str:
    if racer.player == state.winner:
        return "won"
    if racer.is_out:
        return "out"
    if state.winner:
        return "lost"
    if state.phase == ANTE:
        return "anted" if racer.held else "not_anted"
    return "in"
