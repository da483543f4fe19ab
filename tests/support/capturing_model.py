"""What a legal move is, read straight from the rules, slowly: every split of cards is tried.

It shares nothing with the code it judges but the types of positions and moves.
"""

from __future__ import annotations

from itertools import chain, combinations

from croupier.domain.card_commands import (
    AddToBuild,
    Capture,
    CreateBuild,
    RaiseBuild,
    Trail,
)

NUMBERS = {"A": 1, "J": 11, "Q": 12, "K": 13}


def in_a_sum(card):
    rank = card[:-1]
    return NUMBERS.get(rank) or int(rank)


def alone(card):
    return {1, 14} if card[:-1] == "A" else {in_a_sum(card)}


def subsets(things):
    return chain.from_iterable(combinations(things, size) for size in range(len(things) + 1))


def is_group(cards, value):
    if len(cards) == 1:
        return value in alone(cards[0])
    return len(cards) > 1 and sum(map(in_a_sum, cards)) == value


def splits(cards, value):
    """Return all the numbers of groups of the value in which the cards can be laid out."""
    if not cards:
        return {0}
    first, *others = cards
    numbers = set()
    for company in subsets(others):
        if is_group((first, *company), value):
            rest = [card for card in others if card not in company]
            numbers |= {1 + number for number in splits(rest, value)}
    return numbers


def is_legal(position, move):
    if move.card not in position.hand:
        return False
    rest = [card for card in position.hand if card != move.card]
    named = getattr(move, "loose", ())
    if not set(named) <= set(position.loose):
        return False
    mine = [build for build in position.builds if build.owner == position.player]
    twins = [card for card in position.loose if card[:-1] == move.card[:-1]]
    match move:
        case Trail():
            return not mine and not twins
        case Capture():
            fits, left = _captures(position, move, twins)
            mine = [build for build in mine if build in left]
        case CreateBuild():
            fits = _creates(position, move, rest)
        case AddToBuild():
            build = _found(position, move.build)
            fits = build and _adds(position, move, build, rest)
            mine = [one for one in mine if one is not build]
        case RaiseBuild():
            build = _found(position, move.build)
            fits = build and _raises(position, move, build, rest)
            mine = [one for one in mine if one is not build]
    return bool(fits) and all(_can_take(rest, build.value) for build in mine)


def _captures(position, move, twins):
    taken = [_found(position, number) for number in move.builds]
    left = [build for build in position.builds if build not in taken]
    if None in taken or not (taken or move.loose):
        return False, left
    fits = any(
        all(build.value == value for build in taken) and splits(move.loose, value)
        for value in alone(move.card)
    )
    enough = all if position.terms.all_matching else any
    return fits and (not twins or enough(card in move.loose for card in twins)), left


def _creates(position, move, rest):
    return (
        move.loose
        and 2 <= move.value <= 14
        and splits((move.card, *move.loose), move.value)
        and _can_take(rest, move.value)
        and _is_new(position, move.value)
    )


def _adds(position, move, build, rest):
    if build.owner == position.partner and not position.terms.partner_add:
        return False
    return splits((move.card, *move.loose), build.value) and _can_take(rest, build.value)


def _raises(position, move, build, rest):
    terms = position.terms
    if build.owner == position.player and not terms.raise_own:
        return False
    if build.owner == position.partner and not terms.partner_raise:
        return False
    if move.loose and not terms.raise_absorbs:
        return False
    value = build.value + in_a_sum(move.card)
    return (
        not build.multiple
        and value <= 14
        and splits(move.loose, value)
        and _can_take(rest, value)
        and _is_new(position, value)
    )


def _found(position, number):
    return next((build for build in position.builds if build.number == number), None)


def _can_take(rest, value):
    return any(value in alone(card) for card in rest)


def _is_new(position, value):
    return position.terms.same_value_builds or value not in [
        build.value for build in position.builds
    ]


def every_move(position, cards=None):
    """Yield every move that can be written down with what lies there, legal or not."""
    player = position.player
    numbers = [build.number for build in position.builds]
    for card in cards or position.hand:
        yield Trail(player, card)
        for loose in subsets(position.loose):
            for builds in subsets(numbers):
                yield Capture(player, card, loose, builds)
            for value in range(17):
                yield CreateBuild(player, card, loose, value)
            for number in numbers:
                yield AddToBuild(player, card, number, loose)
                yield RaiseBuild(player, card, number, loose)
