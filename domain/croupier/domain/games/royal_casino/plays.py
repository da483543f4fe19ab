"""What the rules let a player do with one card of his hand, loose cards left aside."""

from __future__ import annotations

from collections.abc import Iterator

from croupier.domain.cards import Card
from croupier.domain.games.royal_casino.groups import ACE_HIGH, PIPS, WORTH
from croupier.domain.games.royal_casino.layout import Build, Position


class Play:
    """A card that is played, and what the rest of the hand is good for.

    Of values there are sets as whole numbers: bit v is set if v is one of them.
    """

    __slots__ = ("_held", "_missing", "_position", "card", "pips", "worth")

    def __init__(self, position: Position, card: Card, owed: int) -> None:
        """Play a card; `owed` are the values of the player's own builds."""
        self._position = position
        self.card = card
        self.pips = PIPS[card]
        self.worth = WORTH[card]
        held = 0
        for other in position.hand:
            if other != card:
                held |= 1 << WORTH[other]
        self._held = held
        self._missing = owed & ~held

    @property
    def may_capture(self) -> bool:
        """Whether a capture leaves no build of the player's own without a card for it."""
        return not self._missing & ~(1 << self.worth)

    def capturable(self) -> tuple[list[Build], list[Build]]:
        """Return the builds that it can capture: those that must be taken, and those that may.

        Own ones must be, if it is the last card for them.
        """
        must: list[Build] = []
        may: list[Build] = []
        last = self._missing >> self.worth & 1
        for build in self._position.builds:
            if build.value == self.worth:
                own = build.owner == self._position.player
                (must if last and own else may).append(build)
        return must, may

    def new_values(self) -> Iterator[int]:
        """Yield the values, ascending, with which a build can be made, given the loose cards."""
        if not self._missing:
            held = self._held
            while held:
                value = (held & -held).bit_length() - 1
                held &= held - 1
                if self._is_free(value):
                    yield value

    def extensible(self) -> Iterator[Build]:
        """Yield the builds to which groups can be added, given the loose cards."""
        if self._missing:
            return
        partners = "" if self._position.terms.partner_add else self._position.partner
        for build in self._position.builds:
            if self._held >> build.value & 1 and not (partners and build.owner == partners):
                yield build

    def raisable(self) -> Iterator[tuple[Build, int]]:
        """Yield the builds that it can raise, with their new values."""
        terms = self._position.terms
        for build in self._position.builds:
            value = build.value + self.pips
            if build.multiple or value > ACE_HIGH or not self._held >> value & 1:
                continue
            own = build.owner == self._position.player
            if own and not terms.raise_own:
                continue
            if not own and build.owner == self._position.partner and not terms.partner_raise:
                continue
            if not (self._missing_without(build) if own else self._missing) and self._is_free(
                value
            ):
                yield build, value

    def _missing_without(self, raised: Build) -> bool:
        """Whether an own build other than the one raised would be left without a card for it."""
        return any(
            build.owner == self._position.player and not self._held >> build.value & 1
            for build in self._position.builds
            if build is not raised
        )

    def _is_free(self, value: int) -> bool:
        return self._position.terms.same_value_builds or all(
            build.value != value for build in self._position.builds
        )


def plays(position: Position) -> Iterator[Play]:
    """Yield a play for every card in the hand."""
    owed = owned(position)
    for card in position.hand:
        yield Play(position, card, owed)


def owned(position: Position) -> int:
    """Return the values of the player's own builds, bit v for value v."""
    values = 0
    for build in position.builds:
        if build.owner == position.player:
            values |= 1 << build.value
    return values
