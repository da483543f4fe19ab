"""The list of legal moves: in a fixed order, from any place on, each made when it is asked for."""

import tracemalloc
from dataclasses import replace
from itertools import islice, pairwise

import pytest

from croupier.domain.card_commands import AddToBuild, Capture, CreateBuild, RaiseBuild, Trail
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.moves import KINDS, count_moves, kinds, legal_moves
from tests.support.capturing import FULLEST, PARTNER, add, at, capture, create, lift, trail


def test_every_move_is_listed_in_the_order_of_cards_then_kinds_then_loose_cards():
    position = at("3S 8S 2C", "5D 3D 8D", "8 bert 6D 2H")
    assert list(legal_moves(position)) == [
        capture("3S", "3D"),
        create("3S", "5D", 8),
        create("3S", "5D 8D", 8),
        add("3S", 1, "5D"),
        add("3S", 1, "5D 8D"),
        capture("8S", "8D"),
        capture("8S", "5D 3D 8D"),
        capture("8S", "8D", 1),
        capture("8S", "5D 3D 8D", 1),
        trail("2C"),
    ]


def test_raises_and_new_builds_of_several_values_are_listed():
    position = at("AS 2C 10S", "AD 8C", "9 bert 7D 2H", "8 bert 6D 2D")
    assert list(legal_moves(position)) == [
        capture("AS", "AD"),
        create("AS", "AD", 2),
        create("AS", "AD 8C", 10),
        lift("AS", 1),
        create("2C", "8C", 10),
        lift("2C", 2),
        trail("2C"),
        trail("10S"),
    ]


def test_builds_are_captured_in_every_choice_that_the_duties_leave():
    builds = ["8 bert 6D 2H", "8 anna 5D 3D", "8 carl 7D AD"]
    last = at("8S", "", *builds, partner=PARTNER)
    assert list(legal_moves(last)) == [
        capture("8S", "", 2),
        capture("8S", "", 2, 3),
        capture("8S", "", 1, 2),
        capture("8S", "", 1, 2, 3),
    ]
    spare = at("8S 8C", "", *builds, partner=PARTNER)
    captures = [move for move in legal_moves(spare) if isinstance(move, Capture)]
    assert len(captures) == 2 * 7


def test_an_empty_table_leaves_trailing_alone():
    position = at("8S 2C", "")
    assert list(legal_moves(position)) == [trail("8S"), trail("2C")]
    assert kinds(position) == ("trail",)


def test_who_holds_nothing_has_no_moves():
    assert list(legal_moves(at("", "5D 3D"))) == []
    assert count_moves(at("", "5D 3D")) == 0
    assert kinds(at("", "5D 3D")) == ()


def test_the_list_depends_on_the_position_alone():
    position = at("3S 8S AC", "5D 3D 8D AH", "8 bert 6D 2H")
    again = at("3S 8S AC", "5D 3D 8D AH", "8 bert 6D 2H")
    assert list(legal_moves(position)) == list(legal_moves(again))


@pytest.mark.parametrize(
    "position, wanted",
    [
        (at("8S", "8D"), ("capture",)),
        (at("8S", "7D"), ("trail",)),
        (at("8S", "5D 3D"), ("capture", "trail")),
        (at("8S 8C", "8D"), ("capture", "create_build")),
        (at("3S 8S", "5D"), ("create_build", "trail")),
        (at("3S 8S", "4D", "8 bert 6D 2H"), ("capture", "trail")),
        (at("3S 8S", "5D", "8 bert 6D 2H"), ("capture", "create_build", "add_to_build", "trail")),
        (at("3S JS", "", "8 bert 6D 2H"), ("raise_build", "trail")),
        (at("3S JS", "", "8 anna 6D 2H", raise_own=True), ("raise_build",)),
        (at("8S", "", "8 anna 6D 2H"), ("capture",)),
        (at("AS", "AD"), ("capture",)),
        (at("AS AC", "AD"), ("capture", "create_build")),
        (at("AS KC", "AD", "13 bert 10D 3H"), ("capture", "create_build", "trail")),
        (at("AS AC", "KD", "13 bert 10D 3H"), ("create_build", "raise_build", "trail")),
    ],
)
def test_kinds_of_moves_are_told_without_the_moves(position, wanted):
    assert kinds(position) == wanted
    names = dict(zip((Capture, CreateBuild, AddToBuild, RaiseBuild, Trail), KINDS, strict=True))
    found = {names[type(move)] for move in legal_moves(position)}
    assert tuple(kind for kind in KINDS if kind in found) == wanted


# --- pages ----------------------------------------------------------------------------------------


def test_the_list_can_be_entered_anywhere():
    position = at("3S 8S 8C AC", "5D 3D 8D AH", "8 bert 6D 2H", "8* bert 7D AD 8H")
    moves = list(legal_moves(position))
    assert len(moves) == count_moves(position) > 30
    for start in range(len(moves) + 3):
        assert list(legal_moves(position, start)) == moves[start:]


def test_a_page_of_the_longest_list_is_the_same_as_when_all_before_it_are_made():
    total = count_moves(FULLEST)
    for start in (0, 1, 1_000, total // 2, total - 7):
        page = list(islice(legal_moves(FULLEST, start), 7))
        assert page == list(islice(legal_moves(FULLEST), start, start + 7))
        for move in page:
            check(FULLEST, move)


# --- the fullest table ----------------------------------------------------------------------------


def test_the_fullest_table_has_tens_of_thousands_of_moves_each_listed_once():
    moves = list(legal_moves(FULLEST))
    assert len(moves) == len(set(moves)) == count_moves(FULLEST) == 41_335
    assert kinds(FULLEST) == ("capture", "create_build")
    for move in moves[::97]:
        check(FULLEST, move)


def test_the_longest_list_is_never_all_in_memory():
    """What is kept are sets of sets of 16 cards, 8 KB each: three dozen of them at most here."""
    next(legal_moves(FULLEST))  # tables that all positions share
    tracemalloc.start()
    try:
        listed = sum(1 for _ in legal_moves(FULLEST))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert listed == count_moves(FULLEST)
    assert peak < 1_000_000


def test_loose_cards_follow_each_other_like_digits():
    position = at("KS", "10D 3D 9D 4D 8D 5D 2D")
    masks = [
        sum(1 << position.loose.index(card) for card in move.loose)
        for move in legal_moves(position)
        if isinstance(move, Capture)
    ]
    assert len(masks) > 5
    assert all(before < after for before, after in pairwise(masks))


def test_whose_hand_it_is_changes_nothing_but_the_name():
    position = at("3S 8S AC", "5D 3D 8D AH")
    renamed = [replace(move, player="bert") for move in legal_moves(position)]
    assert list(legal_moves(replace(position, player="bert"))) == renamed
