"""Royal Casino as the ledger sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from croupier.domain.card_commands import Move
from croupier.domain.commands import Command
from croupier.domain.errors import Reason, Refused
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.options import Option
from croupier.domain.games.protocol import Allowed, Eyes, Holding, Quote, Setup, View
from croupier.domain.games.royal_casino import deciding, folding, following, hiding, showing
from croupier.domain.games.royal_casino.allowed import allowed
from croupier.domain.games.royal_casino.moves import legal_moves
from croupier.domain.games.royal_casino.state import TURN, State
from croupier.domain.games.royal_casino.terms import OPTIONS, PRESETS, Terms
from croupier.domain.paytable import Paytable
from croupier.domain.settlement import Outcome

SEATS_LEAST = 2
SEATS_MOST = 4


class RoyalCasino:
    """All ante; hands are played until a side has 21 points, which takes the pot.

    Seats are in play order. A round of the table is one match.
    """

    code = "royal_casino"
    title = "Royal Casino"
    edition = 1
    state_type = State
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    secrets = hiding.SECRETS

    def open(self, setup: Setup) -> State:
        """Return the state of a table just opened, or refuse.

        The banker is who deals the first hand; where none is named, the last seat, so that the
        first one begins.
        """
        seats = setup.seats
        if not SEATS_LEAST <= len(seats) <= SEATS_MOST:
            raise Refused(
                Reason.INVALID_SEATS,
                "Royal Casino is for two, three or four players",
                field="seats",
                rule="two_three_or_four_players",
                least=SEATS_LEAST,
                most=SEATS_MOST,
            )
        dealer = setup.banker or seats[-1]
        if dealer not in seats:
            raise Refused(
                Reason.INVALID_SEATS,
                "nobody banks here; the banker is who deals first, and has a seat",
                field="banker",
                rule="a_player_deals",
            )
        return State.before(Terms.of(setup.options), seats, seats.index(dealer))

    def paytable(self, options: Mapping[str, Value]) -> Paytable:
        """Return what each line pays."""
        return Terms.of(options).paytable

    def quotes(self, options: Mapping[str, Value]) -> tuple[Quote, ...]:
        """Return nothing: players play for a pot, against each other and not against odds."""
        del options
        return ()

    def decide(self, state: State, command: Command) -> tuple[Fact, ...]:
        """Return the facts that a command causes, or refuse."""
        return deciding.decide(state, command)

    def follow(self, state: State) -> tuple[Fact, ...]:
        """Return the facts that follow by themselves."""
        return following.follow(state)

    def outcome(self, state: State) -> Outcome | None:
        """Return what is owed now."""
        return following.outcome(state)

    def fold(self, state: State, fact: Fact) -> State:
        """Return the state after a recorded fact."""
        return folding.fold(state, fact)

    def holdings(self, state: State) -> tuple[Holding, ...]:
        """Return whose money the table holds."""
        return state.holdings

    def in_round(self, state: State) -> bool:
        """Return whether a round of the table, one whole match, is open."""
        return state.is_open

    def allowed(self, state: State) -> tuple[Allowed, ...]:
        """Return every command that the rules allow now; of moves, the kinds."""
        return allowed(state)

    def view(self, state: State) -> View:
        """Return the state with everybody's hands."""
        return showing.view(state)

    def seen(self, state: State, eyes: Eyes) -> View:
        """Return the state as these eyes may see it."""
        return showing.view(state, eyes)

    def conceal(self, state: State, fact: Fact, eyes: Eyes) -> Fact:
        """Return a fact of the table's past without what these eyes may not see yet."""
        return hiding.conceal(state, fact, eyes)

    def moves(self, state: State, start: int = 0) -> Iterator[Move]:
        """Yield every move that the player whose turn it is may play, from number `start` on."""
        return legal_moves(state.position, start) if state.phase == TURN else iter(())
