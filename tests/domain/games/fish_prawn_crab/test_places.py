"""All 39 places over all 216 throws, against rules written down a second time and stated odds."""

from collections import Counter
from fractions import Fraction

import pytest

from croupier.domain.games import game_of
from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES, WAYS
from croupier.domain.games.fish_prawn_crab.odds import odds
from croupier.domain.games.fish_prawn_crab.places import PLACES, lit
from croupier.domain.games.options import resolve
from tests.support.cup import GAME, THROWS, table

CUP = game_of(GAME)
DEFAULT = resolve(CUP.options, CUP.presets, {})
STAKE = 10
COLOURS = {1: "red", 6: "red", 2: "green", 5: "green", 3: "blue", 4: "blue"}
PICTURES = ("fish", "prawn", "gourd", "coin", "crab", "rooster")
TOTALS = {4: 50, 5: 18, 6: 14, 7: 12, 8: 8, 9: 6, 10: 6}
TOTALS |= {21 - total: pays for total, pays in TOTALS.items()}


def profit(place, dice):
    """Return what 1 on a place wins with these dice, -1 if it loses; straight from the rules."""
    triple = dice[0] == dice[1] == dice[2]
    kind, _, on = place.rpartition("_")
    colours = [COLOURS[face] for face in dice]
    count = {"single_colour": 1, "double_colour": 2, "triple_colour": 3}.get(kind)
    if place in ("small", "big"):
        wins = (sum(dice) < 11) == (place == "small") and not triple
        return 1 if wins else -1
    if place == "any_triple_colour":
        return 7 if len(set(colours)) == 1 else -1
    if place == "any_triple":
        return 24 if triple else -1
    if kind == "three_armies":
        return dice.count(PICTURES.index(on) + 1) or -1
    if kind == "triple":
        return 150 if triple and PICTURES[dice[0] - 1] == on else -1
    if kind == "total":
        return TOTALS[int(on)] if sum(dice) == int(on) else -1
    return {1: 1, 2: 3, 3: 20}[count] if colours.count(on) == count else -1


def test_there_are_39_places_and_neither_total_3_nor_18():
    kinds = Counter(place.kind for place in PLACES.values())
    assert list(kinds.values()) == [1, 1, 6, 3, 3, 3, 1, 6, 1, 14]
    assert len(PLACES) == 39
    assert not {"total_3", "total_18"} & set(PLACES)


def test_the_56_outcomes_are_all_216_throws():
    assert len(OUTCOMES) == 56
    assert dict(zip(OUTCOMES, WAYS, strict=True)) == Counter(tuple(sorted(dice)) for dice in THROWS)


@pytest.mark.parametrize("dice", THROWS, ids=lambda dice: "".join(map(str, dice)))
def test_every_place_is_settled_as_the_rules_say(dice):
    at = table(seats="A", bankroll=10_000)
    before, house = at.purse_of("A"), at.house
    events = at.play_round({"A": ", ".join(f"{place} {STAKE}" for place in PLACES)}, dice)
    expected = {place: STAKE * profit(place, dice) for place in PLACES}
    settled = {event.rule: event for event in events if hasattr(event, "rule")}
    assert {
        place: one.winnings if hasattr(one, "returned") else -one.amount
        for place, one in settled.items()
    } == expected
    assert all(one.returned == STAKE for one in settled.values() if hasattr(one, "returned"))
    assert at.purse_of("A") - before == house - at.house == sum(expected.values())
    assert lit(dice) == tuple(place for place in PLACES if expected[place] > 0)


# place: n of 216, edge of the house
STATED = {
    "small": (105, Fraction(1, 36)),
    "big": (105, Fraction(1, 36)),
    "three_armies": (91, Fraction(17, 216)),
    "single_colour": (96, Fraction(1, 9)),
    "double_colour": (48, Fraction(1, 9)),
    "triple_colour": (8, Fraction(2, 9)),
    "any_triple_colour": (24, Fraction(1, 9)),
    "triple": (1, Fraction(65, 216)),
    "any_triple": (6, Fraction(11, 36)),
    **dict.fromkeys(("total_4", "total_17"), (3, Fraction(7, 24))),
    **dict.fromkeys(("total_5", "total_16"), (6, Fraction(17, 36))),
    **dict.fromkeys(("total_6", "total_15"), (10, Fraction(11, 36))),
    **dict.fromkeys(("total_7", "total_14"), (15, Fraction(7, 72))),
    **dict.fromkeys(("total_8", "total_13"), (21, Fraction(1, 8))),
    **dict.fromkeys(("total_9", "total_12"), (25, Fraction(41, 216))),
    **dict.fromkeys(("total_10", "total_11"), (27, Fraction(1, 8))),
}


def test_the_odds_of_every_place_are_those_stated():
    found = odds(DEFAULT)
    assert [one.place for one in found] == list(PLACES.values())
    for one in found:
        stated = STATED.get(one.place.kind) or STATED[one.place.id]
        assert (one.win * 216, one.edge) == stated, one.place


def test_three_armies_wins_in_three_ways_and_every_other_place_in_one():
    for one in odds(DEFAULT):
        wins = [(win.pays.profit, win.probability * 216) for win in one.wins]
        if one.place.kind == "three_armies":
            assert wins == [(1, 75), (2, 15), (3, 1)]
        else:
            assert len(wins) == 1


def test_the_odds_follow_the_table_s_own_paytable():
    """At 23 to 1 three of a named colour would have the edge of the other colour places."""
    own = resolve(CUP.options, CUP.presets, {"pays_triple_colour": 23, "pays_small": 2})
    edges = {one.place.id: one.edge for one in odds(own)}
    assert edges["triple_colour_red"] == Fraction(1, 9)
    assert edges["small"] == Fraction(1, 36) - Fraction(105, 216)  # the house would lose
    assert edges["big"] == Fraction(1, 36)
