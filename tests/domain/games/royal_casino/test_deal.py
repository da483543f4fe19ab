"""Decks, deals and turns: what is dealt to whom, who plays, who deals next."""

import random

import pytest

from croupier.domain.card_commands import Deal
from croupier.domain.card_events import DeckBrought, DeckDrawn, HandDealt, HandScored
from croupier.domain.cards import PACK
from croupier.domain.cup_events import DrawCommitted, DrawRevealed
from croupier.domain.draws import deck_of
from croupier.domain.errors import Reason
from tests.support.play import each, only
from tests.support.royal import (
    MACHINE,
    SERVICE,
    RoyalTable,
    cards_of,
    nonce_of,
    sealed,
    shuffled,
)

SIZES = {"AB": 6, "ABC": 4, "ABCD": 3}
"""How often cards are dealt in a hand, by the players."""

sizes = pytest.mark.parametrize("seats, deals", SIZES.items(), ids=list(SIZES))


@sizes
def test_the_pack_comes_out_exactly(seats, deals):
    at = RoyalTable(seats=seats)
    at.ante()
    events = at.deal() + tuple(at.play_out(random.Random(1)))
    dealt = each(events, HandDealt)
    assert [one.deal for one in dealt] == [*range(1, deals + 1)]
    assert [len(one.table) for one in dealt] == [4, *[0] * (deals - 1)]
    assert all(len(hand.cards) == 4 for one in dealt for hand in one.hands)
    assert at.board.stock == ()
    assert len(each(events, HandScored)) == 1


@sizes
def test_cards_are_dealt_from_the_front_in_play_order_from_the_dealers_successor(seats, deals):
    at = RoyalTable(seats=seats, banker="A")
    at.ante()
    deck = shuffled("any")
    events = at.deal(deck) + tuple(at.play_out(random.Random(2)))
    order = (*seats[1:], "A")
    front = 0
    for one in each(events, HandDealt):
        assert tuple(hand.player for hand in one.hands) == order
        for hand in one.hands:
            assert hand.cards == deck[front : front + 4]
            front += 4
        assert one.table == (deck[front : front + 4] if one.deal == 1 else ())
        front += len(one.table)
    assert front == len(PACK)


@sizes
def test_the_dealers_successor_begins_and_turns_go_in_play_order(seats, deals):
    at = RoyalTable(seats=seats, banker="A")
    at.ante()
    at.deal()
    chance = random.Random(3)
    for turn in range(12):
        assert at.state.mover == seats[(1 + turn) % len(seats)]
        assert at.view.to_act == (at.state.mover,)
        at.do(chance.choice([*at.moves()]))


@sizes
def test_the_deal_moves_one_seat_in_play_order_after_each_hand_and_from_match_to_match(
    seats, deals
):
    at = RoyalTable(seats=seats)
    chance = random.Random(4)
    events = [event for _ in range(3) for event in at.play_match(chance)]
    dealers = [one.dealer for one in each(events, DeckBrought)]
    assert dealers[0] == seats[-1]
    assert dealers == [seats[(at - 1) % len(seats)] for at in range(len(dealers))]
    assert len(dealers) > 3
    assert at.dealer == seats[(len(dealers) - 1) % len(seats)]


def test_the_banker_that_is_named_deals_first():
    assert RoyalTable(seats="ABC", banker="B").dealer == "B"
    assert RoyalTable(seats="ABC").dealer == "C"


def test_hands_are_numbered_through_the_life_of_the_table():
    at = RoyalTable()
    chance = random.Random(5)
    events = [*at.play_match(chance), *at.play_match(chance, drawn=True), *at.play_match(chance)]
    decks = [one.hand for one in events if isinstance(one, DeckBrought | DeckDrawn)]
    assert decks == [*range(1, len(decks) + 1)]
    assert [one.hand for one in each(events, HandScored)] == decks
    assert {one.hand for one in each(events, HandDealt)} == {*decks}
    assert at.state.hand == decks[-1] + 1


# --- decks that are drawn -----------------------------------------------------------------------


def test_a_deck_is_committed_to_before_any_stake_and_revealed_when_its_hand_is_counted():
    at = RoyalTable()
    nonce = nonce_of(1)
    (committed,) = at.shuffle()
    draw = sealed(1)
    assert committed == DrawCommitted(commitment=draw.commitment, context=draw.context)
    assert (at.table.in_round, at.table.at_risk) == (False, 0)
    at.ante()
    drawn, dealt = at.deal()
    assert drawn == DeckDrawn(hand=1, dealer="B", nonce=nonce)
    assert dealt.hands[0].cards == deck_of(nonce)[:4]
    assert cards_of(at) == sorted(PACK)
    events = at.play_out(random.Random(6))
    scored = events.index(only(events, HandScored))
    assert events[scored + 1] == DrawRevealed(nonce=nonce)
    assert (at.state.sealed, at.state.nonce) == (None, b"")


def test_later_hands_are_shuffled_while_the_deal_is_waited_for():
    at = RoyalTable()
    at.ante()
    at.deal()
    at.play_out(random.Random(7))
    assert at.view.expects == ("shuffle", "deal")
    at.shuffle()
    assert at.view.expects == ("deal",)
    assert at.view.allowed[0].choices == ("draw",)
    at.deal()
    assert at.board.hands[1] == deck_of(nonce_of(2))[:4]


def test_a_deck_that_was_committed_to_is_dealt_and_no_other():
    at = RoyalTable()
    at.shuffle()
    at.ante()
    brought = Deal("B", 1, shuffled(1), MACHINE)
    refusal = at.refused(brought, Reason.NOT_OFFERED, "the_deck_is_the_one_committed_to")
    assert refusal.field == "deal.deck"
    other = Deal("B", 1, (), SERVICE, nonce_of(2))
    refusal = at.refused(other, Reason.NOT_OFFERED, "the_deck_is_the_one_committed_to")
    assert refusal.field == "deal.draw"


def test_the_commitment_is_for_its_context_too():
    """The right nonce, committed to for something else, is another draw."""
    at = RoyalTable()
    at.shuffle()
    elsewhere = sealed(2, nonce_of(1))
    assert elsewhere.commitment != sealed(1).commitment
    assert at.state.is_sealed(nonce_of(1))
    assert not at.state.is_sealed(nonce_of(2))


def test_where_nothing_was_shuffled_a_deck_is_brought():
    at = RoyalTable()
    at.ante()
    drawn = Deal("B", 1, (), SERVICE, nonce_of(1))
    refusal = at.refused(drawn, Reason.NOT_OFFERED, "no_deck_was_shuffled")
    assert refusal.field == "deal.draw"
    assert at.view.allowed[0].choices == ("deck",)
    deck = shuffled(1)
    assert at.deal(deck)[0] == DeckBrought(hand=1, dealer="B", deck=deck, source=MACHINE)


def test_a_deck_committed_to_before_a_match_outlasts_its_antes():
    at = RoyalTable()
    at.play_match(random.Random(8))
    at.shuffle()
    assert at.state.points != (0, 0)  # the last match is still to be seen
    at.ante()
    assert at.state.points == (0, 0)
    assert only(at.deal(), DeckDrawn).nonce == nonce_of(at.board.number)


# --- void rounds --------------------------------------------------------------------------------


def test_after_a_void_round_the_deck_is_forgotten_and_its_number_is_not_used_again():
    at = RoyalTable(seats="ABC")
    at.shuffle()
    at.ante()
    at.deal()
    at.play("trail " + next(one.card for one in at.moves() if type(one).__name__ == "Trail"))
    at.void("a card fell from the table")
    assert (at.state.sealed, at.state.nonce, at.state.hand) == (None, b"", 2)
    assert cards_of(at) == []
    assert at.view.expects == ("ante", "shuffle")


def test_a_hand_that_was_not_dealt_keeps_its_number_when_the_round_is_void():
    at = RoyalTable()
    at.shuffle()
    at.ante("A")
    at.void("nobody came")
    assert (at.state.hand, at.state.sealed) == (1, None)
    assert at.shuffle()


def test_a_void_match_is_as_if_it_had_never_been_so_its_first_dealer_deals_again():
    at = RoyalTable(seats="ABC")
    at.ante()
    at.deal()
    at.play_out(random.Random(9))
    assert at.dealer == "A"
    at.void("the lights went out")
    assert (at.dealer, at.state.hand, at.state.points) == ("C", 2, (0, 0, 0))
    at.ante()
    assert only(at.deal(), DeckBrought).hand == 2
