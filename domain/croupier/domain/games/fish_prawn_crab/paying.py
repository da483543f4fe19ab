"""What follows by itself: a draw's dice, the winning places, and then every bet's settlement."""

from __future__ import annotations

from croupier.domain.cup_events import (
    CupOpened,
    PlacesLit,
    ThrowVoided,
)
from croupier.domain.dice import Source
from croupier.domain.draws import dice_of
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.fish_prawn_crab.dice import DICE
from croupier.domain.games.fish_prawn_crab.places import lit, verdict
from croupier.domain.games.fish_prawn_crab.state import NO_MORE_BETS, PAYING, Bet, State
from croupier.domain.settlement import LOST, RETURNED, WON, Claim, Outcome

COMMITTED = Source("service", "committed")
"""Where the dice of a draw come from that was committed to."""

THROW_VOIDED = "throw_voided"
"""The payout rule under which a void throw returns a bet, where bets are not carried."""


def follow(state: State) -> tuple[Fact, ...]:
    """Return the facts that follow without anybody acting."""
    if state.phase != NO_MORE_BETS:
        return ()
    if state.dice:
        return (PlacesLit(places=lit(state.dice)),)
    if not state.nonce:
        return ()
    if state.is_sealed(state.nonce):
        return (CupOpened(dice=dice_of(state.nonce, DICE), source=COMMITTED),)
    return (ThrowVoided(reason="this is not the draw that was committed to"),)


def outcome(state: State) -> Outcome | None:
    """Return what is owed now: of every bet, once the winning places are lit."""
    if state.phase != PAYING:
        return None
    return Outcome(tuple(claim(state, bet) for bet in state.bets), bank=state.bankroll)


def claim(state: State, bet: Bet) -> Claim:
    """Return what the dice say of one bet."""
    if not state.dice:
        return Claim(bet.player, THROW_VOIDED, RETURNED, bet.stake, bet=bet.number)
    line = verdict(bet.place, state.dice)
    result = WON if line else LOST
    return Claim(bet.player, bet.place, result, bet.stake, line=line, bet=bet.number)
