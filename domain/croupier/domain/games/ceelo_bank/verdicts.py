"""What a throw means: for the banker, and for a player against the banker's point."""

from __future__ import annotations

from croupier.domain.games.ceelo_bank.terms import LINE_EVEN, Terms
from croupier.domain.games.ceelo_throws import (
    FOUR_FIVE_SIX,
    ONE_TWO_THREE,
    POINTS,
    TRIPLES,
    point_of,
)
from croupier.domain.settlement import LOST, PUSHED, WON

BANKER_WINS = frozenset({FOUR_FIVE_SIX, *TRIPLES, POINTS[5]})
"""4-5-6, triples and a pair with 6: the banker's automatic win."""

BANKER_LOSES = frozenset({ONE_TWO_THREE, POINTS[0]})
"""1-2-3 and a pair with 1: the banker's automatic loss."""


EQUAL_POINT = "equal_point"
"""The rule under which a push gives the stake back."""


def banker_verdict(terms: Terms, reading: str) -> tuple[str, str] | None:
    """Return result and line of every bet after an automatic result, None if there is none.

    Reversed rolls and losing triples do not concern the banker.
    """
    if reading in BANKER_WINS:
        return LOST, terms.line(reading) if terms.both_sides else LINE_EVEN
    if reading in BANKER_LOSES:
        return WON, LINE_EVEN
    return None


def player_verdict(terms: Terms, point: int, reading: str) -> tuple[str, str]:
    """Return result and line of a player's decisive reading against the banker's point."""
    if own := point_of(reading):
        result = WON if own > point else PUSHED if own == point else LOST
    elif reading in TRIPLES:
        result = LOST if terms.triples_lose else WON
    else:
        result = WON if reading == terms.player_win else LOST
    if result == WON:
        return result, terms.line(reading)
    return result, LINE_EVEN if result == LOST else ""


def rule_of(result: str, reading: str, *, by_banker: bool) -> str:
    """Return the name of the rule under which a bet is settled."""
    if by_banker:
        return "banker_automatic_loss" if result == WON else "banker_automatic_win"
    if result == PUSHED:
        return EQUAL_POINT
    if point_of(reading):
        return "higher_point" if result == WON else "lower_point"
    return "triples" if reading in TRIPLES else reading
