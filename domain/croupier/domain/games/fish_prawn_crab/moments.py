"""What the bets of a throw come to, over all 216 throws: bets on one throw depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from croupier.domain.event import Value
from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES, WAYS
from croupier.domain.games.fish_prawn_crab.exposure import profits
from croupier.domain.games.fish_prawn_crab.terms import Terms
from croupier.domain.games.theory import Bet, Moments

_THROWS = sum(WAYS)


def moments(options: Mapping[str, Value], bets: Sequence[Bet]) -> Moments:
    """Return the moments of bets, each settled under the rule that is its place."""
    pays = Terms.of(options).pays
    staked = sum(bet.stake for bet in bets)
    won, returned = [0] * len(OUTCOMES), [0] * len(OUTCOMES)
    for place, stake in bets:
        for at, profit in profits(pays, place):
            won[at] += stake * profit
            returned[at] += stake
    # What players are up by each outcome, and by how much more than the least that can be.
    nets = [one + back - staked for one, back in zip(won, returned, strict=True)]
    total = _times_ways(nets)
    squares = _times_ways([net * net for net in nets])
    return Moments(
        won=Fraction(_times_ways(won), _THROWS),
        lost=staked - Fraction(_times_ways(returned), _THROWS),
        variance=Fraction(_THROWS * squares - total * total, _THROWS * _THROWS),
        furthest=Fraction(max(_THROWS * max(nets) - total, total - _THROWS * min(nets)), _THROWS),
    )


def _times_ways(values: Sequence[int]) -> int:
    return sum(map(int.__mul__, values, WAYS))
