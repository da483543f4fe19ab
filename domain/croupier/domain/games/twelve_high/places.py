"""The places of the rolling order: the lowest die goes first, ties throw again for their places."""

from __future__ import annotations

from collections.abc import Sequence

from croupier.domain.games.twelve_high.state import Racer


def tied(racers: Sequence[Racer], called: Sequence[str]) -> tuple[str, ...]:
    """Return the first players who have thrown the same dice and are to throw again, or nobody.

    They wait until everybody has thrown with whom they shared places before; what others throw for
    other places is nothing to them. Those `called` have not thrown yet.
    """
    waited_for = {racer.order_dice for racer in racers if racer.player in called}
    groups: dict[tuple[int, ...], list[str]] = {}
    for racer in racers:
        if racer.order_dice and racer.order_dice[:-1] not in waited_for:
            groups.setdefault(racer.order_dice, []).append(racer.player)
    for dice, players in groups.items():
        if len(players) > 1 and dice not in waited_for:
            return tuple(players)
    return ()


def rolling_order(racers: Sequence[Racer]) -> tuple[str, ...]:
    """Return the players by their dice, lowest first: the first die, then those thrown again."""
    in_order = sorted(racers, key=lambda racer: racer.order_dice)
    return tuple(racer.player for racer in in_order)
