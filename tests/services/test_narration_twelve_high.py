"""Every event of Two Alike 12 High is told in a sentence; Storms and Death Rolls by name."""

from __future__ import annotations

import pytest

from croupier.domain.dice import Source
from croupier.domain.events import (
    Collected,
    PaidOut,
    Rolled,
)
from croupier.domain.money import EVEN
from croupier.domain.race_events import (
    DeathRollStarted,
    DeathRollSurvived,
    Eliminated,
    HouseOptionChosen,
    RaceWon,
)
from croupier.services.narration import happened
from croupier.services.store.mapper import payload_to_wire
from croupier.v1 import events_pb2
from tests.support.twelve_high import race, table

KIM = Source("dealer", "kim")


def told(event):
    field, name, payload = payload_to_wire(event)
    return happened(events_pb2.Event(position=1, type=name, **{field: payload}), "EUR")


def rolled(reading, *dice):
    return Rolled(player="anna", dice=dice, source=KIM, reading=reading)


@pytest.mark.parametrize(
    "event, said",
    [
        (rolled("order_4", 4), "anna throws ⚃ 4: 4 for the rolling order (read by dealer kim)"),
        (rolled("storm_4", 3, 4, 5), "anna throws ⚂⚃⚄ 3-4-5: a Storm of 4 (read by dealer kim)"),
        (rolled("high_storm", 4, 5, 6), "anna throws ⚃⚄⚅ 4-5-6: High Storm (read by dealer kim)"),
        (rolled("low_storm", 1, 2, 3), "anna throws ⚀⚁⚂ 1-2-3: Low Storm (read by dealer kim)"),
        (rolled("trips_2", 2, 2, 2), "anna throws ⚁⚁⚁ 2-2-2: trips, three 2s (read by dealer kim)"),
        (
            DeathRollStarted(player="anna", bar=4, award=4),
            (
                "Death Roll: trips of 4 or more, or a Storm above 4; "
                "who throws neither is out, anna is safe"
            ),
        ),
        (
            DeathRollSurvived(player="bert", award=5, bar=4),
            "bert survives the Death Roll: 5 points when the next round starts",
        ),
        (Eliminated(player="bert", rule="low_storm"), "bert is out with a Low Storm"),
        (Eliminated(player="bert", rule="death_roll"), "bert is out by the Death Roll"),
        (HouseOptionChosen(player="anna", choice="win"), "anna chooses the win"),
        (HouseOptionChosen(player="anna", choice="death_roll"), "anna chooses the Death Roll"),
        (RaceWon(player="anna", rule="high_storm"), "anna wins the game: a High Storm"),
        (RaceWon(player="anna", rule="target"), "anna wins the game: the target is reached"),
        (
            Collected(player="bert", stake=700, odds=EVEN, amount=700, rule="ante_lost"),
            "bert loses his ante of 7.00 to the pot",
        ),
        (
            PaidOut(player="anna", rule="target", stake=700, returned=700, winnings=1400),
            "anna takes 21.00 from the pot, 7.00 of it his own: the target is reached",
        ),
    ],
)
def test_an_event_is_told_in_a_sentence(event, said):
    assert told(event) == said


def test_no_event_of_a_game_is_told_by_its_name_alone():
    at = table("ABCD", house_rule=True)
    at.ante()
    at.throws("3 3 5 1 6 2 114 456")
    at.choose_death_roll("B")
    at.throws("555 666 444 651 124 123 333 441")
    for event in at.events:
        field, _, _ = payload_to_wire(event)
        assert told(event) != field.replace("_", " ")


def test_a_table_without_a_bank_is_not_told_to_have_a_banker():
    assert "banks" not in told(race("AB").events[0])
