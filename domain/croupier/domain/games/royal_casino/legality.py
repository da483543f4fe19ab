"""Whether a move is legal: the fact that it causes, or the first rule that it breaks.

Checks are made in this order, and the first that fails is the one reported:

1. the card is in the player's hand, every loose card named lies on the table, every build named
   too (`CARD_NOT_IN_HAND`, `CARD_NOT_ON_TABLE`, `BUILD_NOT_FOUND`);
2. what is asked for is a move of its kind, and the cards named are worth what it says;
3. the player keeps the cards that his builds need, the one just made first.

All but the first are `ILLEGAL_MOVE` with the rule's name; `move_rules` has them in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from croupier.domain.card_commands import (
    AddToBuild,
    Capture,
    CreateBuild,
    Move,
    RaiseBuild,
    Trail,
)
from croupier.domain.card_events import (
    BuildCreated,
    BuildExtended,
    BuildRaised,
    CapturedBuild,
    CardsCaptured,
    CardTrailed,
)
from croupier.domain.cards import Card
from croupier.domain.errors import Reason, Refused
from croupier.domain.games.royal_casino import move_rules as rules
from croupier.domain.games.royal_casino.groups import (
    ACE_HIGH,
    PIPS,
    VALUE_LEAST,
    WORTH,
    group_count,
)
from croupier.domain.games.royal_casino.layout import Build, Position

MoveFact = CardsCaptured | BuildCreated | BuildExtended | BuildRaised | CardTrailed
"""What a legal move causes: always exactly one of these."""


def check(position: Position, move: Move) -> MoveFact:
    """Return the fact that a legal move causes, or raise `Refused`; whose turn it is, is not asked.

    A move names each card and each build once, in any order; the fact names loose cards in the
    order in which they lie, and builds in that of their numbers.
    """
    match move:
        case Capture():
            return _capture(position, move)
        case CreateBuild():
            return _create(position, move)
        case AddToBuild():
            return _add(position, move)
        case RaiseBuild():
            return _raise(position, move)
        case Trail():
            return _trail(position, move)
        case _:
            assert_never(move)


def _capture(position: Position, move: Capture) -> CardsCaptured:
    rest = _played(position, move.card, "capture")
    loose = _loose(position, move.loose, "capture")
    builds = _builds(position, move.builds)
    if not loose and not builds:
        raise _illegal(rules.NOTHING_CAPTURED, "a capture takes cards or builds", "capture.loose")
    worth = WORTH[move.card]
    for build in builds:
        if build.value != worth:
            raise _illegal(
                rules.VALUE_MISMATCH,
                f"{move.card} does not capture build {build.number}, which is {build.value}",
                "capture.builds",
                card=move.card,
                build=build.number,
                value=build.value,
            )
    if loose:
        _groups([PIPS[card] for card in loose], worth, "capture")
    _take_matching(position, move.card, loose)
    _keep(position, rest, [build.number for build in builds], "capture")
    taken = tuple(CapturedBuild(one.number, one.value, one.cards) for one in builds)
    return CardsCaptured(player=position.player, card=move.card, loose=loose, builds=taken)


def _create(position: Position, move: CreateBuild) -> BuildCreated:
    rest = _played(position, move.card, "create_build")
    loose = _loose(position, move.loose, "create_build")
    if not loose:
        raise _illegal(rules.NO_TABLE_CARDS, "a new build needs a loose card", "create_build.loose")
    if not VALUE_LEAST <= move.value <= ACE_HIGH:
        raise _illegal(
            rules.VALUE_OUT_OF_RANGE,
            f"a build is {VALUE_LEAST} to {ACE_HIGH}, not {move.value}",
            "create_build.value",
            value=move.value,
            least=VALUE_LEAST,
            most=ACE_HIGH,
        )
    pips = [PIPS[card] for card in (move.card, *loose)]
    count = _groups(pips, move.value, "create_build")
    _other_values(position, move.value, "create_build.value")
    _guard(rest, move.value, "create_build.value")
    _keep(position, rest, (), "create_build")
    return BuildCreated(
        player=position.player,
        build=position.next_build,
        value=move.value,
        card=move.card,
        loose=loose,
        multiple=count > 1,
    )


def _add(position: Position, move: AddToBuild) -> BuildExtended:
    rest = _played(position, move.card, "add_to_build")
    loose = _loose(position, move.loose, "add_to_build")
    build = _build(position, move.build, "add_to_build.build")
    if not position.terms.partner_add:
        _not_of(position.partner, build, rules.PARTNERS_BUILD, "add_to_build")
    _groups([PIPS[card] for card in (move.card, *loose)], build.value, "add_to_build")
    _guard(rest, build.value, "add_to_build.card")
    _keep(position, rest, (build.number,), "add_to_build")
    return BuildExtended(
        player=position.player, build=build.number, value=build.value, card=move.card, loose=loose
    )


def _raise(position: Position, move: RaiseBuild) -> BuildRaised:
    rest = _played(position, move.card, "raise_build")
    loose = _loose(position, move.loose, "raise_build")
    build = _build(position, move.build, "raise_build.build")
    _raisable(position, build)
    if loose and not position.terms.raise_absorbs:
        raise _illegal(
            rules.RAISE_WITH_TABLE_CARDS,
            "a build is raised by a card from the hand alone",
            "raise_build.loose",
        )
    value = build.value + PIPS[move.card]
    if value > ACE_HIGH:
        raise _illegal(
            rules.RAISE_ABOVE_14,
            f"build {build.number} would be {value}, and no build is more than {ACE_HIGH}",
            "raise_build.card",
            build=build.number,
            value=value,
            most=ACE_HIGH,
        )
    if loose:
        _groups([PIPS[card] for card in loose], value, "raise_build")
    _other_values(position, value, "raise_build.card")
    _guard(rest, value, "raise_build.card")
    _keep(position, rest, (build.number,), "raise_build")
    return BuildRaised(
        player=position.player,
        build=build.number,
        value=value,
        card=move.card,
        loose=loose,
        multiple=bool(loose),
    )


def _trail(position: Position, move: Trail) -> CardTrailed:
    _played(position, move.card, "trail")
    for build in position.builds:
        _not_of(position.player, build, rules.OWNER_CANNOT_TRAIL, "trail")
    for card in position.loose:
        if PIPS[card] == PIPS[move.card]:
            raise _illegal(
                rules.TRAIL_ON_MATCHING_CARD,
                f"{card} is loose, so {move.card} captures or builds",
                "trail.card",
                card=move.card,
                matching=card,
            )
    return CardTrailed(player=position.player, card=move.card)


# --- what is named ------------------------------------------------------------------------------


def _played(position: Position, card: Card, command: str) -> tuple[Card, ...]:
    """Return what is left in the hand."""
    if card not in position.hand:
        raise Refused(
            Reason.CARD_NOT_IN_HAND,
            f"{card} is not in the hand of {position.player}",
            field=f"{command}.card",
            card=card,
            player=position.player,
        )
    return tuple(other for other in position.hand if other != card)


def _loose(position: Position, named: tuple[Card, ...], command: str) -> tuple[Card, ...]:
    """Return the loose cards that are named, as they lie."""
    for card in named:
        if card not in position.loose:
            raise Refused(
                Reason.CARD_NOT_ON_TABLE,
                f"{card} is not loose on the table",
                field=f"{command}.loose",
                card=card,
            )
    return tuple(card for card in position.loose if card in named)


def _build(position: Position, number: int, field: str) -> Build:
    for build in position.builds:
        if build.number == number:
            return build
    raise Refused(Reason.BUILD_NOT_FOUND, f"there is no build {number}", field=field, build=number)


def _builds(position: Position, numbers: tuple[int, ...]) -> tuple[Build, ...]:
    """Return the builds that are named, in the order of their numbers."""
    for number in numbers:
        _build(position, number, "capture.builds")
    return tuple(build for build in position.builds if build.number in numbers)


# --- what it is worth ---------------------------------------------------------------------------


def _groups(pips: Sequence[int], value: int, command: str) -> int:
    """Return into how many groups of the value the cards split."""
    count = group_count(pips, value)
    if not count:
        raise _illegal(
            rules.VALUE_MISMATCH,
            f"these cards do not split into groups of {value}",
            f"{command}.loose",
            value=value,
        )
    return count


def _take_matching(position: Position, card: Card, taken: tuple[Card, ...]) -> None:
    matching = [other for other in position.loose if PIPS[other] == PIPS[card]]
    left = [other for other in matching if other not in taken]
    if left and (position.terms.all_matching or len(left) == len(matching)):
        raise _illegal(
            rules.MUST_TAKE_MATCHING,
            f"{card} captures, so it takes {left[0]} as well",
            "capture.loose",
            card=card,
            matching=",".join(left),
        )


# --- what may be built --------------------------------------------------------------------------


def _raisable(position: Position, build: Build) -> None:
    if build.multiple:
        raise _illegal(
            rules.MULTIPLE_BUILD,
            f"build {build.number} is multiple: its value does not change",
            "raise_build.build",
            build=build.number,
        )
    if not position.terms.raise_own:
        _not_of(position.player, build, rules.OWN_BUILD, "raise_build")
    if not position.terms.partner_raise:
        _not_of(position.partner, build, rules.PARTNERS_BUILD, "raise_build")


def _not_of(owner: str, build: Build, rule: str, command: str) -> None:
    """Refuse a move that this owner of the build rules out; nobody is called ""."""
    if owner and build.owner == owner:
        raise _illegal(
            rule,
            f"build {build.number} is of {owner}",
            "trail.card" if command == "trail" else f"{command}.build",
            build=build.number,
            owner=owner,
        )


def _other_values(position: Position, value: int, field: str) -> None:
    """Refuse a second build of a value where the table has agreed on that."""
    if position.terms.same_value_builds:
        return
    for build in position.builds:
        if build.value == value:
            raise _illegal(
                rules.SAME_VALUE_BUILD,
                f"build {build.number} is {value} already",
                field,
                build=build.number,
                value=value,
            )


# --- what must be kept --------------------------------------------------------------------------


def _guard(rest: tuple[Card, ...], value: int, field: str) -> None:
    """Refuse a build of a value of which no card would be left in the hand."""
    if not any(WORTH[card] == value for card in rest):
        raise _illegal(
            rules.NO_CAPTURE_CARD,
            f"no card of {value} would be left to capture the build",
            field,
            value=value,
        )


def _keep(position: Position, rest: tuple[Card, ...], settled: Sequence[int], command: str) -> None:
    """Refuse to leave a build of the player's own without a card for it, the `settled` aside."""
    for build in position.builds:
        if build.owner != position.player or build.number in settled:
            continue
        if not any(WORTH[card] == build.value for card in rest):
            raise _illegal(
                rules.KEEPS_CAPTURE_CARD,
                f"build {build.number} needs a card of {build.value} to stay in the hand",
                f"{command}.card",
                build=build.number,
                value=build.value,
            )


def _illegal(rule: str, message: str, field: str, **metadata: object) -> Refused:
    return Refused(Reason.ILLEGAL_MOVE, message, field=field, rule=rule, **metadata)
