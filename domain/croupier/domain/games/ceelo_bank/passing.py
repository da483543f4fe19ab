"""What follows by itself: fading closes, and after all bets the bank stays or passes."""

from __future__ import annotations

from croupier.domain.events import (
    BankDecided,
    Fact,
    FadingClosed,
)
from croupier.domain.games.ceelo_bank.state import FADING, NO_ACTION, SETTLE, State
from croupier.domain.games.ceelo_bank.verdicts import rule_of
from croupier.domain.settlement import WON, Claim, Outcome

BROKEN = "broken"
HOT = "hot"
RETAINED = "retained"
CHOICE = "choice"
NOBODY_FADED = "no_action"


def follow(state: State) -> tuple[Fact, ...]:
    """Return the facts that follow without anybody acting."""
    if state.phase == FADING and not (state.uncovered and state.next_offer):
        return (FadingClosed(faded=state.faded, uncovered=state.uncovered),)
    if state.phase == NO_ACTION:
        passes = state.terms.zero_fade_passes
        next_banker = state.left_neighbour if passes else state.banker
        return (_bank_decided(state, next_banker, NOBODY_FADED),)
    if state.phase == SETTLE:
        return (_bank_decided(state, *_next_banker(state)),)
    return ()


def outcome(state: State) -> Outcome | None:
    """Return what is owed now: to a banker at once, of bets when all of them are decided."""
    if state.due:
        return Outcome(state.due)
    if state.phase != SETTLE or not any(bet.held for bet in state.bets):
        return None
    claims = tuple(
        Claim(
            player=bet.player,
            rule=rule_of(bet.result, bet.reading, by_banker=bet.by_banker),
            result=bet.result,
            stake=bet.stake,
            reserve=bet.reserve,
            line=bet.line,
        )
        for bet in state.bets
    )
    return Outcome(claims, bank=state.bank, reserve=state.reserve)


def _next_banker(state: State) -> tuple[str, str]:
    """Return who banks next, "" where the banker has to choose, and by which rule.

    A push means that not every player won. After an automatic result nobody has thrown, so
    nobody is hot.
    """
    terms, bets = state.terms, state.bets
    broken = all(bet.result == WON for bet in bets)
    if broken and bets[0].by_banker and terms.auto_loss_choice:
        return "", CHOICE
    hot = next(
        (
            bet.player
            for bet in bets
            if bet.result == WON and not bet.by_banker and terms.is_hot(bet.reading)
        ),
        "",
    )
    if hot and (terms.hot_first or not broken):
        return hot, HOT
    if broken:
        return state.left_neighbour, BROKEN
    return state.banker, RETAINED


def _bank_decided(state: State, next_banker: str, rule: str) -> BankDecided:
    left = state.bank
    carries = state.terms.carries and next_banker == state.banker
    return BankDecided(
        banker=state.banker,
        bank_left=left,
        carried=left if carries else 0,
        next_banker=next_banker,
        rule=rule,
    )
