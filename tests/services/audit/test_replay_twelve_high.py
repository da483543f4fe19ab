"""Replay of Two Alike 12 High: what a throw comes to is recomputed, and any change is found."""

from __future__ import annotations

import pytest

from croupier.services.audit.replay import Replay
from tests.services.audit.test_replay import as_stored, findings
from tests.support.twelve_high import race, table

HOUSE = {"house_rule": True}


def stored(at):
    return [as_stored(event, version) for version, event in enumerate(at.events, 1)]


def played():
    """Return a stream with every automatic fact of the game."""
    at = table("ABCD", **HOUSE)
    at.ante()
    at.throws("3 3 5 1 6 2 114 456")
    at.choose_death_roll("B")
    at.throws("555 666 444 651 124 123 333 441")
    assert at.won == "B last_player_left"
    at.close()
    return stored(at)


AUTOMATIC = (
    "places_tied",
    "rolling_order_settled",
    "game_round_started",
    "points_added",
    "dice_passed",
    "house_option_offered",
    "death_roll_started",
    "death_roll_survived",
    "eliminated",
    "death_roll_awarded",
    "race_won",
    "collected",
    "paid_out",
)


def at_of(stream, kind):
    return next(at for at, event in enumerate(stream) if event.WhichOneof("payload") == kind)


def test_what_was_recorded_by_the_rules_has_no_findings():
    replay = Replay()
    assert [found for event in played() for found in replay.fold(event)] == []
    assert replay.end() == []
    assert replay.table.closed


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_is_missing_is_found(kind):
    stream = played()
    del stream[at_of(stream, kind)]
    for version, event in enumerate(stream, 1):
        event.version = version
    assert findings(stream)


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_is_there_twice_is_found(kind):
    stream = played()
    at = at_of(stream, kind)
    stream.insert(at, stream[at])
    assert findings(stream)


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_nothing_caused_is_found(kind):
    """Between two commands, at the beginning of a turn."""
    stream = played()
    fact = stream[at_of(stream, kind)]
    before = stored(race("ABCD"))
    for version, event in enumerate([*before, fact], 1):
        event.version = version
    assert any("nothing is due" in found for found in findings([*before, fact]))


@pytest.mark.parametrize(
    "kind, field, value",
    [
        ("points_added", "points", 6),
        ("points_added", "total", 12),
        ("points_added", "player", "A"),
        ("death_roll_started", "bar", 6),
        ("death_roll_started", "award", 6),
        ("death_roll_survived", "award", 6),
        ("death_roll_survived", "bar", 1),
        ("death_roll_awarded", "total", 12),
        ("eliminated", "player", "B"),
        ("race_won", "player", "A"),
        ("race_won", "rule", "target"),
        ("paid_out", "player", "A"),
        ("paid_out", "winnings", 299),
    ],
)
def test_a_fact_that_was_changed_is_found(kind, field, value):
    stream = played()
    setattr(getattr(stream[at_of(stream, kind)], kind), field, value)
    assert findings(stream)


def test_another_rolling_order_than_was_thrown_is_found():
    stream = played()
    players = stream[at_of(stream, "rolling_order_settled")].rolling_order_settled.players
    players[0], players[1] = players[1], players[0]
    assert findings(stream)
