"""Facts folded into state. Nothing is decided again: facts say what was thrown and who ties."""

from __future__ import annotations

from dataclasses import replace

from croupier.domain.events import (
    Anted,
    Collected,
    Fact,
    PaidOut,
    Rolled,
    RoundVoided,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot.state import (
    COMPARE,
    RE_ANTE,
    THROWING,
    State,
)
from croupier.domain.games.ceelo_pot.terms import Terms
from croupier.domain.games.ceelo_throws import FOUR_FIVE_SIX, MEANINGLESS


def opening(terms: Terms, seats: tuple[str, ...], last_winner: str = "") -> State:
    """Return the state before a round; the winner of the last one may throw first."""
    first = seats.index(last_winner) if terms.winner_first and last_winner in seats else 0
    order = seats[first:] + seats[:first]
    return State(terms, seats, order, antes=(0,) * len(seats), last_winner=last_winner)


def fold(state: State, fact: Fact) -> State:
    """Return the state after a recorded fact."""
    match fact:
        case Anted():
            return _anted(state, fact)
        case Rolled():
            return _rolled(state, fact)
        case ShootOutCalled():
            return replace(
                state,
                phase=RE_ANTE if state.terms.re_ante else THROWING,
                order=fact.players,
                paid=(),
                readings=(),
                shoot_outs=fact.number,
            )
        case Collected():
            collected = state.collected + fact.amount
            return replace(_moved(state, fact.player, -fact.amount), collected=collected)
        case PaidOut():
            return _paid(state, fact)
        case RoundVoided():
            return opening(state.terms, state.seats, state.last_winner)
        case _:
            return state


def _anted(state: State, fact: Anted) -> State:
    if not state.round_open:
        state = replace(state, round_open=True, shoot_outs=0, last_reading="")
    state = replace(_moved(state, fact.player, fact.amount), paid=(*state.paid, fact.player))
    return state if state.owing else replace(state, phase=THROWING)


def _rolled(state: State, fact: Rolled) -> State:
    if fact.reading == MEANINGLESS:
        return replace(state, last_reading=fact.reading)
    readings = (*state.readings, fact.reading)
    instant = state.terms.instant_456 and fact.reading == FOUR_FIVE_SIX
    done = instant or len(readings) >= len(state.order)
    return replace(
        state,
        readings=readings,
        last_reading=fact.reading,
        phase=COMPARE if done else state.phase,
    )


def _paid(state: State, fact: PaidOut) -> State:
    """The winner took the pot, or the table returned one whole holding: the round is void."""
    if state.phase == COMPARE and fact.player == state.winner:
        after = opening(state.terms, state.seats, fact.player)
        return replace(after, shoot_outs=state.shoot_outs, last_reading=state.last_reading)
    return _moved(state, fact.player, -fact.returned)


def _moved(state: State, player: str, amount: int) -> State:
    """Return the state with `amount` more of a player's in the pot."""
    antes = tuple(ante + amount if seat == player else ante for seat, ante in state.stakes)
    return replace(state, antes=antes)
