"""Replay of Royal Casino: what follows from a deck and from cards played is recomputed."""

from __future__ import annotations

import random
from functools import cache

import pytest

from croupier.domain.card_events import LeftoversTaken, TableSwept
from croupier.services.audit.replay import Replay
from croupier.v1 import events_pb2
from tests.services.audit.test_replay import as_stored, findings
from tests.support.play import each
from tests.support.royal import RoyalTable, nonce_of, sealed

AUTOMATIC = (
    "hand_dealt",
    "table_swept",
    "leftovers_taken",
    "hand_scored",
    "draw_revealed",
    "match_won",
    "collected",
    "paid_out",
    "round_settled",
)


@cache
def recorded():
    """Return the stored stream of a match of four with drawn decks and every automatic fact."""
    for seed in range(100):
        at = RoyalTable(seats="ABCD")
        at.play_match(random.Random(seed), drawn=True)
        if each(at.events, TableSwept) and each(at.events, LeftoversTaken):
            at.close()
            return tuple(
                as_stored(event, version).SerializeToString()
                for version, event in enumerate(at.events, 1)
            )
    raise AssertionError


def played():
    return [events_pb2.Event.FromString(event) for event in recorded()]


def at_of(stream, kind, number=0):
    return [at for at, one in enumerate(stream) if one.WhichOneof("payload") == kind][number]


def numbered(stream):
    for version, event in enumerate(stream, 1):
        event.version = version
    return stream


def first(stream, kind, number=0):
    """Return the payload of the first event of a kind, or of another one."""
    return getattr(stream[at_of(stream, kind, number)], kind)


def test_what_was_recorded_by_the_rules_has_no_findings():
    replay = Replay()
    assert [found for event in played() for found in replay.fold(event)] == []
    assert replay.end() == []
    assert replay.table.closed


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_is_missing_is_found(kind):
    stream = played()
    del stream[at_of(stream, kind)]
    assert findings(numbered(stream))


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_is_there_twice_is_found(kind):
    stream = played()
    at = at_of(stream, kind)
    copy = events_pb2.Event.FromString(stream[at].SerializeToString())
    stream.insert(at, copy)
    assert findings(numbered(stream))


@pytest.mark.parametrize("kind", AUTOMATIC)
def test_a_fact_that_nothing_caused_is_found(kind):
    """Between two commands, in the middle of a hand."""
    stream = played()
    at = at_of(stream, "card_trailed", 3)
    begun = [*stream[: at + 1], stream[at_of(stream, kind)]]
    assert any("nothing is due" in found for found in findings(numbered(begun)))


def swapped(cards):
    cards[0], cards[1] = cards[1], cards[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda at: swapped(first(at, "hand_dealt").hands[0].cards),
        lambda at: swapped(first(at, "hand_dealt", 1).hands[3].cards),
        lambda at: swapped(first(at, "hand_dealt").table),
        lambda at: first(at, "hand_dealt").hands[0].MergeFrom(events_pb2.DealtCards(player="C")),
        lambda at: first(at, "hand_dealt").MergeFrom(events_pb2.HandDealt(hand=2)),
        lambda at: first(at, "hand_dealt", 1).MergeFrom(events_pb2.HandDealt(deal=1)),
        lambda at: first(at, "table_swept").MergeFrom(events_pb2.TableSwept(player="X")),
        lambda at: first(at, "table_swept").MergeFrom(events_pb2.TableSwept(card="AS")),
        lambda at: first(at, "leftovers_taken").cards.pop(),
        lambda at: first(at, "leftovers_taken").MergeFrom(events_pb2.LeftoversTaken(player="X")),
        lambda at: first(at, "hand_scored").scores.pop(),
        lambda at: first(at, "hand_scored").scores.reverse(),
        lambda at: first(at, "hand_scored").MergeFrom(events_pb2.HandScored(overtime=True)),
        lambda at: first(at, "hand_scored").MergeFrom(events_pb2.HandScored(hand=2)),
        lambda at: first(at, "match_won").players.pop(),
        lambda at: first(at, "match_won").MergeFrom(events_pb2.MatchWon(rule="by_chance")),
        lambda at: first(at, "paid_out").MergeFrom(events_pb2.PaidOut(winnings=101)),
        lambda at: first(at, "draw_revealed").MergeFrom(
            events_pb2.DrawRevealed(nonce=nonce_of(200))
        ),
    ],
    ids=range(18),
)
def test_a_fact_that_was_changed_is_found(change):
    stream = played()
    change(stream)
    assert findings(stream)


@pytest.mark.parametrize("item", range(7))
def test_a_score_that_is_one_off_is_found(item):
    items = ("cards", "spades", "big_casino", "little_casino", "aces", "sweeps", "after")
    stream = played()
    score = first(stream, "hand_scored").scores[1]
    setattr(score, items[item], getattr(score, items[item]) + 1)
    assert any("has to follow" in found for found in findings(stream))


# --- decks --------------------------------------------------------------------------------------


def test_another_nonce_than_the_one_committed_to_makes_no_deck():
    stream = played()
    first(stream, "deck_drawn").nonce = nonce_of(77)
    assert any("HandDealt where nothing is due" in found for found in findings(stream))


def test_a_deck_that_was_exchanged_together_with_its_commitment_is_found_by_what_was_dealt():
    stream = played()
    draw = sealed(1, nonce_of(77))
    committed = first(stream, "draw_committed")
    committed.commitment, committed.context = draw.commitment, draw.context
    first(stream, "deck_drawn").nonce = nonce_of(77)
    first(stream, "draw_revealed").nonce = nonce_of(77)
    assert any("has to follow" in found for found in findings(stream))


def test_another_context_than_the_one_committed_to_makes_no_deck():
    stream = played()
    first(stream, "draw_committed").context = "tables/t1/hands/2"
    assert findings(stream)


@pytest.mark.parametrize("places", [(0, 1), (20, 21), (50, 51), (3, 48)])
def test_a_brought_deck_of_which_cards_changed_places_is_found(places):
    at = RoyalTable(seats="AB")
    at.ante()
    at.deal()
    at.play_out(random.Random(1))
    stream = [as_stored(event, version) for version, event in enumerate(at.events, 1)]
    assert findings(stream) == []
    deck = first(stream, "deck_brought").deck
    one, other = places
    deck[one], deck[other] = deck[other], deck[one]
    assert findings(stream)


def test_cards_within_one_dealt_hand_may_not_change_places_either():
    stream = played()
    swapped(first(stream, "hand_dealt").hands[0].cards)
    assert findings(stream)


@pytest.mark.parametrize("deck", [[], ["AS"], ["AS"] * 52, ["XX"] * 60, [""] * 52])
def test_a_forged_deck_breaks_nothing_but_is_found(deck):
    at = RoyalTable(seats="AB")
    at.ante()
    at.deal()
    at.play_out(random.Random(1))
    stream = [as_stored(event, version) for version, event in enumerate(at.events, 1)]
    del first(stream, "deck_brought").deck[:]
    first(stream, "deck_brought").deck.extend(deck)
    assert findings(stream)


# --- cards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 5, 11])
def test_a_card_that_was_not_played_is_found_by_what_does_not_follow(number):
    """The hand that it did not come from never runs out, so nothing is dealt, or counted."""
    stream = played()
    first(stream, "card_trailed", number).card = "XX"
    assert findings(stream)


@pytest.mark.parametrize("number", [0, 3])
def test_a_capture_by_another_player_is_found(number):
    stream = played()
    taken = first(stream, "cards_captured", number)
    taken.player = "ABCD"[("ABCD".index(taken.player) + 1) % 4]
    assert findings(stream)
