"""The edge cases of Royal Casino, number by number, played at a table."""

import pytest

from croupier.domain.card_events import HandScored, LeftoversTaken, MatchWon, TableSwept
from croupier.domain.cards import PACK
from croupier.domain.errors import Reason
from tests.support.play import each, only
from tests.support.royal import RoyalTable, build, cards_of, last_card, move, stacked, turn

BLACK = [card for card in PACK if card[-1] in "SC"]
RED = [card for card in PACK if card[-1] in "HD"]


def piles(first, *gone, others=1):
    """Return piles in which the first side has these cards, and the others share the rest."""
    named = first.split()
    rest = [card for card in PACK if card not in named and card not in gone]
    return [named, *(rest[side::others] for side in range(others))]


def test_1_no_cards_come_to_the_table_after_the_first_deal_even_if_it_is_empty():
    at = turn("8S", "8D", last=True).arrange(stock=PACK[:8])
    *_, dealt = at.play("capture 8S 8D")
    assert (at.board.loose, at.board.builds) == ((), ())
    assert (dealt.deal, dealt.table) == (2, ())
    assert [one.cards for one in dealt.hands] == [PACK[:4], PACK[4:8]]


def test_2_both_loose_tens_are_taken_when_a_ten_captures_even_if_that_leaves_an_opponent_a_sweep():
    at = turn("10S", "10D 10C 8H 6H")
    at.illegal("capture 10S 10D", "must_take_matching")
    at = turn("10S 2C", "10D 10C 8H").arrange(
        hands=(("10S", "2C"), ("8C", "3C")), mover="A", piles=((), ())
    )
    at.illegal("capture 10S 10D", "must_take_matching")
    at.illegal("capture 10S 10C", "must_take_matching")
    assert not each(at.play("capture 10S 10D 10C"), TableSwept)
    assert only(at.play("capture 8C 8H"), TableSwept).player == "B"


def test_3_a_card_is_trailed_onto_an_opponents_build_of_its_value_but_not_onto_a_loose_card():
    assert turn("8S 2C", "KC", ["8 B 6D 2H"]).play("trail 8S")
    turn("8S 2C", "KC 8D").illegal("trail 8S", "trail_on_matching_card")


def test_4_a_nine_is_trailed_while_5_and_4_lie_loose():
    at = turn("9S 2C", "5C 4C")
    at.play("trail 9S")
    assert at.board.loose == ("5C", "4C", "9S")


def test_5_a_build_never_enters_a_sum_with_a_loose_card():
    turn("9S 2C", "2D", ["7 B 4D 3H"]).illegal("capture 9S 2D #1", "value_mismatch")
    turn("9S 2C", "2D", ["7 B 4D 3H"]).illegal("capture 9S #1", "value_mismatch")


def test_6_each_captured_card_belongs_to_one_group():
    at = turn("9S 2C", "9C 6C 3H 2D")
    at.illegal("capture 9S 9C 6C 3H 2D", "value_mismatch")
    at.play("capture 9S 9C 6C 3H")
    assert at.board.loose == ("2D",)


def test_7_what_must_be_held_is_looked_for_after_the_card_is_played():
    turn("8S 2C", "8H").illegal("create 8S 8H = 8", "no_capture_card")
    assert turn("8S 8C", "8H").play("create 8S 8H = 8")


def test_8_the_announced_value_decides_what_two_sevens_make():
    at = turn("7S AC", "7D")
    at.play("create 7S 7D = 14")
    assert at.board.builds == (build("14 A 7S 7D"),)
    at = turn("7S 7C", "7D")
    at.play("create 7S 7D = 7")
    assert at.board.builds == (build("7 A 7S 7D multiple"),)
    turn("7S 7C", "7D").illegal("create 7S 7D = 14", "no_capture_card")
    turn("7S AC", "7D").illegal("create 7S 7D = 7", "no_capture_card")


def test_9_an_owner_does_not_use_his_only_card_of_the_value_for_another_capture():
    at = turn("8C 4S", "8H", ["8 A 6D 2H"])
    at.illegal("capture 8C 8H", "keeps_capture_card")
    assert at.play("capture 8C 8H #1")


def test_10_the_owner_of_two_builds_needs_a_card_for_each():
    builds = ["8 A 6D 2H", "9 A 6C 3H"]
    at = turn("8C 9C 4S", "8H 9H", builds)
    at.illegal("capture 8C 8H", "keeps_capture_card")
    at.illegal("capture 9C 9H", "keeps_capture_card")
    at.play("capture 8C 8H #1")
    assert [one.number for one in at.board.builds] == [2]
    # Neither may the other card go meanwhile: two builds, one card for both of their values.
    turn("10C 8C 9C", "2C", builds).illegal("create 8C 2C = 10", "keeps_capture_card")


def test_11_an_owner_does_not_trail_and_a_former_owner_may():
    at = turn("8C 4S KD", "2C", ["8 A 6D 2H"])
    at.illegal("trail 4S", "owner_cannot_trail")
    at.illegal("trail KD", "owner_cannot_trail")
    at = turn("2S QC", "3C", ["10 B 6D 4H"]).arrange(hands=(("2S", "QC"), ("10S", "5S")))
    at.play("raise 2S #1")
    assert at.board.builds[0].owner == "A"
    at.play("trail 5S")


def test_12_nobody_raises_his_own_single_build_nor_anybody_a_multiple_one():
    turn("2S QC 10S", "3C", ["10 A 6D 4H"]).illegal("raise 2S #1", "own_build")
    for owner in "AB":
        at = turn("2S QC 10S", "3C", [f"10 {owner} 6D 4H 10D multiple"])
        at.illegal("raise 2S #1", "multiple_build")


def test_13_raising_uses_one_card_of_the_hand_and_no_loose_card():
    at = turn("2S KC 10C", "3C", ["8 B 6D 2H"])
    at.illegal("raise 2S 3C #1", "raise_with_table_cards")
    at.play("raise 2S #1")
    assert at.board.builds == (build("10 A 6D 2H 2S"),)
    assert at.board.loose == ("3C",)


def test_14_after_a_raise_the_owner_before_has_no_duties_left():
    at = turn("2S QC", "3C", ["10 B 6D 4H"]).arrange(hands=(("2S", "QC"), ("10S", "5S")))
    at.play("raise 2S #1")
    # He may play the card that he had to keep, even leave it.
    at.play("trail 10S")
    assert at.board.loose == ("3C", "10S")


def test_15_an_ace_raises_by_one_and_no_build_is_more_than_14():
    at = turn("AS JC", "3C", ["10 B 6D 4H"])
    at.play("raise AS #1")
    assert at.board.builds[0].value == 11
    turn("2S AC", "3C", ["13 B 10D 3H"]).illegal("raise 2S #1", "raise_above_14")
    assert turn("AS AC", "3C", ["13 B 10D 3H"]).play("raise AS #1")


def test_16_an_ace_is_one_in_a_sum_and_14_beside_it_in_the_same_build():
    at = turn("AS AD", "KD AH")
    at.play("create AS AH KD = 14")
    assert at.board.builds[0].multiple
    assert turn("AS 2C", "KD AH AC").play("capture AS KD AH AC")


def test_17_a_partners_build_is_captured_but_not_added_to():
    at = turn("8C 8S", "5C", ["8 C 6D 2H"], seats="ABCD")
    at.illegal("add 8S #1", "partners_build")
    at.play("capture 8C #1")
    assert at.board.piles[0][-3:] == ("8C", "6D", "2H")


@pytest.mark.parametrize(
    "loose, builds, swept",
    [("8D", [], True), ("8D 2D", [], False), ("8D", ["9 B 6C 3H"], False)],
    ids=["nothing is left", "a loose card is left", "a build is left"],
)
def test_18_a_sweep_leaves_nothing_at_all(loose, builds, swept):
    at = turn("8S 2C", loose, builds)
    assert bool(each(at.play("capture 8S 8D"), TableSwept)) == swept
    assert at.board.sweeps == (int(swept), 0)


def test_19_leftovers_count_for_everything_but_are_no_sweep():
    left = "10D 2S AD"
    at = last_card(piles("3S", *left.split(), "KC"), "KC", left)
    events = at.play("trail KC")
    assert only(events, LeftoversTaken) == LeftoversTaken(
        player="A", cards=("10D", "2S", "AD", "KC")
    )
    assert not each(events, TableSwept)
    mine, theirs = only(events, HandScored).scores
    assert (mine.big_casino, mine.little_casino, mine.aces, mine.sweeps) == (2, 1, 1, 0)
    assert (theirs.big_casino, theirs.little_casino, theirs.aces, theirs.cards) == (0, 0, 3, 3)
    assert cards_of(at) == sorted(PACK)


def test_20_a_tie_in_cards_gives_nobody_the_three_points():
    at = last_card([BLACK[1:], RED[:-1]], BLACK[0], RED[-1])
    taken = only(at.play(f"trail {BLACK[0]}"), HandScored).scores
    assert [one.cards for one in taken] == [3, 0]
    at = last_card([[card for card in BLACK if card not in ("KS", "KC")], RED], "KS", "KC")
    taken = only(at.play("capture KS KC"), HandScored).scores
    assert [one.cards for one in taken] == [0, 0]


def test_20_most_is_more_than_each_rival_and_not_more_than_half():
    thirds = [list(PACK[:19]), list(PACK[20:36]), list(PACK[36:])]
    at = last_card(thirds, PACK[19], seats="ABC")
    assert [one.cards for one in only(at.play(f"trail {PACK[19]}"), HandScored).scores] == [3, 0, 0]
    assert [len(pile) for pile in at.board.piles] == [20, 16, 16]


def test_21_sides_score_with_four_and_leftovers_go_to_the_side_that_captured_last():
    at = last_card(piles("3S", "10D", "KC"), "KC", "10D", seats="ABCD").arrange(capturer="C")
    events = at.play("trail KC")
    assert only(events, LeftoversTaken).player == "C"
    assert [one.side for one in only(events, HandScored).scores] == [0, 1]
    assert at.board.piles[0] == ("3S", "10D", "KC")
    assert at.state.players_of(0) == ("A", "C")
    assert at.state.players_of(1) == ("B", "D")


ACES = "AS AC AH AD"


def scored(score, mine, seats="AB", sweeps=None, **options):
    """Return the events of a hand in which the first side takes these cards and no others."""
    sides = 2 if seats == "ABCD" else len(seats)
    at = last_card(
        piles(mine, "KC", others=sides - 1),
        "KC",
        seats=seats,
        score=score,
        sweeps=sweeps,
        **options,
    )
    return at, at.play("trail KC")


def test_22_a_side_on_18_that_takes_8_points_without_most_cards_has_not_won():
    spades = "3S 4S 5S 6S 7S 8S"
    at, events = scored((18, 10), f"{ACES} 10D 2S {spades}")
    mine = only(events, HandScored).scores[0]
    assert (mine.cards, mine.spades + mine.big_casino + mine.little_casino + mine.aces) == (0, 8)
    assert not each(events, MatchWon)
    assert at.state.points == (20, 13)


def test_23_a_side_on_17_wins_by_jumping_over_the_restricted_scores():
    _, events = scored((17, 10), f"{ACES} 10D")
    assert only(events, HandScored).scores[0].after == 23
    assert only(events, MatchWon) == MatchWon(side=0, players=("A",), rule="target")


def test_24_the_automatic_win_beats_a_higher_total():
    _, events = scored((19, 17), "10D")
    first, second = only(events, HandScored).scores
    assert (first.after, second.after) == (21, 26)
    assert only(events, MatchWon) == MatchWon(side=0, players=("A",), rule="big_casino")


def test_25_restrictions_are_by_the_score_at_the_start_of_the_hand():
    """Cards count first: after them this side would stand at 18, 19 or 20, and it does not care."""
    _, events = scored((16, 0), f"{ACES} 10D")
    assert only(events, MatchWon).rule == "target"
    rest = " ".join(card for card in PACK if card not in (*ACES.split(), "10D", "KC", "QC", "2S"))
    _, events = scored((15, 0), f"{rest} 10D AS AC")
    assert only(events, HandScored).scores[0].after == 15 + 3 + 1 + 2 + 2
    assert only(events, MatchWon).rule == "target"


def test_26_sweeps_of_a_side_on_18_or_more_are_not_scored_but_cancel():
    _, events = scored((18, 10), "3H", sweeps=(3, 2))
    assert [one.sweeps for one in only(events, HandScored).scores] == [0, 0]
    _, events = scored((18, 10), "3H", sweeps=(1, 3))
    assert [one.sweeps for one in only(events, HandScored).scores] == [0, 2]
    _, events = scored((17, 10), "3H", sweeps=(3, 2))
    assert [one.sweeps for one in only(events, HandScored).scores] == [1, 0]


def test_a_whole_hand_is_played_from_a_stacked_deck():
    """Two players, the first deal: each card goes where it is said to go."""
    at = RoyalTable().dealt("8S 2C KS 5S 8C 3H 4H QD 8D 5C 3C 9D")
    assert at.board.hands == (("8S", "2C", "KS", "5S"), ("8C", "3H", "4H", "QD"))
    at.play("capture 8S 8D 5C 3C")
    assert at.board.loose == ("9D",)
    at.play("trail QD", "trail 2C")
    at.refused(move("B", "trail 2C"), Reason.CARD_NOT_IN_HAND)
    at.play("trail 3H")
    assert at.board.stock == stacked("8S 2C KS 5S 8C 3H 4H QD 8D 5C 3C 9D")[12:]
