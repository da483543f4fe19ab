"""The end of a hand: what it adds to the scores, and whether the match is won, goes on, or how.

All is judged by the score that a side had when the hand began. A side three, two or one short of
the target can win in the hand only by its condition; by it, it wins whatever the others score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.domain.card_events import HandScored, SideScore
from croupier.domain.games.royal_casino.counting import Points
from croupier.domain.games.royal_casino.terms import Terms

MOST_CARDS = "most_cards"
MOST_SPADES = "most_spades"
BIG_CASINO = "big_casino"
LITTLE_CASINO = "little_casino"
TARGET = "target"
OVERTIME = "overtime"
"""With the conditions before them, the rules under which a match is won."""

NEAR = 3
"""A side this many points short of the target, or fewer, plays under a condition."""

COUNTING = (MOST_CARDS, MOST_SPADES, BIG_CASINO, LITTLE_CASINO)
"""The order of counting, which decides between two conditions only where the options say so."""

NOBODY = -1


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which side won the match with a hand, by which rule; `NOBODY` if it goes on.

    In `overtime` it goes on without conditions until one side alone is ahead.
    """

    side: int = NOBODY
    rule: str = ""
    overtime: bool = False


def condition_of(score: int, terms: Terms) -> str:
    """Return by what alone a side that begins a hand with this score can win, "" if by points."""
    match terms.target - score:
        case 3:
            return MOST_CARDS
        case 2:
            return BIG_CASINO
        case 1:
            return MOST_SPADES if terms.spades_win_at_20 else LITTLE_CASINO
        case _:
            return ""


def scored(
    hand: int, before: Sequence[int], points: Sequence[Points], *, overtime: bool, terms: Terms
) -> HandScored:
    """Return the count of a hand; `overtime` says whether it was played in overtime."""
    scores = tuple(
        _score(side, score, _counted(score, one, terms), overtime=overtime, terms=terms)
        for side, (score, one) in enumerate(zip(before, points, strict=True))
    )
    after = verdict(scores, overtime=overtime, terms=terms)
    return HandScored(hand=hand, scores=scores, overtime=after.overtime)


def verdict(scores: Sequence[SideScore], *, overtime: bool, terms: Terms) -> Verdict:
    """Return what a hand that was counted so comes to; `overtime` is whether it was played in it.

    It is empty where there are no scores.
    """
    if not scores:
        return Verdict()
    if not overtime:
        met = [(_met(one, terms), one.side) for one in scores if _met(one, terms)]
        if len(met) == 1 or (met and terms.scoring_order_decides):
            rule, side = min(met, key=lambda won: COUNTING.index(won[0]))
            return Verdict(side, rule)
        if met:
            return Verdict(overtime=True)
    highest = max(one.after for one in scores)
    if highest < terms.target:
        return Verdict(overtime=overtime)
    leaders = [one.side for one in scores if one.after == highest]
    if len(leaders) > 1:
        return Verdict(overtime=True)
    return Verdict(leaders[0], OVERTIME if overtime else TARGET, overtime)


def _counted(score: int, points: Points, terms: Terms) -> Points:
    """Return the points that count: a side that began near the target has none for sweeps."""
    if score < terms.target - NEAR:
        return points
    return Points(
        cards=points.cards,
        spades=points.spades,
        big_casino=points.big_casino,
        little_casino=points.little_casino,
        aces=points.aces,
    )


def _score(side: int, before: int, points: Points, *, overtime: bool, terms: Terms) -> SideScore:
    after = before + points.total
    missed = condition_of(before, terms) if not overtime else ""
    if missed and not getattr(points, _ITEMS[missed]):
        after = before if terms.frozen_near_target else min(after, terms.target - 1)
    return SideScore(
        side=side,
        cards=points.cards,
        spades=points.spades,
        big_casino=points.big_casino,
        little_casino=points.little_casino,
        aces=points.aces,
        sweeps=points.sweeps,
        before=before,
        after=after,
    )


_ITEMS = {
    MOST_CARDS: "cards",
    MOST_SPADES: "spades",
    BIG_CASINO: "big_casino",
    LITTLE_CASINO: "little_casino",
}


def _met(score: SideScore, terms: Terms) -> str:
    """Return the condition that a side met, "" if it met none."""
    condition = condition_of(score.before, terms)
    return condition if condition and getattr(score, _ITEMS[condition]) else ""
