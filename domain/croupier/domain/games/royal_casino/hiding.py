"""What of a recorded fact is not shown yet, and to whom.

A hand is a secret until it has been counted, or its round is void: the order of its deck and the
nonce that tells it to everybody, the cards dealt to a player to all whose eyes do not see them.
Hands are numbered through the life of a table, so a fact of an earlier one is known by its number.
Which card was played, captured or left is seen by all, as is what lies on the table.
"""

from __future__ import annotations

from croupier.domain.card_events import DealtCards, DeckBrought, DeckDrawn, HandDealt
from croupier.domain.events import Fact
from croupier.domain.games.protocol import Eyes
from croupier.domain.games.royal_casino.state import State

SECRETS: frozenset[type] = frozenset({DeckBrought, DeckDrawn, HandDealt})


def conceal(state: State, fact: Fact, eyes: Eyes) -> Fact:
    """Return a fact without what these eyes may not see yet, at a table that is in this state."""
    match fact:
        case DeckBrought() if fact.hand >= state.hand:
            return DeckBrought(hand=fact.hand, dealer=fact.dealer, deck=(), source=fact.source)
        case DeckDrawn() if fact.hand >= state.hand:
            return DeckDrawn(hand=fact.hand, dealer=fact.dealer, nonce=b"")
        case HandDealt() if fact.hand >= state.hand and eyes is not None:
            return _hands_concealed(fact, eyes)
        case _:
            return fact


def _hands_concealed(fact: HandDealt, eyes: frozenset[str]) -> HandDealt:
    if all(dealt.player in eyes for dealt in fact.hands):
        return fact
    hands = tuple(
        dealt if dealt.player in eyes else DealtCards(dealt.player, ()) for dealt in fact.hands
    )
    return HandDealt(hand=fact.hand, deal=fact.deal, hands=hands, table=fact.table)
