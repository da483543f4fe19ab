"""Every legal move of a position, each one once, without trying those that are not.

Their order depends on the position alone: by cards as they are held; for each card captures, new
builds by value, additions and raises by the builds' numbers, then trailing. Moves that differ only
in loose cards follow each other as binary numbers do, where the cards are digits and the one that
lies first is the last digit.

A move is made when it is asked for. What is kept meanwhile are bitmaps of sets of loose cards (see
`groups`), a few dozen at most, of 8 KB each on the fullest table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import compress, islice, product

from croupier.domain.card_commands import (
    AddToBuild,
    Capture,
    CreateBuild,
    Move,
    RaiseBuild,
    Trail,
)
from croupier.domain.cards import Card
from croupier.domain.games.royal_casino.groups import (
    ACE,
    ACE_HIGH,
    EMPTY,
    PIPS,
    Splits,
    members,
    reach,
)
from croupier.domain.games.royal_casino.layout import Build, Position
from croupier.domain.games.royal_casino.plays import Play, owned, plays

CAPTURE, CREATE, ADD, RAISE, TRAIL = KINDS = (
    "capture",
    "create_build",
    "add_to_build",
    "raise_build",
    "trail",
)
"""The kinds of moves, called as in the API and in its order."""

_Run = tuple[int, Callable[[tuple[Card, ...]], Move]]
"""Moves that differ only in loose cards: the bitmap of their masks, and what makes one of cards."""


def legal_moves(position: Position, start: int = 0) -> Iterator[Move]:
    """Yield every move that `legality.check` accepts, each once, from number `start` (from 0) on.

    Those before `start` are counted, not made.
    """
    chunks = _chunks(position.loose)
    for masks, make in _runs(position):
        if start and start >= (count := masks.bit_count()):
            start -= count
            continue
        for mask in islice(members(masks), start, None):
            yield make(_cards(chunks, mask))
        start = 0


def count_moves(position: Position) -> int:
    """Return how many moves `legal_moves` yields, without making them."""
    return sum(masks.bit_count() for masks, _ in _runs(position))


def kinds(position: Position) -> tuple[str, ...]:
    """Return which kinds of moves are legal, in the order of `KINDS`, without making any move."""
    table = _Reach(position)
    found: set[str] = set()
    for play in plays(position):
        if CAPTURE not in found and table.captures(play):
            found.add(CAPTURE)
        if CREATE not in found and table.builds(play):
            found.add(CREATE)
        if ADD not in found and table.extends(play):
            found.add(ADD)
        if RAISE not in found and any(True for _ in play.raisable()):
            found.add(RAISE)
        if TRAIL not in found and table.trails(play):
            found.add(TRAIL)
    return tuple(kind for kind in KINDS if kind in found)


# --- the moves ----------------------------------------------------------------------------------


def _runs(position: Position) -> Iterator[_Run]:
    loose = Splits([PIPS[card] for card in position.loose])
    trails = not owned(position)
    for play in plays(position):
        matching = loose.of(play.pips)
        if play.may_capture:
            yield from _captures(position, play, loose, matching)
        for value in play.new_values():
            masks = loose.completions(play.pips, value) & ~EMPTY
            yield masks, partial(CreateBuild, position.player, play.card, value=value)
        for build in play.extensible():
            masks = loose.completions(play.pips, build.value)
            yield masks, partial(AddToBuild, position.player, play.card, build.number)
        for build, value in play.raisable():
            masks = loose.unions(value) if position.terms.raise_absorbs else EMPTY
            yield masks, partial(RaiseBuild, position.player, play.card, build.number)
        if trails and not matching:
            yield EMPTY, partial(_trail, position.player, play.card)


def _captures(position: Position, play: Play, loose: Splits, matching: int) -> Iterator[_Run]:
    masks = loose.unions(play.worth)
    if matching and position.terms.all_matching:
        masks = loose.with_all(masks, matching)
    elif matching:
        masks = loose.with_some(masks, matching)
    for builds in _choices(*play.capturable()):
        yield (
            masks if builds else masks & ~EMPTY,
            partial(Capture, position.player, play.card, builds=builds),
        )


def _choices(must: list[Build], may: list[Build]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of builds, by number, that takes all of those that must be taken."""
    forced = [build.number for build in must]
    free = [build.number for build in may]
    for chosen in product((False, True), repeat=len(free)):
        yield tuple(sorted([*forced, *compress(free, chosen)]))


def _trail(player: str, card: Card, loose: tuple[Card, ...]) -> Trail:
    del loose  # there is only the empty choice
    return Trail(player, card)


_CHUNK = 8
_Chunks = list[list[tuple[Card, ...]]]


def _chunks(loose: tuple[Card, ...]) -> _Chunks:
    """Return, for every eight cards, the tuples of all choices among them."""
    chunks: _Chunks = []
    for first in range(0, len(loose), _CHUNK):
        choices: list[tuple[Card, ...]] = [()]
        for card in loose[first : first + _CHUNK]:
            choices += [(*choice, card) for choice in choices]
        chunks.append(choices)
    return chunks


def _cards(chunks: _Chunks, mask: int) -> tuple[Card, ...]:
    cards: tuple[Card, ...] = ()
    for choices in chunks:
        cards += choices[mask % len(choices)]
        mask >>= _CHUNK
    return cards


# --- only whether there are any -----------------------------------------------------------------


class _Reach:
    """What loose cards and builds can be used for, by the sums that some of the cards have.

    A sum that is there is a group that can be made, so no set of cards need be looked at.
    """

    __slots__ = ("_builds", "_owner", "_ranks", "_sums")

    def __init__(self, position: Position) -> None:
        pips = [PIPS[card] for card in position.loose]
        self._sums = reach(pips)
        self._ranks = sum({1 << one for one in pips})
        self._builds = {build.value for build in position.builds}
        self._owner = bool(owned(position))

    def captures(self, play: Play) -> bool:
        return play.may_capture and (play.worth in self._builds or self._has_group(play.worth))

    def builds(self, play: Play) -> bool:
        for value in play.new_values():
            if self._has_rest(play, value) or (play.worth == value and self._has_group(value)):
                return True
        return False

    def extends(self, play: Play) -> bool:
        for build in play.extensible():
            if play.worth == build.value or self._has_rest(play, build.value):
                return True
        return False

    def trails(self, play: Play) -> bool:
        return not self._owner and not self._ranks >> play.pips & 1

    def _has_group(self, value: int) -> bool:
        return bool(self._sums >> value & 1 or (value == ACE_HIGH and self._ranks >> ACE & 1))

    def _has_rest(self, play: Play, value: int) -> bool:
        return play.pips < value and bool(self._sums >> (value - play.pips) & 1)
