"""Royal Casino with any options, decks and moves: every card is somewhere, and so is the money."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CardsCaptured,
    CardTrailed,
    DeckBrought,
    DeckDrawn,
    HandScored,
    MatchWon,
    TableSwept,
)
from croupier.domain.cards import PACK, rank_of
from croupier.domain.events import PaidOut
from croupier.domain.games.royal_casino.board import sides_of
from croupier.domain.table import automatic, fold
from croupier.services.store.snapshots import from_bytes, table_from_json, table_to_json, to_bytes
from tests.support.play import each
from tests.support.royal import RoyalTable, any_move, shuffled

PLAYED = CardsCaptured | BuildCreated | BuildExtended | BuildRaised | CardTrailed
VALUES = {"A": 14, "J": 11, "Q": 12, "K": 13} | {str(pip): pip for pip in range(2, 11)}
WHOLE = sorted(PACK)

SEATS = st.sampled_from(["AB", "ABC", "ABCD"])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "ante": st.integers(1, 10_000),
        "target": st.sampled_from([4, 11, 21, 40]),
        "direction": st.sampled_from(["clockwise", "counter_clockwise"]),
        "win_at_20": st.sampled_from(["little_casino", "most_spades"]),
        "near_target_scoring": st.sampled_from(["accumulate_cap20", "frozen"]),
        "double_auto": st.sampled_from(["overtime", "scoring_order"]),
        **{
            name: st.booleans()
            for name in (
                "all_matching",
                "partner_add",
                "partner_raise",
                "raise_own",
                "raise_absorbs",
                "same_value_builds",
                "final_sweep",
            )
        },
    },
)
HANDS_MAX = 200
"""No match here is longer; a target of 40 with 11 points and more a hand is far below."""


def check_cards(at):
    """Check that all cards of a hand are somewhere, each once, and every owner can keep his build.

    Between the deck and the last card that is; before the first hand there are none.
    """
    board = at.board
    if not board.number:
        return
    assert sorted(board.cards) == WHOLE
    for build in board.builds:
        hand = board.hands[at.seats.index(build.owner)]
        assert build.value in [VALUES[rank_of(card)] for card in hand]
        assert len(build.cards) >= 2
    assert [one.number for one in board.builds] == sorted({one.number for one in board.builds})
    assert all(build.number < board.next_build for build in board.builds)


def check_score(at, fact):
    """Check what a hand distributed: 11 points but for ties, and the sweeps made beside them."""
    piles = at.board.piles
    spades = [sum(card[-1] == "S" for card in pile) for pile in piles]
    least = 11
    if [len(pile) for pile in piles].count(max(map(len, piles))) > 1:
        least -= 3
    if spades.count(max(spades)) > 1:
        least -= 1
    items = ("cards", "spades", "big_casino", "little_casino", "aces")
    assert sum(getattr(one, item) for one in fact.scores for item in items) == least
    assert sum(one.sweeps for one in fact.scores) <= max(at.board.sweeps)
    assert [one.side for one in fact.scores] == [*range(sides_of(len(at.seats)))]
    assert all(one.before <= one.after for one in fact.scores)


def play_hand(at, chance):
    """Play a hand from its deck to its count, and check every step."""
    events = list(at.deal(None if at.state.sealed else shuffled(chance.random())))
    while at.state.phase == "TURN":
        check_cards(at)
        assert at.board.hands[at.board.turn], "whose turn it is, holds a card"
        events += at.do(any_move(at, chance))
    check_cards(at)
    (fact,) = each(events, HandScored)
    check_score(at, fact)
    assert (at.board.builds, at.board.loose, at.board.stock) == ((), (), ())
    assert len([one for one in events if isinstance(one, PLAYED)]) == 48
    swept = len(each(events, TableSwept))
    assert swept == sum(at.board.sweeps)


def play_match(at, chance):
    """Play a match and check that the winners have the pot and all others lost their antes."""
    before, number = at.worths(), at.table.round
    if chance.random() < 0.5:
        at.shuffle()
    at.ante()
    for _ in range(HANDS_MAX):
        if not at.table.in_round:
            break
        if not at.state.sealed and at.state.played and chance.random() < 0.5:
            at.shuffle()
        play_hand(at, chance)
    assert (at.table.round, at.table.at_risk) == (number + 1, 0)
    ante, winners = at.state.terms.ante, at.state.winners
    lost = len(at.seats) - len(winners)
    assert {who: worth - before[who] for who, worth in at.worths().items()} == {
        seat: ante * lost // len(winners) if seat in winners else -ante for seat in at.seats
    }


def check_replay(at):
    """Check that the events alone give every state, and that a snapshot holds each."""
    again = None
    for event, seen in zip(at.events, at.history, strict=True):
        again = fold(again, event)
        assert again == seen
    for seen in at.history[::29]:
        assert table_from_json(from_bytes(to_bytes(table_to_json(seen)))) == seen


@pytest.mark.parametrize("seats", ["AB", "ABC", "ABCD"])
@pytest.mark.parametrize("seed", range(3))
def test_whole_matches_conserve_cards_points_and_money(seats, seed):
    at, chance = RoyalTable(seats=seats), random.Random(f"{seats} {seed}")
    for _ in range(2):
        play_match(at, chance)
    assert sum(at.balances.values()) == at.money
    check_replay(at)


@settings(deadline=None, max_examples=40)
@given(SEATS, OPTIONS, st.randoms(use_true_random=False))
def test_matches_by_any_options_conserve_cards_points_and_money(seats, options, chance):
    at = RoyalTable(seats=seats, **options)
    play_match(at, chance)
    assert sum(at.balances.values()) == at.money
    check_replay(at)


@settings(deadline=None, max_examples=40)
@given(SEATS, st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_round_void_anywhere_returns_every_ante_and_nothing_more(seats, steps, chance):
    at = RoyalTable(seats=seats, purse=1_000)
    if chance.random() < 0.5:
        at.shuffle()
    at.ante(seats[: chance.randint(1, len(seats))])
    if at.state.phase == "DEAL":
        at.deal()
        for _ in range(steps):
            if at.state.phase != "TURN":
                break
            at.do(any_move(at, chance))
    if at.table.in_round:
        hand = at.state.hand
        at.void("the power failed")
        dealt = [one.hand for one in at.events if isinstance(one, DeckBrought | DeckDrawn)]
        assert at.state.hand == (hand + 1 if hand in dealt else hand)
    assert set(at.worths().values()) == {1_000} or each(at.events, MatchWon)
    assert (at.table.at_risk, automatic(at.table)) == (0, ())
    assert sum(at.balances.values()) == at.money
    assert len(each(at.events, PaidOut)) <= len(seats)


@settings(deadline=None, max_examples=25)
@given(SEATS, st.randoms(use_true_random=False))
def test_every_listed_move_is_accepted_and_moves_one_card_from_one_hand(seats, chance):
    at = RoyalTable(seats=seats)
    at.ante()
    at.deal(shuffled(chance.random()))
    for _ in range(chance.randint(0, 40)):
        at.do(any_move(at, chance))
        if at.state.phase != "TURN":
            return
    game, state = at.table.game, at.state
    for number, move in enumerate(game.moves(state)):
        if number == 80:
            break
        (fact,) = game.decide(state, move)
        after = game.fold(state, fact)
        turn = state.board.turn
        assert {*state.board.hands[turn]} - {*after.board.hands[turn]} == {move.card}
        assert after.board.turn == state.after(turn)
        assert sorted(after.board.cards) == WHOLE
        others = [hand for seat, hand in enumerate(state.board.hands) if seat != turn]
        assert [hand for seat, hand in enumerate(after.board.hands) if seat != turn] == others
