"""What is told of events: sentences, whatever the game."""

from __future__ import annotations

import base64
import json

from croupier.domain.event import (
    EVENTS,
)
from croupier.services.narration import happened
from croupier.v1 import events_pb2
from tests.golden.scenario import LOG

TOLD = {
    "pot1 shoot-out": "shoot-out 1: anna and bert share the best throw, point 5; "
    "only they throw again",
    "pot1 loss": "anna loses his ante of 6.00 to the pot",
    "pot1 win": "bert takes 15.00 from the pot, 6.00 of it his own: the best throw",
    "pot2 win": "bert takes 9.00 from the pot, 3.00 of it his own: "
    "4-5-6, which ends the round at once",
    "pot2 opening": "table pot2 opens: ceelo_pot (standard) in EUR; "
    "seats clockwise anna, bert, cleo",
    "t1 opening": "table t1 opens: ceelo_bank (finnish) in EUR; "
    "seats clockwise anna, bert, cleo; anna banks",
    "casino4 opening": "table casino4 opens: royal_casino (standard) in EUR; "
    "seats in play order anna, bert, cleo, dora",
    "bank": "bert loses 30.00 to the bank: lower point, 1 to 1",
}


def told():
    """Return the kind and the telling of every event of the golden log."""
    for line in LOG.read_text().splitlines():
        event = events_pb2.Event.FromString(base64.b64decode(json.loads(line)["state"]))
        yield event.type, happened(event, "EUR")


def test_every_kind_of_event_is_told_in_a_sentence_without_names_of_the_program():
    kinds = set()
    for kind, text in told():
        kinds.add(kind)
        assert " " in text
        assert text.strip() == text
        if not kind.endswith(".TableOpened"):
            assert "_" not in text, text
    assert kinds == set(EVENTS)


def test_a_pot_is_told_as_players_would():
    sentences = {text for _, text in told()}
    assert {name: text for name, text in TOLD.items() if text not in sentences} == {}
