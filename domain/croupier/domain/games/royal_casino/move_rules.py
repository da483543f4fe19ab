"""The rules that an illegal move can break, by name; nothing else stands in a refusal's `rule`."""

from __future__ import annotations

from typing import Final, NamedTuple

VALUE_MISMATCH: Final = "value_mismatch"
NOTHING_CAPTURED: Final = "nothing_captured"
MUST_TAKE_MATCHING: Final = "must_take_matching"
NO_TABLE_CARDS: Final = "no_table_cards"
VALUE_OUT_OF_RANGE: Final = "value_out_of_range"
SAME_VALUE_BUILD: Final = "same_value_build"
MULTIPLE_BUILD: Final = "multiple_build"
OWN_BUILD: Final = "own_build"
PARTNERS_BUILD: Final = "partners_build"
RAISE_WITH_TABLE_CARDS: Final = "raise_with_table_cards"
RAISE_ABOVE_14: Final = "raise_above_14"
NO_CAPTURE_CARD: Final = "no_capture_card"
KEEPS_CAPTURE_CARD: Final = "keeps_capture_card"
OWNER_CANNOT_TRAIL: Final = "owner_cannot_trail"
TRAIL_ON_MATCHING_CARD: Final = "trail_on_matching_card"


class MoveRule(NamedTuple):
    """A rule that a move can break: its `name`, the `part` of the rules it is in, what it says."""

    name: str
    part: str
    says: str


_CAPTURE, _BUILDS, _TRAIL, _OPTIONS = "capture", "builds", "trail", "options"

MOVE_RULES: Final = (
    MoveRule(
        NOTHING_CAPTURED,
        _CAPTURE,
        "a capture takes a group of loose cards or a build, at least one",
    ),
    MoveRule(
        NO_TABLE_CARDS,
        _BUILDS,
        "a new build is made of the card played and at least one loose card",
    ),
    MoveRule(
        VALUE_OUT_OF_RANGE,
        _BUILDS,
        "a build has a value from 2 to 14; aces by themselves make one of 14",
    ),
    MoveRule(
        MULTIPLE_BUILD,
        _BUILDS,
        "the value of a multiple build never changes: nobody raises it",
    ),
    MoveRule(
        OWN_BUILD,
        _BUILDS,
        "nobody raises his own build, unless the option raise_own says so",
    ),
    MoveRule(
        PARTNERS_BUILD,
        _BUILDS,
        "nobody adds to a partner's build or raises it, unless the options partner_add and "
        "partner_raise say so; capturing it is allowed",
    ),
    MoveRule(
        RAISE_WITH_TABLE_CARDS,
        _BUILDS,
        "a build is raised by one card from the hand alone; loose cards come along only if the "
        "option raise_absorbs says so",
    ),
    MoveRule(
        RAISE_ABOVE_14,
        _BUILDS,
        "no build is raised above 14; an ace raises it by 1",
    ),
    MoveRule(
        VALUE_MISMATCH,
        _CAPTURE,
        "the cards named split into groups of the value, each card in one group only, and a build "
        "is taken at its own value; no build enters a sum",
    ),
    MoveRule(
        MUST_TAKE_MATCHING,
        _CAPTURE,
        "who captures takes every loose card of the rank that he plays; one of them is enough if "
        "the option all_matching is off",
    ),
    MoveRule(
        SAME_VALUE_BUILD,
        _OPTIONS,
        "if the option same_value_builds is off, no build is made with or raised to a value that "
        "another build on the table has",
    ),
    MoveRule(
        NO_CAPTURE_CARD,
        _BUILDS,
        "who makes, adds to or raises a build has, after he has played, a card of its value left: "
        "an ace for 14",
    ),
    MoveRule(
        KEEPS_CAPTURE_CARD,
        _BUILDS,
        "the owner of a build keeps a card of its value for as long as it lies on the table",
    ),
    MoveRule(OWNER_CANNOT_TRAIL, _TRAIL, "who owns a build does not trail"),
    MoveRule(TRAIL_ON_MATCHING_CARD, _TRAIL, "nobody trails a card while one of its rank is loose"),
)
"""Every rule, in the order of checking: of those that a move breaks the first is reported."""
