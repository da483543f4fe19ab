"""What follows by itself: cards dealt, sweeps, the count of a hand, the end of a match."""

from __future__ import annotations

from croupier.domain.card_events import (
    DealtCards,
    HandDealt,
    LeftoversTaken,
    MatchWon,
    TableSwept,
)
from croupier.domain.cup_events import DrawRevealed
from croupier.domain.events import Fact
from croupier.domain.games.royal_casino.board import IN_A_DEAL
from croupier.domain.games.royal_casino.counting import points_of
from croupier.domain.games.royal_casino.ending import NOBODY, scored
from croupier.domain.games.royal_casino.state import DEAL, LEFTOVER, SCORE, TURN, WON, State
from croupier.domain.settlement import LOST, TAKES, Claim, Outcome

ANTE_LOST = "ante_lost"


def follow(state: State) -> tuple[Fact, ...]:
    """Return the next fact that follows without anybody acting, or none."""
    fact = _next(state)
    return (fact,) if fact else ()


def outcome(state: State) -> Outcome | None:
    """Return what is owed: when the match is won, all antes to the winners, in equal parts."""
    if state.phase != WON or not any(state.held):
        return None
    claims = tuple(
        Claim(
            player=player,
            rule=state.win_rule if player in state.winners else ANTE_LOST,
            result=TAKES if player in state.winners else LOST,
            stake=held,
        )
        for player, held in zip(state.seats, state.held, strict=True)
    )
    return Outcome(claims)


def _next(state: State) -> Fact | None:
    board = state.board
    if board.cleared:
        return TableSwept(player=board.capturer, card=board.cleared)
    match state.phase:
        case phase if phase == TURN:
            return _dealt(state, board.deal + 1) if board.stock and board.is_dealt_out else None
        case phase if phase == LEFTOVER:
            return LeftoversTaken(player=board.capturer, cards=board.loose)
        case phase if phase == SCORE:
            points = points_of(board.piles, board.sweeps)
            terms = state.terms
            return scored(state.hand, state.points, points, overtime=state.overtime, terms=terms)
        case phase if phase == DEAL:
            return _before_a_hand(state)
        case _:
            return None


def _before_a_hand(state: State) -> Fact | None:
    """Deal the deck that was brought, or end what the last hand left open.

    A nonce that is not the one committed to makes no deck.
    """
    if state.is_brought:
        return _dealt(state, 1) if not state.nonce or state.is_sealed(state.nonce) else None
    if state.nonce:
        return DrawRevealed(nonce=state.nonce)
    won = state.verdict
    if won.side == NOBODY:
        return None
    return MatchWon(side=won.side, players=state.players_of(won.side), rule=won.rule)


def _dealt(state: State, deal: int) -> HandDealt:
    """Four cards from the front of the stock to each player in play order, then to the table."""
    stock, seats = state.board.stock, state.seats
    first = state.after(state.dealer)
    hands = tuple(
        DealtCards(seats[(first + at) % len(seats)], stock[at * IN_A_DEAL : (at + 1) * IN_A_DEAL])
        for at in range(len(seats))
    )
    at = len(seats) * IN_A_DEAL
    table = stock[at : at + IN_A_DEAL] if deal == 1 else ()
    return HandDealt(hand=state.hand, deal=deal, hands=hands, table=table)
