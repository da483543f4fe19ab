"""Bets that chance decided, and what the exact odds said of them before.

Of a game that is paid by odds, every bet of a settled round is counted: how it ended, what was
staked, won and lost, and beside it the mean and the variance that the odds give for the very bets
that were made. From these sums the return can be judged over any stretch of time, whatever was
bet on what: won less lost differs from its mean by so many times the root of the variance.
What was won is what the odds say, also where a bank could not pay it all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from croupier.domain.event import Value
from croupier.domain.events import TableOpened
from croupier.domain.games import GAMES
from croupier.domain.games.theory import Bet, Moments, OddsBased, odds_based
from croupier.services.metrics.declaring import Catalogue
from croupier.services.metrics.labels import BETS_MAX, OTHER, Currencies, Paytables
from croupier.v1 import events_pb2

WON, LOST, PUSHED = "won", "lost", "pushed"
LEAST, MOST = "least", "most"

_ODDS_BASED: Mapping[str, OddsBased] = {
    code: found for code, game in GAMES.items() if (found := odds_based(game)) is not None
}

Options = frozenset[tuple[str, Value]]

Key = tuple[str, str, str]
"""Game, paytable and currency, as labels."""


class Round:
    """The bets of one round that a commit settled."""

    __slots__ = ("bets", "counts", "lost", "opened", "won")

    def __init__(self, opened: TableOpened) -> None:
        self.opened = opened
        self.bets: list[Bet] = []
        self.counts = {WON: 0, LOST: 0, PUSHED: 0}
        self.won = self.lost = 0


class Rounds:
    """Gathers the settled bets of a commit by table and round."""

    __slots__ = ("rounds",)

    def __init__(self) -> None:
        self.rounds: dict[tuple[str, int], Round] = {}

    def collected(self, opened: TableOpened | None, event: events_pb2.Event) -> None:
        """Take a stake that was lost."""
        if opened is None or opened.game not in _ODDS_BASED:
            return
        said = event.collected
        found = self._round(opened, event)
        found.bets.append(Bet(said.rule, said.stake))
        found.counts[LOST] += 1
        found.lost += said.amount

    def paid_out(self, opened: TableOpened | None, event: events_pb2.Event) -> None:
        """Take a stake that was won or pushed, and nothing that is merely handed back."""
        if opened is None or (game := _ODDS_BASED.get(opened.game)) is None:
            return
        said = event.paid_out
        if said.HasField("odds"):
            result = WON
        elif said.rule in game.pushes:
            result = PUSHED
        else:
            return
        found = self._round(opened, event)
        found.bets.append(Bet(said.rule, said.stake))
        found.counts[result] += 1
        found.won += said.owed if result is WON else 0

    def _round(self, opened: TableOpened, event: events_pb2.Event) -> Round:
        key = (event.stream, event.round)
        found = self.rounds.get(key)
        if found is None:
            found = self.rounds[key] = Round(opened)
        return found


class Bets:
    """The series of settled bets."""

    def __init__(self, catalogue: Catalogue, currencies: Currencies) -> None:
        labels = ("game", "paytable", "currency")
        catalogue.section("Bets by odds, and their theory")
        counter, gauge = catalogue.counter, catalogue.gauge
        self._bets = counter("bets_total", "Bets that chance decided", *labels, "result")
        money = {
            "stakes": "Stakes of bets that chance decided",
            "wins": "Profit of winning bets by the odds",
            "losses": "What losing bets cost",
            "expected_wins": "Profit that these bets have on average by the exact odds",
            "expected_losses": "Loss that these bets have on average by the exact odds",
        }
        self._sums = [
            counter(f"bet_{name}_minor_units_total", text, *labels) for name, text in money.items()
        ]
        self._sums.append(
            counter(
                "bet_variance_square_minor_units_total",
                "Variance of wins less losses by the exact odds",
                *labels,
            )
        )
        self._furthest = gauge(
            "bet_furthest_deviation_minor_units",
            "The most by which wins less losses of one round could have differed from their mean",
            *labels,
        )
        self._theory = gauge(
            "theory_return_ratio",
            "What comes back of a stake on average at the least and at the most generous place",
            "game",
            "paytable",
            "bound",
        )
        self._catalogue = catalogue
        self._currencies = currencies
        self._paytables = Paytables()
        self._keys: dict[tuple[str, bytes, str], Key] = {}
        self._most: dict[Key, float] = {}
        self._quoted: dict[tuple[str, str], tuple[float, float]] = {}
        self._seen: set[tuple[str, Options]] = set()
        self._to_quote: list[tuple[str, str, Options]] = []

    def settled(self, rounds: Rounds) -> None:
        """Count the bets that a commit settled."""
        for one in rounds.rounds.values():
            game, options = one.opened.game, frozenset(one.opened.options.items())
            moments = _moments_of(game, options)(one.bets)
            key = self._key(one.opened)
            if (game, options) not in self._seen and len(self._seen) < BETS_MAX:
                self._seen.add((game, options))
                self._to_quote.append((game, key[1], options))
            sums = (
                sum(bet.stake for bet in one.bets),
                one.won,
                one.lost,
                float(moments.won),
                float(moments.lost),
                float(moments.variance),
            )
            child = self._catalogue.child
            for metric, by in zip(self._sums, sums, strict=True):
                child(metric, *key).inc(by)
            for result, count in one.counts.items():
                child(self._bets, *key, result).inc(count)
            furthest = float(moments.furthest)
            if furthest >= self._most.get(key, 0.0):
                self._most[key] = furthest
                child(self._furthest, *key).set(furthest)

    def quote(self) -> None:
        """Report the theory of one table that is new in kind; it takes tens of milliseconds."""
        if not self._to_quote:
            return
        game, paytable, options = self._to_quote.pop(0)
        returns = [1 - quote.edge for quote in GAMES[game].quotes(dict(options))]
        least, most = float(min(returns)), float(max(returns))
        # Games of one paytable may differ in other rules.
        before = self._quoted.get((game, paytable), (least, most))
        self._quoted[game, paytable] = bounds = (min(least, before[0]), max(most, before[1]))
        for bound, value in zip((LEAST, MOST), bounds, strict=True):
            self._catalogue.child(self._theory, game, paytable, bound).set(value)

    def _key(self, opened: TableOpened) -> Key:
        known = (opened.game, opened.paytable_digest, opened.currency)
        key = self._keys.get(known)
        if key is None:
            paytable = self._paytables.label(opened.game, opened.paytable_digest)
            key = (opened.game, paytable, self._currencies.label(opened.currency))
            if key not in self._most and len(self._most) >= BETS_MAX:
                # Their deviations can be told from luck all the same: variances add up.
                key = (opened.game, OTHER, OTHER)
            if len(self._keys) < BETS_MAX:
                self._keys[known] = key
            self._most.setdefault(key, 0.0)
        return key


@lru_cache(maxsize=64)
def _moments_of(game: str, options: Options) -> Callable[[Sequence[Bet]], Moments]:
    """Return what gives the moments of bets under these options."""
    found, given = _ODDS_BASED[game], dict(options)
    return lambda bets: found.moments(given, bets)
