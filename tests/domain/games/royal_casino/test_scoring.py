"""What a hand is worth, and when a match is won: every reading that the options offer."""

import pytest

from croupier.domain.cards import PACK
from croupier.domain.games import game_of
from croupier.domain.games.options import resolve
from croupier.domain.games.royal_casino.counting import Points, points_of, uncancelled
from croupier.domain.games.royal_casino.ending import (
    COUNTING,
    NOBODY,
    condition_of,
    scored,
    verdict,
)
from croupier.domain.games.royal_casino.terms import Terms
from tests.support.royal import GAME

NOTHING = Points()
CARDS = Points(cards=3)
BIG = Points(big_casino=2)
LITTLE = Points(little_casino=1)
SPADES = Points(spades=1)


def terms(**options):
    game = game_of(GAME)
    return Terms.of(resolve(game.options, game.presets, options))


def ended(before, *points, overtime=False, **options):
    """Return the scores after a hand, who won by what, and whether overtime follows."""
    agreed = terms(**options)
    fact = scored(3, before, points, overtime=overtime, terms=agreed)
    won = verdict(fact.scores, overtime=overtime, terms=agreed)
    assert won.overtime == fact.overtime
    assert fact.hand == 3
    return tuple(one.after for one in fact.scores), won.side, won.rule, fact.overtime


def on(after, *, overtime=False):
    """Return what it is if the match goes on."""
    return after, NOBODY, "", overtime


# --- counting -----------------------------------------------------------------------------------


def items(pile, rest=()):
    """Return the points for a pile, the rival having `rest`."""
    return points_of((pile, rest), (0, 0))[0]


@pytest.mark.parametrize("ace", ["AS", "AC", "AH", "AD"])
def test_each_ace_is_a_point(ace):
    assert items([ace], ["3C", "3H"]).aces == 1
    assert items([ace], ["3C", "3H"]).total == 1 + (ace == "AS")


def test_big_casino_is_two_points_and_little_casino_one():
    assert items(["10D"], ["3C", "3H"]) == Points(big_casino=2)
    assert items(["2S"], ["3C", "3H", "4S"]) == Points(little_casino=1)
    assert items(["10S", "10H", "10C", "2C", "2D", "2H"]) == Points(cards=3, spades=1)


def test_most_cards_are_three_points_and_most_spades_one():
    assert items(["3C", "4C"], ["5S"]) == Points(cards=3)
    assert items(["3S"], ["5C", "6C"]) == Points(spades=1)


def test_a_tie_in_cards_or_in_spades_gives_nobody_anything():
    one, other = points_of((["3S", "4C"], ["5S", "6C"]), (0, 0))
    assert (one, other) == (NOTHING, NOTHING)
    three = points_of((["3S", "4S"], ["5S", "6S"], ["7S", "8C"]), (0, 0, 0))
    assert three == (NOTHING,) * 3


def test_nobody_who_took_nothing_has_most_of_anything():
    assert points_of(((), ()), (0, 0)) == (NOTHING, NOTHING)


@pytest.mark.parametrize("cut", range(53))
def test_a_hand_distributes_eleven_points_or_eight_where_cards_tie(cut):
    points = points_of((PACK[:cut], PACK[cut:]), (0, 0))
    assert sum(one.total for one in points) == (8 if cut == 26 else 11)


def test_a_hand_of_three_distributes_one_less_where_spades_tie():
    spades, others = PACK[:13], PACK[13:]
    dealt = (spades[:6] + others[:20], spades[6:12] + others[20:30], spades[12:] + others[30:])
    assert sum(one.total for one in points_of(dealt, (0, 0, 0))) == 10


@pytest.mark.parametrize(
    "made, kept",
    [
        ((5, 2), (3, 0)),
        ((0, 0), (0, 0)),
        ((1, 1, 1), (0, 0, 0)),
        # Three sides with sweeps: own ones against the most that a rival has.
        ((4, 2, 1), (2, 0, 0)),
        ((2, 2, 1), (0, 0, 0)),
    ],
)
def test_own_sweeps_count_beyond_those_of_the_highest_rival(made, kept):
    assert uncancelled(made) == kept


# --- the conditions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score, condition",
    [(0, ""), (17, ""), (18, "most_cards"), (19, "big_casino"), (20, "little_casino"), (21, "")],
)
def test_what_wins_for_a_side_near_the_target(score, condition):
    assert condition_of(score, terms()) == condition
    assert condition_of(score + 9, terms(target=30)) == condition


def test_the_condition_at_20_is_little_casino_or_where_agreed_most_spades():
    assert ended((20, 0), LITTLE, SPADES) == ((21, 1), 0, "little_casino", False)
    assert ended((20, 0), SPADES, LITTLE) == on((20, 1))
    agreed = {"win_at_20": "most_spades"}
    assert ended((20, 0), SPADES, LITTLE, **agreed) == ((21, 1), 0, "most_spades", False)
    assert ended((20, 0), LITTLE, SPADES, **agreed) == on((20, 1))


@pytest.mark.parametrize(
    "before, points, rule",
    [(18, CARDS, "most_cards"), (19, BIG, "big_casino"), (20, LITTLE, "little_casino")],
)
def test_a_condition_met_wins_whatever_the_others_score(before, points, rule):
    rest = Points(cards=3, spades=1, big_casino=2, little_casino=1, aces=4, sweeps=5)
    after, side, by, overtime = ended((before, 17), points, rest)
    assert (after, side, by, overtime) == ((21, 33), 0, rule, False)


def test_a_side_that_meets_its_condition_scores_its_other_points_too_but_no_sweeps():
    many = Points(cards=3, spades=1, aces=2, sweeps=4)
    assert ended((18, 0), many, NOTHING)[0] == (24, 0)


@pytest.mark.parametrize("before", [18, 19, 20])
def test_a_side_that_misses_its_condition_stops_at_20_or_where_agreed_scores_nothing(before):
    met = {18: "cards", 19: "big_casino", 20: "little_casino"}[before]
    most = {"cards": 3, "spades": 1, "big_casino": 2, "little_casino": 1, "aces": 4, "sweeps": 9}
    missed = Points(**{**most, met: 0})
    assert ended((before, 0), missed, NOTHING) == on((20, 0))
    frozen = ended((before, 0), missed, NOTHING, near_target_scoring="frozen")
    assert frozen == on((before, 0))


def test_a_side_on_18_that_misses_counts_up_to_20_only_as_far_as_it_scores():
    assert ended((18, 0), SPADES, NOTHING) == on((19, 0))


def test_a_side_on_17_or_less_adds_its_sweeps_and_jumps_over_the_conditions():
    assert ended((17, 0), Points(sweeps=4), NOTHING) == ((21, 0), 0, "target", False)
    assert ended((17, 0), Points(aces=3), NOTHING) == on((20, 0))


def test_the_conditions_are_three_two_and_one_below_any_target():
    assert ended((8, 0), CARDS, NOTHING, target=11) == ((11, 0), 0, "most_cards", False)
    assert ended((8, 0), BIG, NOTHING, target=11) == on((10, 0))
    assert ended((18, 0), BIG, NOTHING, target=31) == on((20, 0))


# --- several at once ----------------------------------------------------------------------------


def test_of_several_past_the_target_the_higher_total_wins():
    assert ended((17, 16), Points(aces=4), Points(cards=3, big_casino=2, spades=1)) == (
        (21, 22),
        1,
        "target",
        False,
    )


def test_equal_totals_at_the_top_play_on_without_conditions():
    assert ended((17, 16), Points(aces=4), Points(cards=3, big_casino=2)) == on(
        (21, 21), overtime=True
    )
    three = ended((17, 17, 3), Points(aces=4), Points(cards=3, spades=1), BIG)
    assert three == on((21, 21, 5), overtime=True)


def test_two_conditions_met_in_one_hand_play_on_even_where_totals_differ():
    assert ended((18, 19), CARDS, BIG) == on((21, 21), overtime=True)
    more = Points(big_casino=2, aces=3)
    assert ended((18, 19), CARDS, more) == on((21, 24), overtime=True)


@pytest.mark.parametrize(
    "before, points, options, winner",
    [
        ((19, 18), (BIG, CARDS), {}, (1, "most_cards")),
        ((20, 19), (LITTLE, BIG), {}, (1, "big_casino")),
        ((20, 18), (LITTLE, CARDS), {}, (1, "most_cards")),
        ((19, 20), (BIG, SPADES), {"win_at_20": "most_spades"}, (1, "most_spades")),
        ((20, 19, 18), (LITTLE, BIG, CARDS), {}, (2, "most_cards")),
    ],
)
def test_where_agreed_the_order_of_counting_decides_between_two_conditions(
    before, points, options, winner
):
    assert list(COUNTING) == ["most_cards", "most_spades", "big_casino", "little_casino"]
    _, side, rule, overtime = ended(before, *points, double_auto="scoring_order", **options)
    assert ((side, rule), overtime) == (winner, False)
    assert ended(before, *points, **options)[1:] == (NOBODY, "", True)


def test_one_condition_alone_is_not_touched_by_the_order_of_counting():
    one = ended((20, 18), LITTLE, BIG, double_auto="scoring_order")
    assert one == ((21, 20), 0, "little_casino", False)


# --- overtime -----------------------------------------------------------------------------------


def test_overtime_knows_no_conditions_and_no_cap():
    assert ended((21, 21), BIG, CARDS, overtime=True) == ((23, 24), 1, "overtime", True)
    after = ended((22, 22, 18), BIG, BIG, Points(aces=4, cards=3), overtime=True)
    assert after == ((24, 24, 25), 2, "overtime", True)
    # Nor is anybody frozen, or wins by less than being alone ahead.
    frozen = {"near_target_scoring": "frozen"}
    assert ended((22, 22, 18), BIG, BIG, CARDS, overtime=True, **frozen) == on(
        (24, 24, 21), overtime=True
    )


def test_overtime_goes_on_without_limit_until_one_side_alone_is_ahead():
    before = (21, 21)
    for _ in range(50):
        assert ended(before, BIG, BIG, overtime=True) == on(
            (before[0] + 2, before[1] + 2), overtime=True
        )
        before = (before[0] + 2, before[1] + 2)
    assert ended(before, BIG, LITTLE, overtime=True)[1:] == (0, "overtime", True)


def test_a_side_that_is_ahead_already_wins_overtime_by_staying_so():
    assert ended((21, 24), LITTLE, NOTHING, overtime=True) == ((22, 24), 1, "overtime", True)


def test_sides_on_18_or_more_score_no_sweeps_in_overtime_either():
    swept = Points(sweeps=5)
    assert ended((21, 21), swept, LITTLE, overtime=True) == ((21, 22), 1, "overtime", True)
    assert ended((22, 22, 17), LITTLE, LITTLE, swept, overtime=True) == on(
        (23, 23, 22), overtime=True
    )
    assert ended((22, 22, 18), LITTLE, LITTLE, swept, overtime=True)[0] == (23, 23, 18)


def test_before_any_hand_nobody_has_won():
    assert verdict((), overtime=False, terms=terms()).side == NOBODY
