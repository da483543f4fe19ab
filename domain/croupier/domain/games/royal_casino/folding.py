"""Facts folded into state. Nothing is decided again: facts say what was played and counted."""

from __future__ import annotations

from typing import Any

from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CardsCaptured,
    CardTrailed,
    DeckBrought,
    DeckDrawn,
    HandDealt,
    HandScored,
    LeftoversTaken,
    MatchWon,
    TableSwept,
)
from croupier.domain.cards import Card
from croupier.domain.cup_events import DrawCommitted, DrawRevealed
from croupier.domain.draws import Sealed, deck_of
from croupier.domain.events import Anted, Collected, Fact, PaidOut, RoundVoided
from croupier.domain.evolve import evolve
from croupier.domain.games.royal_casino.board import Board
from croupier.domain.games.royal_casino.layout import Build
from croupier.domain.games.royal_casino.legality import MoveFact
from croupier.domain.games.royal_casino.state import (
    ANTE,
    DEAL,
    LEFTOVER,
    SCORE,
    TURN,
    WON,
    State,
)

_Changes = dict[str, Any]
"""Fields of a board, changed."""


def fold(state: State, fact: Fact) -> State:
    """Return the state after a recorded fact."""
    match fact:
        case CardTrailed() | CardsCaptured() | BuildCreated() | BuildExtended() | BuildRaised():
            return _played(state, fact)
        case TableSwept() | LeftoversTaken():
            return _taken(state, fact)
        case DeckBrought() | DeckDrawn() | HandDealt() | DrawCommitted() | DrawRevealed():
            return _dealt(state, fact)
        case HandScored():
            return _scored(state, fact)
        case MatchWon():
            return evolve(state, phase=WON, winners=fact.players, win_rule=fact.rule)
        case Anted():
            return _anted(state, fact)
        case Collected():
            held = _paid_from(state, fact.player, fact.amount)
            return evolve(state, held=held, pot=state.pot + fact.amount)
        case PaidOut():
            return _paid(state, fact)
        case RoundVoided():
            return _voided(state)
        case _:
            return state


# --- the deal -------------------------------------------------------------------------------------


def _dealt(
    state: State, fact: DeckBrought | DeckDrawn | HandDealt | DrawCommitted | DrawRevealed
) -> State:
    match fact:
        case DeckBrought():
            return evolve(state, board=_board(state, fact.hand, fact.deck))
        case DeckDrawn():
            board = _board(state, fact.hand, deck_of(fact.nonce))
            return evolve(state, board=board, nonce=fact.nonce)
        case HandDealt():
            return _handed(state, fact)
        case DrawCommitted():
            return evolve(state, sealed=Sealed(fact.commitment, fact.context))
        case DrawRevealed():
            return evolve(state, sealed=None, nonce=b"")


def _board(state: State, hand: int, deck: tuple[Card, ...]) -> Board:
    return Board.of(hand, deck, len(state.seats), state.after(state.dealer))


def _handed(state: State, fact: HandDealt) -> State:
    """Hand cards out from the front of the stock: as many as the fact names."""
    given = {dealt.player: dealt.cards for dealt in fact.hands}
    board = state.board
    count = len(fact.table) + sum(map(len, given.values()))
    board = evolve(
        board,
        deal=fact.deal,
        stock=board.stock[count:],
        hands=tuple(
            (*hand, *given.get(seat, ()))
            for seat, hand in zip(state.seats, board.hands, strict=True)
        ),
        loose=(*board.loose, *fact.table),
    )
    return evolve(state, phase=TURN, board=board)


# --- the play -------------------------------------------------------------------------------------


def _played(state: State, fact: MoveFact) -> State:
    """A card leaves a hand; the next player's turn comes, or with the last card the end."""
    board = state.board
    seat = state.seats.index(fact.player) if fact.player in state.seats else board.turn
    hands = list(board.hands)
    hands[seat] = tuple(card for card in hands[seat] if card != fact.card)
    is_last = not board.stock and not any(hands)
    match fact:
        case CardTrailed():
            lying: _Changes = {"loose": (*board.loose, fact.card), "cleared": ""}
        case CardsCaptured():
            lying = _captured(state, fact, is_last=is_last)
        case _:
            lying = _built(board, fact)
    board = evolve(board, hands=tuple(hands), turn=state.after(seat), **lying)
    if not is_last:
        return evolve(state, board=board)
    return evolve(state, board=board, phase=LEFTOVER if board.loose else SCORE)


def _captured(state: State, fact: CardsCaptured, *, is_last: bool) -> _Changes:
    """What is taken goes to the pile of the player's side, the card that took it first."""
    board, builds = state.board, state.board.builds
    if fact.builds:
        numbers = [build.build for build in fact.builds]
        builds = tuple(build for build in builds if build.number not in numbers)
    loose = _without(board.loose, fact.loose)
    taken = (fact.card, *fact.loose, *(card for build in fact.builds for card in build.cards))
    swept = not loose and not builds and (state.terms.final_sweep or not is_last)
    return {
        "loose": loose,
        "builds": builds,
        "piles": _with(state, board.piles, fact.player, taken),
        "capturer": fact.player,
        "cleared": fact.card if swept else "",
    }


def _built(board: Board, fact: BuildCreated | BuildExtended | BuildRaised) -> _Changes:
    """A build begins, or gets more cards and with them an owner."""
    cards = (fact.card, *fact.loose)
    multiple = isinstance(fact, BuildExtended) or fact.multiple
    changes: _Changes = {"loose": _without(board.loose, fact.loose), "cleared": ""}
    if isinstance(fact, BuildCreated):
        build = Build(fact.build, fact.value, cards, multiple, fact.player)
        return {**changes, "builds": (*board.builds, build), "next_build": fact.build + 1}
    builds = tuple(
        Build(one.number, fact.value, (*one.cards, *cards), multiple, fact.player)
        if one.number == fact.build
        else one
        for one in board.builds
    )
    return {**changes, "builds": builds}


def _taken(state: State, fact: TableSwept | LeftoversTaken) -> State:
    board = state.board
    if isinstance(fact, TableSwept):
        side = _side(state, fact.player)
        sweeps = tuple(count + (at == side) for at, count in enumerate(board.sweeps))
        return evolve(state, board=evolve(board, sweeps=sweeps, cleared=""))
    piles = _with(state, board.piles, fact.player, fact.cards)
    board = evolve(board, loose=_without(board.loose, fact.cards), piles=piles)
    return evolve(state, phase=SCORE, board=board)


def _side(state: State, player: str) -> int:
    return state.side_of(player) if player in state.seats else -1


def _with(
    state: State, piles: tuple[tuple[Card, ...], ...], player: str, cards: tuple[Card, ...]
) -> tuple[tuple[Card, ...], ...]:
    side = _side(state, player)
    return tuple((*pile, *cards) if at == side else pile for at, pile in enumerate(piles))


def _without(cards: tuple[Card, ...], gone: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(card for card in cards if card not in gone) if gone else cards


# --- the match and its money ----------------------------------------------------------------------


def _scored(state: State, fact: HandScored) -> State:
    """The deal passes on; what the hand came to, the scores say."""
    return evolve(
        state,
        phase=DEAL,
        scores=fact.scores,
        was_overtime=state.overtime,
        overtime=fact.overtime,
        dealer=state.after(state.dealer),
        hand=fact.hand + 1,
        played=state.played + 1,
    )


def _anted(state: State, fact: Anted) -> State:
    """The first ante begins another match, the last one calls the dealer.

    A deck that was committed to stays so.
    """
    if not state.is_open:
        sealed = state.sealed
        state = State.before(state.terms, state.seats, state.dealer, state.hand)
        state = evolve(state, sealed=sealed)
    held = tuple(
        fact.amount if seat == fact.player else held
        for seat, held in zip(state.seats, state.held, strict=True)
    )
    state = evolve(state, held=held)
    return evolve(state, phase=DEAL) if state.phase == ANTE and all(held) else state


def _paid_from(state: State, player: str, amount: int) -> tuple[int, ...]:
    """Return the antes in escrow after `amount` of a player's has left it."""
    return tuple(
        held - amount if seat == player else held
        for seat, held in zip(state.seats, state.held, strict=True)
    )


def _paid(state: State, fact: PaidOut) -> State:
    """A winner took his part of the pot, or the table returned one whole holding."""
    held = dict(zip(state.seats, state.held, strict=True)).get(fact.player)
    if fact.winnings or fact.returned == held:
        antes = _paid_from(state, fact.player, fact.returned)
        state = evolve(state, held=antes, pot=state.pot - fact.winnings)
    else:
        state = evolve(state, pot=state.pot - fact.returned)
    over = state.phase == WON and not state.holdings
    return evolve(state, phase=ANTE) if over else state


def _voided(state: State) -> State:
    """All is as before the match; but a hand whose deck was seen keeps its number."""
    hand = state.hand + 1 if state.is_brought else state.hand
    return State.before(state.terms, state.seats, state.opener, hand)
