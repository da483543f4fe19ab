"""Every rule that a move can break, which of several is reported, and the options' readings."""

import re

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.move_rules import MOVE_RULES
from tests.support.capturing import PARTNER, add, at, capture, create, judged, lift, trail

BERTS_8 = "8 bert 6D 2H"
MULTIPLE_8 = "8* bert 8D 6D 2H"
ANNAS_8 = "8 anna 6D 2H"
CARLS_8 = "8 carl 6D 2H"


NUMBER_OR_CARD = re.compile(r"-?\d+[SCHD]?|\b[AJQK][SCHD]\b")


def refusal(position, move):
    verdict = judged(position, move)
    assert isinstance(verdict, Refused)
    return verdict


def is_legal(position, move):
    return not isinstance(judged(position, move), Refused)


BROKEN = [
    (at("8S"), capture("8S"), "nothing_captured", "capture.loose"),
    (at("8S 8C"), create("8S", "", 8), "no_table_cards", "create_build.loose"),
    *(
        (at("8S 8C", "8D"), create("8S", "8D", value), "value_out_of_range", "create_build.value")
        for value in (-8, 0, 1, 15, 16, 2**62)
    ),
    (at("2S 10S", "", MULTIPLE_8), lift("2S"), "multiple_build", "raise_build.build"),
    (at("2S 10S 8S", "", ANNAS_8), lift("2S"), "own_build", "raise_build.build"),
    (
        at("2S 10S", "", CARLS_8, partner=PARTNER),
        lift("2S"),
        "partners_build",
        "raise_build.build",
    ),
    (
        at("8S 8C", "", CARLS_8, partner=PARTNER),
        add("8S"),
        "partners_build",
        "add_to_build.build",
    ),
    (
        at("2S 10S", "10D", BERTS_8),
        lift("2S", 1, "10D"),
        "raise_with_table_cards",
        "raise_build.loose",
    ),
    (at("7S AS", "", BERTS_8), lift("7S"), "raise_above_14", "raise_build.card"),
    (at("8S", "5D"), capture("8S", "5D"), "value_mismatch", "capture.loose"),
    (at("9S", "", BERTS_8), capture("9S", "", 1), "value_mismatch", "capture.builds"),
    (at("8S 9S", "2D"), create("8S", "2D", 9), "value_mismatch", "create_build.loose"),
    (at("7S 8S", "", BERTS_8), add("7S"), "value_mismatch", "add_to_build.loose"),
    (
        at("2S 10S", "9D", BERTS_8, raise_absorbs=True),
        lift("2S", 1, "9D"),
        "value_mismatch",
        "raise_build.loose",
    ),
    (at("8S", "8D 5D 3D"), capture("8S", "5D 3D"), "must_take_matching", "capture.loose"),
    (
        at("5S 8S", "3D", BERTS_8, same_value_builds=False),
        create("5S", "3D", 8),
        "same_value_build",
        "create_build.value",
    ),
    (
        at("2S 10S", "", BERTS_8, "10 bert 7D 3D", same_value_builds=False),
        lift("2S"),
        "same_value_build",
        "raise_build.card",
    ),
    (at("5S 9S", "3D"), create("5S", "3D", 8), "no_capture_card", "create_build.value"),
    (at("8S 9S", "", BERTS_8), add("8S"), "no_capture_card", "add_to_build.card"),
    (at("2S 9S", "", BERTS_8), lift("2S"), "no_capture_card", "raise_build.card"),
    (at("8S", "5D 3D", ANNAS_8), capture("8S", "5D 3D"), "keeps_capture_card", "capture.card"),
    (
        at("8S JS", "3D", ANNAS_8),
        create("8S", "3D", 11),
        "keeps_capture_card",
        "create_build.card",
    ),
    (
        at("8S JS", "3D", ANNAS_8, "11 bert 7D 4D"),
        add("8S", 2, "3D"),
        "keeps_capture_card",
        "add_to_build.card",
    ),
    (
        at("8S JS", "", ANNAS_8, "3 bert 2D AD"),
        lift("8S", 2),
        "keeps_capture_card",
        "raise_build.card",
    ),
    (at("8S 2C", "", ANNAS_8), trail("2C"), "owner_cannot_trail", "trail.card"),
    (at("8S", "8C"), trail("8S"), "trail_on_matching_card", "trail.card"),
]


@pytest.mark.parametrize("position, move, rule, field", BROKEN)
def test_a_move_that_breaks_one_rule_is_refused_with_its_name(position, move, rule, field):
    found = refusal(position, move)
    assert (found.reason, found.metadata["rule"]) == (Reason.ILLEGAL_MOVE, rule)
    assert found.field == field


@pytest.mark.parametrize("position, move, rule, field", BROKEN)
def test_what_a_refusal_mentions_it_also_says_to_programs(position, move, rule, field):
    found = refusal(position, move)
    known = {part for value in found.metadata.values() for part in value.split(",")}
    assert {*NUMBER_OR_CARD.findall(found.message)} <= known


def test_every_rule_is_broken_by_some_move_and_named_once():
    names = [one.name for one in MOVE_RULES]
    assert len(set(names)) == len(names)
    assert {rule for _, _, rule, _ in BROKEN} == set(names)


@pytest.mark.parametrize(
    "move, reason, field, named",
    [
        (capture("9S", "8D"), Reason.CARD_NOT_IN_HAND, "capture.card", {"card": "9S"}),
        (create("9S", "8D", 9), Reason.CARD_NOT_IN_HAND, "create_build.card", {"card": "9S"}),
        (add("9S"), Reason.CARD_NOT_IN_HAND, "add_to_build.card", {"card": "9S"}),
        (lift("8D"), Reason.CARD_NOT_IN_HAND, "raise_build.card", {"card": "8D"}),
        (trail("6D"), Reason.CARD_NOT_IN_HAND, "trail.card", {"card": "6D"}),
        (capture("8S", "8D 5D"), Reason.CARD_NOT_ON_TABLE, "capture.loose", {"card": "5D"}),
        (capture("8S", "8D 8S"), Reason.CARD_NOT_ON_TABLE, "capture.loose", {"card": "8S"}),
        (capture("8S", "6D 2H"), Reason.CARD_NOT_ON_TABLE, "capture.loose", {"card": "6D"}),
        (create("8S", "KD", 8), Reason.CARD_NOT_ON_TABLE, "create_build.loose", {"card": "KD"}),
        (add("8S", 1, "KD"), Reason.CARD_NOT_ON_TABLE, "add_to_build.loose", {"card": "KD"}),
        (lift("2S", 1, "KD"), Reason.CARD_NOT_ON_TABLE, "raise_build.loose", {"card": "KD"}),
        (capture("8S", "8D", 2), Reason.BUILD_NOT_FOUND, "capture.builds", {"build": "2"}),
        (add("8S", 2), Reason.BUILD_NOT_FOUND, "add_to_build.build", {"build": "2"}),
        (lift("2S", -1), Reason.BUILD_NOT_FOUND, "raise_build.build", {"build": "-1"}),
    ],
)
def test_what_is_not_there_is_no_matter_of_rules(move, reason, field, named):
    found = refusal(at("8S 2S", "8D", BERTS_8), move)
    assert (found.reason, found.field) == (reason, field)
    assert found.metadata.items() >= named.items()
    assert "rule" not in found.metadata


@pytest.mark.parametrize(
    "position, move, first",
    [
        # what is named, before all rules: hand, then loose cards, then builds
        (at("2S"), capture("8S", "8D", 7), Reason.CARD_NOT_IN_HAND),
        (at("2S"), capture("2S", "8D", 7), Reason.CARD_NOT_ON_TABLE),
        (at("2S"), capture("2S", "", 7), Reason.BUILD_NOT_FOUND),
        (at("8S 2C", "8C", ANNAS_8), trail("3S"), Reason.CARD_NOT_IN_HAND),
        # capture
        (at("8S", "8D 5D", ANNAS_8), capture("8S"), "nothing_captured"),
        (at("8S", "8D 5D", ANNAS_8), capture("8S", "5D"), "value_mismatch"),
        (at("8S", "8D 5D 3D", ANNAS_8), capture("8S", "5D 3D"), "must_take_matching"),
        # create
        (at("5S 9S", "", BERTS_8, same_value_builds=False), create("5S", "", 0), "no_table_cards"),
        (
            at("5S 9S", "3D", BERTS_8, same_value_builds=False),
            create("5S", "3D", 15),
            "value_out_of_range",
        ),
        (
            at("5S 9S", "4D", BERTS_8, same_value_builds=False),
            create("5S", "4D", 8),
            "value_mismatch",
        ),
        (
            at("5S 9S", "3D", ANNAS_8, same_value_builds=False),
            create("5S", "3D", 8),
            "same_value_build",
        ),
        (at("8S 2C", "4D", ANNAS_8), create("8S", "4D", 12), "no_capture_card"),
        # add
        (at("5S 9S", "", CARLS_8, partner=PARTNER), add("5S"), "partners_build"),
        (at("5S 9S", "", BERTS_8), add("5S"), "value_mismatch"),
        (at("8S 9S", "", BERTS_8, ANNAS_8), add("8S"), "no_capture_card"),
        # raise
        (at("7S", "3D", "8* anna 8D 6D 2H"), lift("7S", 1, "3D"), "multiple_build"),
        (at("7S", "3D", ANNAS_8), lift("7S", 1, "3D"), "own_build"),
        (at("7S", "3D", CARLS_8, partner=PARTNER), lift("7S", 1, "3D"), "partners_build"),
        (at("7S", "3D", BERTS_8), lift("7S", 1, "3D"), "raise_with_table_cards"),
        (at("7S", "3D", BERTS_8, raise_absorbs=True), lift("7S", 1, "3D"), "raise_above_14"),
        (
            at("2S", "3D", BERTS_8, "10 bert 7D 3H", raise_absorbs=True, same_value_builds=False),
            lift("2S", 1, "3D"),
            "value_mismatch",
        ),
        (
            at("2S", "", BERTS_8, "10 bert 7D 3H", same_value_builds=False),
            lift("2S"),
            "same_value_build",
        ),
        (at("9S", "", "3 bert 2D AD", "9 anna 5D 4D"), lift("9S"), "no_capture_card"),
        # trail
        (at("8S 2C", "2D", ANNAS_8), trail("2C"), "owner_cannot_trail"),
    ],
)
def test_of_several_rules_the_first_is_reported(position, move, first):
    found = refusal(position, move)
    assert (found.metadata.get("rule") or found.reason) == first


# --- the options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option, hand, loose, builds, move",
    [
        ("partner_add", "5S 8S", "3D", [CARLS_8], add("5S", 1, "3D")),
        ("partner_add", "8C 8S", "", [CARLS_8], add("8C")),
        ("partner_raise", "2S 10S", "", [CARLS_8], lift("2S")),
        ("raise_own", "2S 10S", "", [ANNAS_8], lift("2S")),
        ("raise_absorbs", "2S 10S", "10D", [BERTS_8], lift("2S", 1, "10D")),
        ("raise_absorbs", "2S 10S", "10D 7D 3D", [BERTS_8], lift("2S", 1, "7D 3D")),
        ("raise_absorbs", "6S AS", "AD 9D 5D", [BERTS_8], lift("6S", 1, "AD 9D 5D")),
        ("same_value_builds", "5S 8S", "3D", [BERTS_8], create("5S", "3D", 8)),
        ("same_value_builds", "2S 10S", "", [BERTS_8, "10 bert 7D 3D"], lift("2S")),
    ],
)
def test_an_option_allows_what_is_refused_without_it(option, hand, loose, builds, move):
    for value in (False, True):
        position = at(hand, loose, *builds, partner=PARTNER, **{option: value})
        assert is_legal(position, move) is value


@pytest.mark.parametrize(
    "option, move",
    [("partner_add", lift("2S")), ("partner_raise", add("10C")), ("raise_own", lift("2S"))],
)
def test_an_option_of_one_move_allows_no_other(option, move):
    builds = ["8 carl 6D 2H", "10 carl 7D 3D"]
    position = at("2S 10S 10C", "", *builds, partner=PARTNER, **{option: True})
    assert not is_legal(position, move)


def test_all_matching_cards_are_taken_or_by_option_one_of_them():
    moves = [capture("10S", "10D"), capture("10S", "10C"), capture("10S", "7D 3D")]
    everything = capture("10S", "10D 10C")
    for all_matching in (True, False):
        position = at("10S", "10D 10C 7D 3D", all_matching=all_matching)
        assert is_legal(position, everything)
        assert [is_legal(position, move) for move in moves] == [
            not all_matching,
            not all_matching,
            False,
        ]


def test_one_loose_card_of_the_rank_is_taken_whatever_the_option_says():
    for all_matching in (True, False):
        position = at("10S", "10D 7D 3D", BERTS_8, all_matching=all_matching)
        assert not is_legal(position, capture("10S", "7D 3D"))
        assert is_legal(position, capture("10S", "10D"))


def test_a_raised_build_that_absorbs_groups_is_multiple():
    position = at("2S 10S", "10D", BERTS_8, raise_absorbs=True)
    alone, joined = lift("2S"), lift("2S", 1, "10D")
    assert [check(position, move).multiple for move in (alone, joined)] == [False, True]


def test_a_loose_card_does_not_help_to_reach_the_new_value_even_where_groups_join():
    position = at("2S KS", "3D", BERTS_8, raise_absorbs=True)
    assert not is_legal(position, lift("2S", 1, "3D"))


def test_who_raises_his_own_build_needs_a_card_of_the_new_value_and_no_more_of_the_old():
    for hand, legal in (("2S 10S", True), ("2S 8S", False)):
        assert is_legal(at(hand, "", ANNAS_8, raise_own=True), lift("2S")) is legal
    twice = at("2S 10S", "", ANNAS_8, "8 anna 5D 3D", raise_own=True)
    assert not is_legal(twice, lift("2S"))


def test_a_multiple_build_is_not_raised_whatever_the_options_say():
    for owner in ("anna", "bert", "carl"):
        position = at(
            "2S 10S 8S",
            "",
            f"8* {owner} 8D 6D 2H",
            partner=PARTNER,
            raise_own=True,
            partner_raise=True,
            raise_absorbs=True,
        )
        assert not is_legal(position, lift("2S"))


def test_without_second_builds_of_a_value_groups_are_added_to_the_first():
    position = at("5S 8S", "3D", BERTS_8, same_value_builds=False)
    assert not is_legal(position, create("5S", "3D", 8))
    assert is_legal(position, add("5S", 1, "3D"))


def test_a_player_without_a_partner_has_no_partners_builds():
    position = at("8C 8S 2S 10S", "", CARLS_8)
    assert is_legal(position, add("8C"))
    assert is_legal(position, lift("2S"))
