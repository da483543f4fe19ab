"""Events of card games in words, for people; cards with the symbols of their suits."""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain.cards import CLUBS, DIAMONDS, HEARTS, SPADES, rank_of, suit_of
from croupier.services.store.mapper import kind_of
from croupier.v1 import events_pb2, values_pb2

SYMBOLS = {SPADES: "♠", CLUBS: "♣", HEARTS: "♥", DIAMONDS: "♦"}

WON = {
    "most_cards": "most cards, which wins from three points below the target",
    "big_casino": "Big Casino, which wins from two points below the target",
    "little_casino": "Little Casino, which wins from one point below the target",
    "most_spades": "most spades, which wins from one point below the target",
    "target": "the target is reached",
    "overtime": "alone ahead in overtime",
}
"""How a match is won, by the rule that is recorded."""

_ITEMS = (
    ("cards", "most cards"),
    ("spades", "most spades"),
    ("big_casino", "Big Casino"),
    ("little_casino", "Little Casino"),
    ("aces", "aces"),
    ("sweeps", "sweeps"),
)


def card(name: str) -> str:
    """Return a card with the symbol of its suit: "10S" is "10♠"."""
    return rank_of(name) + SYMBOLS.get(suit_of(name), suit_of(name))


def cards(names: Iterable[str]) -> str:
    """Return cards in the order given."""
    return " ".join(map(card, names))


def happened(event: events_pb2.Event) -> str | None:
    """Return what an event of a card game says, in one line; None where it is none of those."""
    match kind_of(event):
        case "deck_brought":
            return _deck(event.deck_brought)
        case "deck_drawn":
            return f"{event.deck_drawn.dealer} deals from the deck that was committed to"
        case "hand_dealt":
            return _dealt(event.hand_dealt)
        case "cards_captured":
            return _captured(event.cards_captured)
        case "table_swept":
            swept = event.table_swept
            return f"{swept.player} has swept the table with {card(swept.card)}"
        case "leftovers_taken":
            left = event.leftovers_taken
            return f"{left.player} captured last and gets what is left: {cards(left.cards)}"
        case "hand_scored":
            return _scored(event.hand_scored)
        case "match_won":
            won = event.match_won
            verb = "win" if len(won.players) > 1 else "wins"
            how = WON.get(won.rule, won.rule)
            return f"{' and '.join(won.players)} {verb} the match: {how}"
        case _:
            return _built(event)


def _built(event: events_pb2.Event) -> str | None:
    """Return what became of a build, or that a card was trailed."""
    match kind_of(event):
        case "build_created":
            made = event.build_created
            kind = "multiple" if made.multiple else "single"
            of = cards((made.card, *made.loose))
            return f"{made.player} makes build {made.build}, a {kind} {made.value}, of {of}"
        case "build_extended":
            added = event.build_extended
            of = cards((added.card, *added.loose))
            return f"{added.player} adds {of} to build {added.build}, a multiple {added.value}"
        case "build_raised":
            up = event.build_raised
            of = cards((up.card, *up.loose))
            return f"{up.player} raises build {up.build} to {up.value} with {of}"
        case "card_trailed":
            return f"{event.card_trailed.player} trails {card(event.card_trailed.card)}"
        case _:
            return None


def _deck(brought: events_pb2.DeckBrought) -> str:
    source: values_pb2.Source = brought.source
    return f"{brought.dealer} deals from a deck shuffled by {source.kind} {source.id}"


def _dealt(dealt: events_pb2.HandDealt) -> str:
    hands = (f"{one.player} {cards(one.cards) or 'four cards, face down'}" for one in dealt.hands)
    table = f"; on the table {cards(dealt.table)}" if dealt.table else ""
    return f"hand {dealt.hand}, deal {dealt.deal}: {', '.join(hands)}{table}"


def _captured(captured: events_pb2.CardsCaptured) -> str:
    taken = [cards(captured.loose)] if captured.loose else []
    taken += [
        f"build {one.build}, the {one.value} of {cards(one.cards)}" for one in captured.builds
    ]
    return f"{captured.player} takes {' and '.join(taken)} with {card(captured.card)}"


def _scored(scored: events_pb2.HandScored) -> str:
    sides = []
    for one in scored.scores:
        items = [f"{what} {getattr(one, name)}" for name, what in _ITEMS if getattr(one, name)]
        made = ", ".join(items) or "nothing"
        sides.append(f"side {one.side + 1} {made} ({one.before} to {one.after})")
    overtime = "; overtime" if scored.overtime else ""
    return f"hand {scored.hand} is counted: {'; '.join(sides)}{overtime}"
