"""What happens at a table of cards, in words, for people. Cards are shown with their suits."""

from __future__ import annotations

from collections.abc import Iterable

from croupier.services.store.mapper import kind_of
from croupier.v1 import events_pb2

SUITS = {"S": "♠", "C": "♣", "H": "♥", "D": "♦"}

_WON_BY = {
    "most_cards": "most cards, from 3 points short",
    "big_casino": "Big Casino, from 2 points short",
    "little_casino": "Little Casino, from 1 point short",
    "most_spades": "most spades, from 1 point short",
    "target": "the target is reached",
    "overtime": "alone ahead in overtime",
}


def card(name: str) -> str:
    """Return a card: "10♠"."""
    return name[:-1] + SUITS.get(name[-1:], name[-1:])


def cards(names: Iterable[str]) -> str:
    """Return cards: "10♠ A♥"."""
    return " ".join(map(card, names))


def won_by(rule: str) -> str:
    """Return by what a match was won, "" if by no rule of a match."""
    return _WON_BY.get(rule, "")


def happened(event: events_pb2.Event) -> str:
    """Return what happened, "" if it is nothing of a table of cards.

    What was left out because it may not be seen yet, is said to be hidden.
    """
    match kind_of(event):
        case "deck_brought":
            brought = event.deck_brought
            by = f"{brought.source.kind} {brought.source.id}"
            return f"{brought.dealer} deals hand {brought.hand}, from a deck shuffled by {by}"
        case "deck_drawn":
            drawn = event.deck_drawn
            return f"{drawn.dealer} deals hand {drawn.hand}, from the deck committed to"
        case "hand_dealt":
            return _dealt(event.hand_dealt)
        case "hand_scored":
            return _scored(event.hand_scored)
        case "match_won":
            won = event.match_won
            both = " and ".join(won.players)
            return f"{both} {'win' if len(won.players) > 1 else 'wins'}: {won_by(won.rule)}"
        case _:
            return _played(event)


def _played(event: events_pb2.Event) -> str:
    match kind_of(event):
        case "cards_captured":
            return _captured(event.cards_captured)
        case "build_created":
            made = event.build_created
            of = f"of {made.value} with {_with(made.loose)}"
            many = "a multiple build" if made.multiple else "a build"
            return (
                f"{made.player} plays {card(made.card)} and makes {many} {of} (build {made.build})"
            )
        case "build_extended":
            more = event.build_extended
            beside = f" and {cards(more.loose)}" if more.loose else ""
            what = f"build {more.build} of {more.value}, which is multiple"
            return f"{more.player} adds {card(more.card)}{beside} to {what}"
        case "build_raised":
            up = event.build_raised
            beside = f", taking {cards(up.loose)} along" if up.loose else ""
            return f"{up.player} raises build {up.build} to {up.value} with {card(up.card)}{beside}"
        case "card_trailed":
            return f"{event.card_trailed.player} trails {card(event.card_trailed.card)}"
        case "table_swept":
            return f"nothing is left on the table: a sweep for {event.table_swept.player}"
        case "leftovers_taken":
            left = event.leftovers_taken
            return f"{left.player} captured last and takes what is left: {cards(left.cards)}"
        case _:
            return ""


def _with(loose: Iterable[str]) -> str:
    return cards(loose) or "nothing"


def _dealt(dealt: events_pb2.HandDealt) -> str:
    hands = [f"{one.player} {cards(one.cards) or 'hidden cards'}" for one in dealt.hands]
    table = f"; on the table {cards(dealt.table)}" if dealt.table else ""
    return f"deal {dealt.deal} of hand {dealt.hand}: {', '.join(hands)}{table}"


def _captured(taken: events_pb2.CardsCaptured) -> str:
    what = [cards(taken.loose)] if taken.loose else []
    what += [f"build {one.build} ({cards(one.cards)})" for one in taken.builds]
    return f"{taken.player} captures {' and '.join(what)} with {card(taken.card)}"


def _scored(scored: events_pb2.HandScored) -> str:
    sides = "; ".join(map(_score, scored.scores))
    overtime = "; overtime, without conditions" if scored.overtime else ""
    return f"hand {scored.hand} is counted: {sides}{overtime}"


def _score(one: events_pb2.SideScore) -> str:
    items = (
        ("cards", one.cards),
        ("spades", one.spades),
        ("Big Casino", one.big_casino),
        ("Little Casino", one.little_casino),
        ("aces", one.aces),
        ("sweeps", one.sweeps),
    )
    said = ", ".join(f"{name} {points}" for name, points in items if points) or "nothing"
    return f"side {one.side + 1} {said}, from {one.before} to {one.after}"
