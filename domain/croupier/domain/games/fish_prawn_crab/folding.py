"""Facts folded into state. Facts say what was thrown; who wins by it, `paying` says."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

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
from croupier.domain.draws import Sealed
from croupier.domain.events import (
    Collected,
    Fact,
    PaidOut,
    RoundVoided,
)
from croupier.domain.games.fish_prawn_crab.exposure import changed
from croupier.domain.games.fish_prawn_crab.state import (
    BETTING,
    COVERED,
    NO_MORE_BETS,
    PAYING,
    PRESSES,
    READY,
    SHAKEN,
    Bet,
    State,
)


def fold(state: State, fact: Fact) -> State:
    """Return the state after a recorded fact."""
    match fact:
        case BetPlaced():
            return _placed(state, fact)
        case Collected() | PaidOut():
            return _paid(state, fact)
        case RoundVoided():
            return State(state.terms, state.seats, state.bankroll, next_bet=state.next_bet)
        case _:
            return _dealt(state, fact)


def _dealt(state: State, fact: Fact) -> State:
    """Fold what the dealer did."""
    match fact:
        case CupCovered():
            shut = replace(state, presses=0, dice=(), lit=(), sealed=None, nonce=b"")
            return replace(shut, phase=COVERED)
        case HandlePressed():
            phase = SHAKEN if fact.press >= PRESSES else COVERED
            return replace(state, phase=phase, presses=fact.press)
        case DrawCommitted():
            return replace(state, sealed=Sealed(fact.commitment, fact.context))
        case DrawRevealed():
            return replace(state, nonce=fact.nonce)
        case LightSwitchedOn():
            return replace(state, phase=BETTING)
        case BellRung():
            return replace(state, phase=NO_MORE_BETS)
        case CupOpened():
            return replace(state, dice=fact.dice)
        case ThrowVoided():
            refunds = state.bets and not state.terms.carries
            return replace(state, phase=PAYING if refunds else READY, dice=(), lit=())
        case PlacesLit():
            return replace(state, phase=PAYING if state.bets else READY, lit=fact.places)
        case _:
            return state


def _placed(state: State, fact: BetPlaced) -> State:
    bet = Bet(fact.bet, fact.player, fact.place, fact.stake)
    return replace(
        state,
        bets=(*state.bets, bet),
        next_bet=fact.bet + 1,
        nets=changed(state.nets, state.terms, fact.place, fact.stake),
    )


def _paid(state: State, fact: Collected | PaidOut) -> State:
    """One bet was settled; or the table, which closes or voids a round, returned all a player's."""
    if not fact.bet:
        return _given_back(state, fact.player)
    gained = fact.amount if isinstance(fact, Collected) else -fact.winnings
    return replace(_settled(state, fact.bet), bankroll=state.bankroll + gained)


def _settled(state: State, number: int) -> State:
    """Take one bet off the layout; with the last one the round is over."""
    bets = state.bets
    at = bisect_left(bets, number, key=lambda bet: bet.number)
    if at == len(bets) or bets[at].number != number:
        return state
    over = state.phase == PAYING and len(bets) == 1
    return replace(
        state,
        phase=READY if over else state.phase,
        bets=bets[:at] + bets[at + 1 :],
        nets=changed(state.nets, state.terms, bets[at].place, -bets[at].stake),
    )


def _given_back(state: State, player: str) -> State:
    """Take all bets of a player off the layout."""
    for bet in state.bets:
        if bet.player == player:
            state = _settled(state, bet.number)
    return state
