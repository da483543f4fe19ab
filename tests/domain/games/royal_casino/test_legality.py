"""Which moves are legal: worked examples, edge cases, aces, and the facts that moves cause."""

import json
from pathlib import Path

import pytest

from croupier.domain.card_commands import AddToBuild, Capture, CreateBuild, RaiseBuild, Trail
from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CapturedBuild,
    CardsCaptured,
    CardTrailed,
)
from croupier.domain.errors import Reason, Refused
from croupier.domain.games.royal_casino.layout import Build, Position
from croupier.domain.games.royal_casino.legality import check
from tests.support.capturing import (
    PARTNER,
    add,
    at,
    capture,
    create,
    judged,
    lift,
    rule_broken,
    terms,
    trail,
)

ROWS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "royal_casino_moves.json").read_text(encoding="utf-8")
)
SEATS = ("anna", "bert", "carl", "dora")


def row_position(row):
    builds = tuple(
        Build(number, one["value"], tuple(one["cards"]), one["multiple"], SEATS[one["owner_seat"]])
        for number, one in enumerate(row["builds"], start=1)
    )
    partner = SEATS[(row["mover_seat"] + 2) % 4] if row["players"] == 4 else ""
    cards = tuple(row["hand"]), tuple(row["loose"])
    return Position(SEATS[row["mover_seat"]], partner, *cards, builds, len(builds) + 1, terms())


def row_move(row):
    player, asked = SEATS[row["mover_seat"]], row["move"]
    card, loose, target = asked["card"], tuple(asked["loose"]), asked["target"]
    return {
        "capture": Capture(player, card, loose, tuple(asked["builds"])),
        "create": CreateBuild(player, card, loose, asked["value"]),
        "add": AddToBuild(player, card, target, loose),
        "raise": RaiseBuild(player, card, target, loose),
        "trail": Trail(player, card),
    }[asked["kind"]]


@pytest.mark.parametrize("row", ROWS, ids=[f"x{row['id']}" for row in ROWS])
def test_a_worked_example_is_judged_as_written(row):
    verdict = judged(row_position(row), row_move(row))
    if row["expect"]["legal"]:
        assert not isinstance(verdict, Refused)
    else:
        assert verdict.reason is Reason.ILLEGAL_MOVE
        assert verdict.metadata["rule"] == row["expect"]["reason"]
    if row["move"]["kind"] == "raise" and row["expect"]["legal"]:
        assert verdict.value == row["move"]["value"]


BERTS_8 = "8 bert 6D 2H"
ANNAS_8 = "8 anna 6D 2H"


@pytest.mark.parametrize(
    "hand, loose, builds, move, rule",
    [
        # both tens must be taken
        ("10S", "10D 10C", [], capture("10S", "10D 10C"), None),
        ("10S", "10D 10C", [], capture("10S", "10C"), "must_take_matching"),
        # trailing onto a build of the rank, onto a loose card of it, and onto a set that it takes
        ("8S 2C", "KC", [BERTS_8], trail("8S"), None),
        ("8S 2C", "8C", [BERTS_8], trail("8S"), "trail_on_matching_card"),
        ("9S", "5C 4C", [], trail("9S"), None),
        # a build is not a card
        ("9S", "2C", ["7 bert 5D 2H"], capture("9S", "2C", 1), "value_mismatch"),
        ("9S", "2C", ["7 bert 5D 2H"], capture("9S", "", 1), "value_mismatch"),
        # each captured card belongs to one group
        ("9S", "9C 6C 3H 2D", [], capture("9S", "9C 6C 3H"), None),
        ("9S", "9C 6C 3H 2D", [], capture("9S", "9C 6C 3H 2D"), "value_mismatch"),
        ("9S", "6C 3H 3D", [], capture("9S", "6C 3H 3D"), "value_mismatch"),
        # the holding requirement is checked after the card is played
        ("8S 8D", "8C", [], create("8S", "8C", 8), None),
        ("8S 2D", "8C", [], create("8S", "8C", 8), "no_capture_card"),
        # the announced value decides
        ("7S AD", "7C", [], create("7S", "7C", 14), None),
        ("7S 7D", "7C", [], create("7S", "7C", 7), None),
        ("7S AD", "7C", [], create("7S", "7C", 7), "no_capture_card"),
        ("7S 7D", "7C", [], create("7S", "7C", 14), "no_capture_card"),
        # the only card of a build's value is not used for another capture that leaves it
        ("8S 2C", "5C 3H", [ANNAS_8], capture("8S", "5C 3H"), "keeps_capture_card"),
        ("8S 2C", "5C 3H", [ANNAS_8], capture("8S", "5C 3H", 1), None),
        ("8S 2C", "5C 3H", [ANNAS_8], capture("8S", "", 1), None),
        ("8S 8C", "5C 3H", [ANNAS_8], capture("8S", "5C 3H"), None),
        ("8S 2C", "", [ANNAS_8, "8 bert 5C 3H"], capture("8S", "", 2), "keeps_capture_card"),
        ("8S 2C", "", [ANNAS_8, "8 bert 5C 3H"], capture("8S", "", 1), None),
        ("8S 2C", "", [ANNAS_8, "8 anna 5C 3H"], capture("8S", "", 1), "keeps_capture_card"),
        ("8S 2C", "", [ANNAS_8, "8 anna 5C 3H"], capture("8S", "", 1, 2), None),
        # the owner of two builds of different values needs both cards
        ("8S 9S 2C", "6C", [ANNAS_8, "9 anna 7C 2H"], create("2C", "6C", 8), None),
        ("8S 9S 2C", "6C", [ANNAS_8, "9 anna 7C 2H"], capture("9S", "", 2), None),
        ("8S 9S QC", "3D", [ANNAS_8, "9 anna 7C 2H"], create("9S", "3D", 12), "keeps_capture_card"),
        ("8S 9S QC", "4D", [ANNAS_8, "9 anna 7C 2H"], create("8S", "4D", 12), "keeps_capture_card"),
        ("8S 4S QC", "8D", [ANNAS_8], create("4S", "8D", 12), None),
        # an owner may not trail though he holds harmless cards, a former one may
        ("8S 2C", "KC", [ANNAS_8], trail("2C"), "owner_cannot_trail"),
        ("8S 2C", "KC", ["11 bert 6D 2H 3S"], trail("8S"), None),
        # an own build is not raised, a multiple one by nobody
        ("2S 10S 8S", "", [ANNAS_8], lift("2S"), "own_build"),
        ("2S 10S", "", ["8* bert 8D 6D 2H"], lift("2S"), "multiple_build"),
        ("2S 10S", "", [BERTS_8], lift("2S"), None),
        # one card from the hand raises, no loose one helps
        ("2S KS", "3C", [BERTS_8], lift("2S", 1, "3C"), "raise_with_table_cards"),
        ("2S JS", "3C", [BERTS_8], lift("2S"), "no_capture_card"),
        # an ace raises by one only, and nothing is above 14
        ("AS 9S", "", [BERTS_8], lift("AS"), None),
        ("AS AC", "", ["13 bert 10D 3H"], lift("AS"), None),
        ("AS KC", "", ["13 bert 10D 3H"], lift("AS"), "no_capture_card"),
        ("7S AC", "", [BERTS_8], lift("7S"), "raise_above_14"),
        ("6S AC", "", [BERTS_8], lift("6S"), None),
        # an ace can be in a sum as 1 and beside it as a 14
        ("KS AD", "AH AC", [], create("KS", "AH AC", 14), None),
        ("AS AD", "KD AH", [], create("AS", "AH KD", 14), None),
        ("AS", "KD AH AC", [], capture("AS", "KD AH AC"), None),
        ("AS", "KD AH AC", [], capture("AS", "AH AC"), None),
        ("AS", "KD AH AC", [], capture("AS", "KD AH"), "must_take_matching"),
        ("AS", "QD AH AC", [], capture("AS", "QD AH AC"), None),
        ("AS", "KD", [], capture("AS", "KD"), "value_mismatch"),
        # a partner's build may be captured
        ("3S 8C", "", ["8 carl 6D 2H"], capture("8C", "", 1), None),
    ],
)
def test_an_edge_case_is_judged_as_the_rules_say(hand, loose, builds, move, rule):
    assert rule_broken(at(hand, loose, *builds, partner=PARTNER), move) == rule


def test_a_pair_of_aces_is_a_build_of_14_and_of_no_other_value():
    position = at("AS AD", "AH")
    fact = check(position, create("AS", "AH", 14))
    assert (fact.value, fact.multiple) == (14, True)
    assert rule_broken(position, create("AS", "AH", 1)) == "value_out_of_range"
    assert rule_broken(position, create("AS", "AH", 2)) == "no_capture_card"
    assert rule_broken(at("AS 2D", "AH"), create("AS", "AH", 2)) is None


def test_an_ace_takes_builds_of_14_and_no_other():
    builds = ["14 bert 9D 5H", "13 bert 10D 3H"]
    assert rule_broken(at("AS", "", *builds), capture("AS", "", 1)) is None
    assert rule_broken(at("AS", "", *builds), capture("AS", "", 2)) == "value_mismatch"
    assert rule_broken(at("KS", "", *builds), capture("KS", "", 1)) == "value_mismatch"


def test_builds_of_whoever_are_captured_in_any_number_beside_sets():
    builds = ["9 bert 6D 3H", "9 carl 7D 2H", "9* anna 9D 8H AH"]
    position = at("9C 2C", "5C 4C", *builds, partner=PARTNER)
    assert rule_broken(position, capture("9C", "5C 4C", 1, 2, 3)) is None
    assert rule_broken(position, capture("9C", "", 1, 3)) is None
    assert rule_broken(position, capture("9C", "5C 4C", 1, 2)) == "keeps_capture_card"


def test_the_owner_adds_to_his_own_build_and_to_an_opponents_not_to_a_partners():
    for owner, rule in (("anna", None), ("bert", None), (PARTNER, "partners_build")):
        position = at("3S 8S 8C", "5D", f"8 {owner} 6D 2H", partner=PARTNER)
        assert rule_broken(position, add("3S", 1, "5D")) == rule
        assert rule_broken(position, add("8S")) == rule


def test_a_card_is_added_alone_at_its_own_value_only():
    position = at("4S 8S 8C", "4D", BERTS_8)
    assert rule_broken(position, add("8S")) is None
    assert rule_broken(position, add("4S")) == "value_mismatch"
    assert rule_broken(position, add("4S", 1, "4D")) is None
    assert rule_broken(position, add("8S", 1, "4D")) == "value_mismatch"


def test_an_addition_may_bring_several_groups():
    position = at("4S 8S", "4D 8D 5C 3C", BERTS_8)
    assert rule_broken(position, add("4S", 1, "4D 8D 5C 3C")) is None
    assert rule_broken(position, add("4S", 1, "4D 8D 5C")) == "value_mismatch"


def test_adding_needs_a_card_of_the_value_that_is_left():
    position = at("8S 2C", "", BERTS_8)
    assert rule_broken(position, add("8S")) == "no_capture_card"


def test_the_card_played_is_in_one_of_the_groups_of_a_new_build():
    position = at("2S 8S", "5D 3D 8C")
    assert rule_broken(position, create("2S", "5D 3D", 8)) == "value_mismatch"
    assert rule_broken(position, create("2S", "8C", 8)) == "value_mismatch"


def test_the_matching_duty_is_of_captures_only():
    position = at("3S 3C 8S", "3D 5D", "8 bert 6D 2H")
    assert rule_broken(position, create("3S", "5D", 8)) is None
    assert rule_broken(position, add("3S", 1, "5D")) is None
    assert rule_broken(at("3S JS", "3D 5D", BERTS_8), lift("3S")) is None


def test_capturing_a_build_alone_does_not_end_the_matching_duty():
    assert rule_broken(at("8S", "8C", BERTS_8), capture("8S", "", 1)) == "must_take_matching"
    assert rule_broken(at("8S", "8C", BERTS_8), capture("8S", "8C", 1)) is None


@pytest.mark.parametrize("player", SEATS)
def test_somebody_elses_duties_bind_nobody(player):
    position = at("8S 2C", "KC", f"8 {player} 6D 2H", partner=PARTNER)
    assert rule_broken(position, trail("2C")) == (
        None if player != "anna" else "owner_cannot_trail"
    )


# --- the facts ------------------------------------------------------------------------------------


def test_a_capture_names_cards_as_they_lie_and_builds_by_number():
    position = at("8S", "3H 5C 8D", BERTS_8, "9 bert 7D 2C", "8* bert 8H 7S AS")
    wanted = CardsCaptured(
        player="anna",
        card="8S",
        loose=("3H", "5C", "8D"),
        builds=(
            CapturedBuild(1, 8, ("6D", "2H")),
            CapturedBuild(3, 8, ("8H", "7S", "AS")),
        ),
    )
    for order in ("8D 5C 3H", "3H 5C 8D", "5C 8D 3H"):
        assert check(position, capture("8S", order, 3, 1)) == wanted
        assert check(position, capture("8S", order, 1, 3)) == wanted


@pytest.mark.parametrize(
    "hand, loose, move, multiple",
    [
        ("5S 8S", "3H", create("5S", "3H", 8), False),
        ("8C 8S", "5D 3H", create("8C", "5D 3H", 8), True),
        ("5S 8S", "3H 8D", create("5S", "8D 3H", 8), True),
        ("AS 2S", "AH", create("AS", "AH", 2), False),
        ("AS AD", "KH", create("AS", "KH", 14), False),
        ("KS AD", "AH", create("KS", "AH", 14), False),
        ("AS AD", "9H 5H", create("AS", "9H 5H", 14), True),
        ("AS AD", "KD AH", create("AS", "AH KD", 14), True),
    ],
)
def test_a_new_build_is_multiple_if_it_has_more_than_one_group(hand, loose, move, multiple):
    fact = check(at(hand, loose), move)
    assert fact == BuildCreated(
        player="anna",
        build=1,
        value=move.value,
        card=move.card,
        loose=tuple(loose.split()),
        multiple=multiple,
    )


def test_a_new_build_has_the_next_number():
    position = at("5S 8S", "3H", "9 bert 7D 2C", "10 bert 7C 3C")
    assert check(position, create("5S", "3H", 8)).build == 3


def test_an_addition_and_a_raise_say_the_value():
    assert check(at("3S 8S", "5D", BERTS_8), add("3S", 1, "5D")) == BuildExtended(
        player="anna", build=1, value=8, card="3S", loose=("5D",)
    )
    assert check(at("3S JS", "5D", BERTS_8), lift("3S")) == BuildRaised(
        player="anna", build=1, value=11, card="3S", loose=(), multiple=False
    )


def test_a_trailed_card_is_all_that_is_said_of_it():
    assert check(at("3S", "5D"), trail("3S")) == CardTrailed(player="anna", card="3S")
