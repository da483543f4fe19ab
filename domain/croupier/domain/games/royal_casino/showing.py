"""The state as shown: to whoever may see all hands, those of some players, or none.

The order of the stock is shown to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from croupier.domain.games.protocol import Detail, Eyes, SeatView, View
from croupier.domain.games.royal_casino.allowed import allowed
from croupier.domain.games.royal_casino.ending import condition_of
from croupier.domain.games.royal_casino.layout import Build
from croupier.domain.games.royal_casino.state import ANTE, TURN, State

HAND_OF = "hand_of_"
"""The detail that holds a player's hand is called this and the player."""


def view(state: State, eyes: Eyes = None) -> View:
    """Return the state as these eyes may see it."""
    at_risk = dict.fromkeys(state.seats, 0)
    for holding in state.holdings:
        at_risk[holding.player] += holding.amount
    return View(
        phase=state.phase,
        allowed=allowed(state, eyes),
        seats=tuple(
            SeatView(player, at_risk[player], held, _standing(state, player, held))
            for player, held in zip(state.seats, state.held, strict=True)
        ),
        details={**_match(state, sum(at_risk.values())), **_table(state), **_hands(state, eyes)},
    )


def _match(state: State, pot: int) -> dict[str, Detail]:
    """Return what is known of the match; by side: `points`, and `conditions` while they hold."""
    free = state.overtime or bool(state.winners)
    return {
        "ante": state.terms.ante,
        "target": state.terms.target,
        "pot": pot,
        "hand": state.hand,
        "hands_played": state.played,
        "dealer": state.seats[state.dealer],
        "deck": _deck(state),
        "sides": tuple(" ".join(state.players_of(side)) for side in range(len(state.board.sweeps))),
        "points": state.points,
        "conditions": tuple(
            "" if free else condition_of(score, state.terms) for score in state.points
        ),
        "overtime": state.overtime,
        "last_hand": tuple(_scores(state)),
        "winners": state.winners,
        "win_rule": state.win_rule,
    }


def _table(state: State) -> dict[str, Detail]:
    """Return what lies open; by seat: `in_hand`; by side: `captured` and `sweeps`."""
    board = state.board
    return {
        "deal": board.deal,
        "loose": board.loose,
        "builds": tuple(_named(build) for build in board.builds),
        "turn": state.mover if state.phase == TURN else "",
        "in_hand": tuple(map(len, board.hands)),
        "stock": len(board.stock),
        "captured": tuple(map(len, board.piles)),
        "sweeps": board.sweeps,
        "last_capturer": board.capturer,
    }


def _hands(state: State, eyes: Eyes) -> dict[str, Detail]:
    seats = zip(state.seats, state.board.hands, strict=True)
    return {HAND_OF + player: hand for player, hand in seats if eyes is None or player in eyes}


def _deck(state: State) -> str:
    """Return how far the deck of the hand is: "drawn" or "brought" only while it is played."""
    if state.is_brought:
        return "drawn" if state.nonce else "brought"
    return "committed" if state.sealed is not None else "none"


def _named(build: Build) -> str:
    """Return a build in words: "1: 8 single anna 5C 3H"."""
    kind = "multiple" if build.multiple else "single"
    return f"{build.number}: {build.value} {kind} {build.owner} {' '.join(build.cards)}"


def _scores(state: State) -> Iterator[str]:
    """Yield what each side scored: "cards 3 spades 1 ... sweeps 0: 10 to 14"."""
    for one in state.scores:
        items = ("cards", "spades", "big_casino", "little_casino", "aces", "sweeps")
        said = " ".join(f"{item} {getattr(one, item)}" for item in items)
        yield f"{said}: {one.before} to {one.after}"


def _standing(state: State, player: str, held: int) -> str:
    if state.winners:
        return "won" if player in state.winners else "lost"
    if state.phase == ANTE:
        return "anted" if held else "not_anted"
    return "in"
