"""What the fades of a round come to. All faders meet the same banker: they win and lose together.

Given the banker's throw, each throws for himself. So the variance is that of each fade given the
throw, on average over the throws, and that of all fades' mean from throw to throw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from croupier.domain.event import Value
from croupier.domain.games.ceelo_bank.odds import verdicts
from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.theory import Bet, Moments


@dataclass(frozen=True, slots=True)
class _Unit:
    """One minor unit faded: its means, and the two parts of its variance."""

    won: Fraction
    lost: Fraction
    within: Fraction
    """The variance given the banker's throw, on average over his throws."""
    between: Fraction
    """The variance of the mean given the banker's throw."""
    furthest: Fraction


def moments(options: Mapping[str, Value], bets: Sequence[Bet]) -> Moments:
    """Return the moments of fades, whichever rules settled them."""
    unit = _unit(Terms.of(options))
    staked = sum(bet.stake for bet in bets)
    squares = sum(bet.stake * bet.stake for bet in bets)
    return Moments(
        won=staked * unit.won,
        lost=staked * unit.lost,
        variance=squares * unit.within + staked * staked * unit.between,
        furthest=staked * unit.furthest,
    )


@lru_cache(maxsize=64)
def _unit(terms: Terms) -> _Unit:
    by_banker: dict[str, Counter[int]] = {}
    for one in verdicts(terms):
        by_banker.setdefault(one.banker, Counter())[-one.banker_gain] += one.ways
    every: Counter[int] = Counter()
    for nets in by_banker.values():
        every.update(nets)
    total = every.total()
    mean, variance = _mean(every), _variance(every)
    within = sum(
        (Fraction(nets.total(), total) * _variance(nets) for nets in by_banker.values()),
        Fraction(0),
    )
    return _Unit(
        won=Fraction(sum(net * ways for net, ways in every.items() if net > 0), total),
        lost=Fraction(-sum(net * ways for net, ways in every.items() if net < 0), total),
        within=within,
        between=variance - within,
        furthest=max(abs(net - mean) for net in every),
    )


def _mean(nets: Counter[int]) -> Fraction:
    return Fraction(sum(net * ways for net, ways in nets.items()), nets.total())


def _variance(nets: Counter[int]) -> Fraction:
    squares = Fraction(sum(net * net * ways for net, ways in nets.items()), nets.total())
    return squares - _mean(nets) ** 2
