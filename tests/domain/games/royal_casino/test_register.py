"""Where the source can be read in two ways: each reading that is established or agreed."""

import pytest

from croupier.domain.card_commands import Capture
from croupier.domain.card_events import HandScored, MatchWon
from croupier.domain.cards import PACK
from croupier.domain.table import fold, open_table
from tests.support.play import each, only
from tests.support.royal import GAME, build, last_card, turn


def test_r1_seats_are_in_play_order_and_the_direction_changes_nothing_in_play():
    one, other = (turn("8S 2C", "8D", direction=way) for way in ("clockwise", "counter_clockwise"))
    assert one.play("capture 8S 8D") == other.play("capture 8S 8D")
    assert one.state.mover == other.state.mover == "B"
    opened = open_table(
        table_id="t1",
        game_code=GAME,
        options={"direction": "clockwise"},
        seats=("A", "B"),
        currency="EUR",
        banker="",
    )
    assert opened.options["direction"] == "clockwise"
    assert fold(None, opened).state.terms.clockwise


@pytest.mark.parametrize("loose", ["8D 5C AH", "5D 9C", "KD AH", "AH", "AH AC", "10D 2C 2D"])
def test_r2_an_ace_captures_as_14_and_counts_one_in_a_sum(loose):
    assert turn("AS 2S", loose).play(f"capture AS {loose}")


def test_r2_aces_are_captured_alone_and_in_sums_by_one_ace():
    assert turn("AS 2S", "AH KD AC").play("capture AS AH KD AC")


@pytest.mark.parametrize("agreed", [False, True])
def test_r4_nothing_on_a_partners_build_unless_agreed(agreed):
    at = turn("8C 8S", "5C", ["8 C 6D 2H"], seats="ABCD", partner_add=agreed)
    if agreed:
        at.play("add 8C #1")
        assert at.board.builds == (build("8 A 6D 2H 8C multiple"),)
    else:
        at.illegal("add 8C #1", "partners_build")
    at = turn("2S QC", "5C", ["10 C 6D 4H"], seats="ABCD", partner_raise=agreed)
    if agreed:
        at.play("raise 2S #1")
        assert at.board.builds == (build("12 A 6D 4H 2S"),)
    else:
        at.illegal("raise 2S #1", "partners_build")


def test_r4_opponents_builds_are_added_to_and_raised_by_four_as_by_two():
    at = turn("8C 8S", "5C", ["8 B 6D 2H"], seats="ABCD")
    assert at.play("add 8C #1")
    assert turn("2S QC", "5C", ["10 D 6D 4H"], seats="ABCD").play("raise 2S #1")


def test_r5_loose_groups_join_as_a_build_is_raised_only_where_agreed():
    turn("2S QC", "QH", ["10 B 6D 4H"]).illegal("raise 2S QH #1", "raise_with_table_cards")
    at = turn("2S QC", "QH 3C", ["10 B 6D 4H"], raise_absorbs=True)
    at.illegal("raise 2S 3C #1", "value_mismatch")
    at.play("raise 2S QH #1")
    assert at.board.builds == (build("12 A 6D 4H 2S QH multiple"),)


def test_r6_all_loose_cards_of_the_rank_are_taken_or_where_agreed_one_of_them():
    turn("10S 2C", "10D 10C 8H").illegal("capture 10S 10D", "must_take_matching")
    at = turn("10S 2C", "10D 10C 8H 6H 4C", all_matching=False)
    at.illegal("capture 10S 6H 4C", "must_take_matching")
    at.play("capture 10S 10D")
    assert at.board.loose == ("10C", "8H", "6H", "4C")


@pytest.mark.parametrize("agreed", [False, True])
def test_r7_a_second_build_of_a_value_is_made_unless_agreed_otherwise(agreed):
    at = turn("6S 8C", "2D", ["8 B 6D 2H"], same_value_builds=agreed)
    if agreed:
        at.play("create 6S 2D = 8")
        assert [one.value for one in at.board.builds] == [8, 8]
    else:
        at.illegal("create 6S 2D = 8", "same_value_build")
        assert at.play("add 6S 2D #1")


def test_r12_own_single_builds_are_raised_only_where_agreed():
    turn("2S QC", "3C", ["10 A 6D 4H"]).illegal("raise 2S #1", "own_build")
    assert turn("2S QC", "3C", ["10 A 6D 4H"], raise_own=True).play("raise 2S #1")


def test_r13_a_side_near_the_target_that_misses_its_condition_has_not_won():
    for options, points in (({}, 20), ({"near_target_scoring": "frozen"}, 18)):
        aces = ["AS", "AC", "AH", "AD", "10D", "2S"]
        rest = [card for card in PACK if card not in (*aces, "KC")]
        at = last_card([aces, rest], "KC", score=(18, 0), **options)
        events = at.play("trail KC")
        assert not each(events, MatchWon)
        assert at.state.points[0] == points


def test_r18_the_order_of_counting_decides_no_tie():
    """Both sides come to 21; the one that has most cards, which count first, has not won by it."""
    cards = [*PACK[:26], *PACK[27:31]]
    theirs = [card for card in PACK if card not in cards]
    at = last_card([cards[:-1], theirs], cards[-1], score=(10, 17))
    first, second = only(at.play(f"trail {cards[-1]}"), HandScored).scores
    assert (first.cards, second.cards) == (3, 0)
    at = last_card([cards[:-1], theirs], cards[-1], score=(21 - total(first), 21 - total(second)))
    events = at.play(f"trail {cards[-1]}")
    assert [one.after for one in only(events, HandScored).scores] == [21, 21]
    assert not each(events, MatchWon)
    assert at.state.overtime


def total(score):
    """Return all points of a side in a hand that it began with less than 18."""
    return score.after - score.before


def test_r19_the_duties_end_when_somebody_adds_to_the_build_too():
    at = turn("8C 8S", "5C", ["8 B 6D 2H"]).arrange(hands=(("8C", "8S"), ("8H", "KS")))
    at.play("add 8C #1")
    assert at.board.builds[0].owner == "A"
    assert at.play("trail 8H")


def test_r20_an_owner_who_can_do_something_else_need_not_capture_his_build():
    at = turn("8C 5S 2S", "5D", ["8 A 6D 2H"])
    assert at.play("capture 5S 5D")
    assert at.board.builds == (build("8 A 6D 2H"),)
    at = turn("8C 4S KS", "9D", ["8 A 6D 2H"])
    assert at.view.expects == ("capture", "create_build")
    assert at.play("create 4S 9D = 13")


def test_r20_where_nothing_else_is_possible_he_captures_it():
    at = turn("8C 4S", "QD", ["8 A 6D 2H"])
    assert at.view.expects == ("capture",)
    assert [*at.moves()] == [Capture("A", "8C", (), (1,))]
