"""Every event of Royal Casino is told in a sentence, with cards by their suits."""

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
from croupier.domain.events import Collected, PaidOut
from croupier.domain.money import EVEN
from croupier.services.narration import happened
from croupier.services.narration_cards import card, cards
from croupier.services.store.mapper import payload_to_wire
from croupier.v1 import events_pb2

MACHINE = Source("device", "shuffler-7")


def told(event):
    field, name, payload = payload_to_wire(event)
    return happened(events_pb2.Event(position=1, type=name, **{field: payload}), "EUR")


BUILT = {"player": "anna", "build": 2, "value": 10}


@pytest.mark.parametrize(
    "event, said",
    [
        (
            DeckBrought(hand=3, dealer="bert", deck=("AS",), source=MACHINE),
            "bert deals hand 3, from a deck shuffled by device shuffler-7",
        ),
        (
            DeckDrawn(hand=3, dealer="bert", nonce=b"n"),
            "bert deals hand 3, from the deck committed to",
        ),
        (
            HandDealt(
                hand=3,
                deal=1,
                hands=(DealtCards("anna", ("10S", "AH")), DealtCards("bert", ())),
                table=("2C", "KD"),
            ),
            "deal 1 of hand 3: anna 10♠ A♥, bert hidden cards; on the table 2♣ K♦",
        ),
        (
            HandDealt(hand=3, deal=2, hands=(DealtCards("anna", ("QC",)),), table=()),
            "deal 2 of hand 3: anna Q♣",
        ),
        (
            CardsCaptured(player="anna", card="8S", loose=("8D", "5C"), builds=()),
            "anna captures 8♦ 5♣ with 8♠",
        ),
        (
            CardsCaptured(
                player="anna",
                card="8S",
                loose=("8D",),
                builds=(CapturedBuild(1, 8, ("6D", "2H")), CapturedBuild(4, 8, ("7D", "AH"))),
            ),
            "anna captures 8♦ and build 1 (6♦ 2♥) and build 4 (7♦ A♥) with 8♠",
        ),
        (
            BuildCreated(**BUILT, card="6S", loose=("4D",), multiple=False),
            "anna plays 6♠ and makes a build of 10 with 4♦ (build 2)",
        ),
        (
            BuildCreated(**BUILT, card="6S", loose=("4D", "10C"), multiple=True),
            "anna plays 6♠ and makes a multiple build of 10 with 4♦ 10♣ (build 2)",
        ),
        (
            BuildExtended(**BUILT, card="7S", loose=("3D",)),
            "anna adds 7♠ and 3♦ to build 2 of 10, which is multiple",
        ),
        (
            BuildExtended(**BUILT, card="10S", loose=()),
            "anna adds 10♠ to build 2 of 10, which is multiple",
        ),
        (
            BuildRaised(**BUILT, card="2S", loose=(), multiple=False),
            "anna raises build 2 to 10 with 2♠",
        ),
        (
            BuildRaised(**BUILT, card="2S", loose=("10H",), multiple=True),
            "anna raises build 2 to 10 with 2♠, taking 10♥ along",
        ),
        (CardTrailed(player="anna", card="KC"), "anna trails K♣"),
        (
            TableSwept(player="anna", card="8S"),
            "nothing is left on the table: a sweep for anna",
        ),
        (
            LeftoversTaken(player="anna", cards=("8S", "2C")),
            "anna captured last and takes what is left: 8♠ 2♣",
        ),
        (
            HandScored(
                hand=3,
                scores=(
                    SideScore(0, 3, 1, 2, 0, 1, 2, 15, 24),
                    SideScore(1, 0, 0, 0, 0, 0, 0, 4, 4),
                ),
                overtime=False,
            ),
            (
                "hand 3 is counted: side 1 cards 3, spades 1, Big Casino 2, aces 1, sweeps 2, "
                "from 15 to 24; side 2 nothing, from 4 to 4"
            ),
        ),
        (
            HandScored(hand=3, scores=(SideScore(0, 0, 0, 0, 1, 0, 0, 20, 21),), overtime=True),
            (
                "hand 3 is counted: side 1 Little Casino 1, from 20 to 21; "
                "overtime, without conditions"
            ),
        ),
        (
            MatchWon(side=0, players=("anna",), rule="target"),
            "anna wins: the target is reached",
        ),
        (
            MatchWon(side=0, players=("anna", "cleo"), rule="big_casino"),
            "anna and cleo win: Big Casino, from 2 points short",
        ),
        (
            PaidOut(player="cleo", rule="big_casino", stake=100, returned=100, winnings=100),
            "cleo takes 2.00 from the pot, 1.00 of it his own: big casino",
        ),
        (
            Collected(player="bert", stake=100, odds=EVEN, amount=100, rule="ante_lost"),
            "bert loses his ante of 1.00 to the pot",
        ),
    ],
)
def test_what_happened_is_told_in_a_sentence(event, said):
    assert told(event) == said


def test_cards_have_their_suits_and_what_is_no_card_is_shown_as_it_is():
    assert cards(("10S", "AH", "2C", "KD")) == "10♠ A♥ 2♣ K♦"
    assert [card(""), card("X"), card("10Z")] == ["", "X", "10Z"]
