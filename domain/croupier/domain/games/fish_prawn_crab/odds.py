"""The exact odds of every place, by all 216 throws, with the verdicts and settlement of play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from croupier.domain.dice import Dice
from croupier.domain.event import (
    Value,
)
from croupier.domain.events import (
    PaidOut,
)
from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES, WAYS
from croupier.domain.games.fish_prawn_crab.paying import claim
from croupier.domain.games.fish_prawn_crab.places import PLACES, Place, verdict
from croupier.domain.games.fish_prawn_crab.state import Bet, State
from croupier.domain.games.fish_prawn_crab.terms import PAYS_MAX, Terms
from croupier.domain.games.protocol import Quote
from croupier.domain.money import Odds
from croupier.domain.settlement import Outcome, settle


@dataclass(frozen=True, slots=True)
class Win:
    """One way in which a place wins: by which line, at which odds, and how probably."""

    line: str
    pays: Odds
    probability: Fraction


@dataclass(frozen=True, slots=True)
class PlaceOdds:
    """A place's chances, and what the house gains on average for each unit bet on it."""

    place: Place
    wins: tuple[Win, ...]
    edge: Fraction

    @property
    def win(self) -> Fraction:
        """Return the probability that the place wins at all; it never pushes."""
        return sum((one.probability for one in self.wins), Fraction(0))

    @property
    def quote(self) -> Quote:
        """Return the same as every game tells it."""
        gained = sum(one.probability * Fraction(one.pays.profit, one.pays.per) for one in self.wins)
        pays = Fraction(gained) / self.win
        return Quote(self.place.kind, self.place.on, self.win, Fraction(0), pays, self.edge)


def odds(options: Mapping[str, Value]) -> tuple[PlaceOdds, ...]:
    """Return the exact odds of all places under resolved options."""
    terms = Terms.of(options)
    return tuple(_of_place(terms, place) for place in PLACES.values())


def _of_place(terms: Terms, place: Place) -> PlaceOdds:
    ways: Counter[str] = Counter()
    gained = 0
    for dice, count in zip(OUTCOMES, WAYS, strict=True):
        if line := verdict(place.id, dice):
            ways[line] += count
        gained += count * _house_gain(terms, place, dice)
    throws = sum(WAYS)
    wins = tuple(
        Win(line, terms.paytable.odds(line), Fraction(n, throws))
        for line, n in sorted(ways.items())
    )
    return PlaceOdds(place, wins, Fraction(gained, throws))


def _house_gain(terms: Terms, place: Place, dice: Dice) -> int:
    """Return what the house gains on one unit, settled as in play."""
    bet = Bet(1, "player", place.id, 1)
    state = State(terms, (bet.player,), PAYS_MAX, bets=(bet,), dice=dice)
    outcome = Outcome((claim(state, bet),), bank=state.bankroll)
    paid = sum(
        event.returned + event.winnings
        for event in settle(outcome, terms.paytable)
        if isinstance(event, PaidOut)
    )
    return bet.stake - paid
