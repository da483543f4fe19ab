"""What three dice are called, and what they do in a turn and in a Death Roll; the exact odds."""

from fractions import Fraction

import pytest

from croupier.domain.games.twelve_high.odds import class_of, classes, survival
from croupier.domain.games.twelve_high.throws import (
    THROWS,
    award_of,
    point_of,
    read,
    score_of,
    storm_score_of,
    survives,
)
from tests.support.twelve_high import dice


@pytest.mark.parametrize(
    "thrown, reading",
    [
        ("662", "point_2"),
        ("113", "point_3"),
        ("611", "point_6"),
        ("331", "point_1"),
        ("222", "trips_2"),
        ("666", "trips_6"),
        ("123", "low_storm"),
        ("234", "storm_3"),
        ("345", "storm_4"),
        ("456", "high_storm"),
        ("561", "storm_4"),
        ("612", "storm_3"),
        ("135", "nothing"),
        ("461", "nothing"),
        ("124", "nothing"),
        ("346", "nothing"),
    ],
)
def test_a_throw_has_one_reading_in_any_order_of_its_dice(thrown, reading):
    one, two, three = dice(thrown)
    for turned in ((one, two, three), (three, one, two), (two, one, three), (three, two, one)):
        assert read(turned) == reading


def test_the_classes_of_the_216_throws_are_those_of_the_rules():
    assert classes() == {
        "point": 90,
        "trips": 6,
        "storm": 24,
        "high_storm": 6,
        "low_storm": 6,
        "nothing": 84,
    }


@pytest.mark.parametrize("bar, ways", [(1, 42), (2, 35), (3, 22), (4, 9), (5, 2), (6, 1)])
def test_the_chance_to_survive_a_death_roll_is_that_of_the_rules(bar, ways):
    assert survival(bar) == Fraction(ways, 216)


def test_a_storm_score_is_the_sum_of_the_dice_divided_by_three():
    storms = [thrown for thrown in THROWS if "storm" in read(thrown)]
    assert len(storms) == 36
    for thrown in storms:
        assert storm_score_of(read(thrown)) * 3 == sum(thrown)
    assert all(storm_score_of(read(thrown)) == 0 for thrown in THROWS if thrown not in storms)


def test_only_the_odd_die_beside_a_pair_is_a_point():
    for thrown in THROWS:
        odd = [die for die in thrown if thrown.count(die) == 1]
        assert point_of(read(thrown)) == (odd[0] if len(odd) == 1 else 0)


def test_trips_match_the_bar_and_storms_are_strictly_above_it():
    for bar in range(1, 7):
        for thrown in THROWS:
            reading = read(thrown)
            if class_of(reading) == "trips":
                assert survives(reading, bar) == (thrown[0] >= bar)
            elif "storm" in reading:
                assert survives(reading, bar) == (sum(thrown) > 3 * bar)
            else:
                assert not survives(reading, bar)


def test_a_survivor_s_award_is_his_own_digit_or_his_storm_score():
    assert [award_of(read(dice(thrown))) for thrown in ("555", "345", "456", "123")] == [5, 4, 5, 2]


def test_only_points_and_plain_storms_score_in_a_turn_and_storms_only_where_the_table_plays_so():
    seen = {class_of(read(t)): set() for t in THROWS}
    for thrown in THROWS:
        reading = read(thrown)
        both = [score_of(reading, storm_scores=scores) for scores in (True, False)]
        seen[class_of(reading)].add(tuple(both))
    assert seen["point"] == {(face, face) for face in range(1, 7)}
    assert seen["nothing"] == seen["trips"] == {(0, 0)}
    assert seen["storm"] == {(3, 0), (4, 0)}
