"""Winner-take-all cee-lo as the ledger sees it."""

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
from croupier.domain.games.ceelo_pot import comparing, deciding, folding
from croupier.domain.games.ceelo_pot.allowed import allowed
from croupier.domain.games.ceelo_pot.state import ANTE, RE_ANTE, State
from croupier.domain.games.ceelo_pot.terms import OPTIONS, PRESETS, Terms
from croupier.domain.games.options import Option
from croupier.domain.games.protocol import Allowed, Holding, SeatView, Setup, View
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome

SEATS_LEAST = 2


class CeeloPot:
    """All players are of equal standing; each antes, and the best throw takes the pot."""

    code = "ceelo_pot"
    title = "Cee-lo without a bank"
    edition = 1
    state_type = State
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS

    def open(self, setup: Setup) -> State:
        """Return the state of a table just opened, or refuse. Nobody banks; a seat may be named."""
        if len(setup.seats) < SEATS_LEAST:
            raise Refused(
                Reason.INVALID_SEATS,
                "cee-lo is for two players or more",
                field="seats",
                least=SEATS_LEAST,
            )
        if setup.banker and setup.banker not in setup.seats:
            raise Refused(
                Reason.INVALID_SEATS,
                "nobody banks here, and who is named has no seat",
                field="banker",
            )
        return folding.opening(Terms.of(setup.options), setup.seats)

    def paytable(self, options: Mapping[str, Value]) -> Paytable:  # noqa: ARG002  # none matters
        """Return a paytable without lines: no odds, the winner takes what is in the pot."""
        return Paytable({})

    def quotes(self, options: Mapping[str, Value]) -> tuple[()]:  # noqa: ARG002  # none matters
        """Return nothing: players play against each other, not against odds. See `odds`."""
        return ()

    def decide(self, state: State, command: Command) -> tuple[Fact, ...]:
        """Return the facts that a command causes, or refuse."""
        return deciding.decide(state, command)

    def follow(self, state: State) -> tuple[Fact, ...]:
        """Return the facts that follow by themselves."""
        return comparing.follow(state)

    def outcome(self, state: State) -> Outcome | None:
        """Return what is owed now."""
        return comparing.outcome(state)

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
        return View(
            phase=state.phase,
            allowed=allowed(state),
            seats=tuple(
                SeatView(player, at_risk[player], stake, _standing(state, player))
                for player, stake in state.stakes
            ),
            details={
                "ante": state.terms.ante,
                "pot": state.pot,
                "throwing": state.order,
                "readings": state.readings,
                "shoot_outs": state.shoot_outs,
                "last_reading": state.last_reading,
                "last_winner": state.last_winner,
            },
        )


def _standing(state: State, player: str) -> str:
    if player not in state.order:
        return "out"
    if state.phase in (ANTE, RE_ANTE):
        return "to_ante" if player in state.owing else "anted"
    return "to_throw" if player in state.waiting else "thrown"
