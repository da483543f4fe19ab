"""Every event of a card game is told in a sentence, with the cards by their symbols."""

from __future__ import annotations

import pytest

from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CapturedBuild,
    CardsCaptured,
    CardTrailed,
    DealtCards,
    DeckBrought,
    DeckDrawn,
    HandDealt,
    HandScored,
    LeftoversTaken,
    MatchWon,
    SideScore,
    TableSwept,
)
from croupier.domain.dice import Source
from croupier.services.narration import happened
from croupier.services.store.mapper import payload_to_wire
from croupier.v1 import events_pb2

FOUR_ONE = CapturedBuild(4, 11, ("9S", "2H"))
ANNA = DealtCards("anna", ("AS", "10H"))
UNSEEN = DealtCards("bert", ())


def scored(*, overtime):
    first = SideScore(0, 3, 1, 2, 0, 2, 0, before=10, after=18)
    second = SideScore(1, 0, 0, 0, 0, 0, 0, before=7, after=7)
    return HandScored(hand=3, scores=(first, second), overtime=overtime)


def captured(loose, builds):
    return CardsCaptured(player="anna", card="JD", loose=loose, builds=builds)


def built(multiple):
    return BuildCreated(
        player="anna", build=4, value=9, card="9S", loose=("5H", "4C"), multiple=multiple
    )


TOLD = [
    (
        DeckBrought(hand=1, dealer="anna", deck=("AS",), source=Source("device", "s1")),
        "anna deals from a deck shuffled by device s1",
    ),
    (
        DeckDrawn(hand=1, dealer="anna", nonce=b"n"),
        "anna deals from the deck that was committed to",
    ),
    (
        HandDealt(hand=2, deal=1, hands=(ANNA, UNSEEN), table=("2C", "KD")),
        "hand 2, deal 1: anna A♠ 10♥, bert four cards, face down; on the table 2♣ K♦",
    ),
    (HandDealt(hand=2, deal=3, hands=(ANNA,), table=()), "hand 2, deal 3: anna A♠ 10♥"),
    (captured(("JC",), ()), "anna takes J♣ with J♦"),
    (captured((), (FOUR_ONE,)), "anna takes build 4, the 11 of 9♠ 2♥ with J♦"),
    (captured(("JC",), (FOUR_ONE,)), "anna takes J♣ and build 4, the 11 of 9♠ 2♥ with J♦"),
    (built(multiple=True), "anna makes build 4, a multiple 9, of 9♠ 5♥ 4♣"),
    (built(multiple=False), "anna makes build 4, a single 9, of 9♠ 5♥ 4♣"),
    (
        BuildExtended(player="bert", build=4, value=9, card="7S", loose=("2H",)),
        "bert adds 7♠ 2♥ to build 4, a multiple 9",
    ),
    (
        BuildRaised(player="bert", build=4, value=12, card="3S", loose=(), multiple=False),
        "bert raises build 4 to 12 with 3♠",
    ),
    (CardTrailed(player="bert", card="QH"), "bert trails Q♥"),
    (TableSwept(player="bert", card="QH"), "bert has swept the table with Q♥"),
    (
        LeftoversTaken(player="bert", cards=("QH", "2D")),
        "bert captured last and gets what is left: Q♥ 2♦",
    ),
    (
        scored(overtime=False),
        (
            "hand 3 is counted: side 1 most cards 3, most spades 1, Big Casino 2, aces 2 "
            "(10 to 18); side 2 nothing (7 to 7)"
        ),
    ),
    (
        MatchWon(side=0, players=("anna", "cleo"), rule="target"),
        "anna and cleo win the match: the target is reached",
    ),
    (
        MatchWon(side=0, players=("anna",), rule="big_casino"),
        "anna wins the match: Big Casino, which wins from two points below the target",
    ),
]


def told(event):
    field, name, payload = payload_to_wire(event)
    return happened(events_pb2.Event(position=1, type=name, **{field: payload}), "EUR")


@pytest.mark.parametrize("event, said", TOLD)
def test_an_event_is_told_in_one_sentence(event, said):
    assert told(event) == said


def test_a_match_that_goes_on_without_conditions_says_so():
    assert told(scored(overtime=True)).endswith("; overtime")
