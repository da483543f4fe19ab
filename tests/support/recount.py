"""What the counters must be, counted again from the log alone, by other means than theirs.

A bet is known here by its placing and by the round's end; theirs are known by their payouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from croupier.domain.events import TableOpened
from croupier.domain.games import GAMES
from croupier.domain.games.options import PRESET, resolve
from croupier.domain.games.theory import Bet, odds_based
from croupier.services.store.mapper import payload_from_wire
from croupier.v1.events_pb2 import Event, Posting

Series = tuple[Any, ...]
"""A sample's name and its labels, sorted."""


def samples(port: int) -> dict[Series, float]:
    """Return every sample that a process shows, by name and labels."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        text = response.read().decode()
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def named(shown: dict[Series, float], names: Iterable[str]) -> dict[Series, float]:
    """Return the series of some names, without those that are 0."""
    wanted = set(names)
    return {key: value for key, value in shown.items() if key[0] in wanted and value}


def paytable_of(opened: TableOpened) -> str:
    """Return what a table's paytable is called."""
    game = GAMES[opened.game]
    same = [
        preset
        for preset in game.presets
        if game.paytable(resolve(game.options, game.presets, {PRESET: preset})).digest()
        == opened.paytable_digest
    ]
    return "/".join(same) or opened.paytable_digest.hex()[:8]


@dataclass
class Table:
    """A table as far as its counters go."""

    opened: TableOpened
    bets: dict[int, Bet] = field(default_factory=dict)
    won: int = 0
    lost: int = 0
    wins: int = 0
    losses: int = 0

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Return the labels of its bets."""
        return [
            ("currency", self.opened.currency),
            ("game", self.opened.game),
            ("paytable", paytable_of(self.opened)),
        ]

    def forget(self) -> None:
        """Begin anew, with no bets."""
        self.bets.clear()
        self.won = self.lost = self.wins = self.losses = 0


class Recount:
    """Counts a log, event by event."""

    def __init__(self, log: Iterable[Event]) -> None:
        self.exact: Counter[Series] = Counter()
        self.theory: Counter[Series] = Counter()
        """Sums of ratios, which are floats where they are shown."""
        self._tables: dict[str, Table] = {}
        commands = set()
        for event in log:
            commands.add((event.caller, event.request_id))
            self._count(event)
        self.exact["croupier_commands_total",] = len(commands)

    @property
    def names(self) -> set[str]:
        """Return the names of all that was counted."""
        return {key[0] for key in (*self.exact, *self.theory)}

    def _count(self, event: Event) -> None:
        kind = event.WhichOneof("payload")
        if kind == "table_opened":
            opened = payload_from_wire(event)
            assert isinstance(opened, TableOpened)
            self._tables[event.stream] = Table(opened)
        table = self._tables.get(event.stream)
        game = table.opened.game if table else ""
        self._add("croupier_events_total", 1, ("game", game), ("kind", kind))
        self._add("croupier_commit_batch_events_sum", 1)
        if kind in ("round_started", "round_settled", "round_voided"):
            what = kind.removeprefix("round_")
            self._add(f"croupier_rounds_{what}_total", 1, ("game", game))
        for posting in event.postings:
            for name, labels in moved(posting, game):
                self._add(name, posting.amount, *labels)
        won = event.paid_out.winnings + event.paid_out.top_up
        if won:
            labels = (("currency", event.postings[0].currency), ("game", game))
            self._add("croupier_winnings_minor_units_total", won, *labels)
        if table is not None and odds_based(GAMES[game]):
            self._bet(table, event, kind)

    def _bet(self, table: Table, event: Event, kind: str | None) -> None:
        match kind:
            case "faded":
                table.bets[-len(table.bets) - 1] = Bet("", event.faded.stake)
            case "bet_placed":
                placed = event.bet_placed
                table.bets[placed.bet] = Bet(placed.place, placed.stake)
            case "collected":
                table.lost += 1
                table.losses += event.collected.amount
            case "paid_out" if event.paid_out.owed:
                table.won += 1
                table.wins += event.paid_out.owed
            case "throw_voided" if table.opened.options["void_bets"] == "refund":
                table.forget()
            case "round_voided":
                table.forget()
            case "round_settled" if not event.round_settled.carried or "faded" in kinds(table):
                self._settle(table)
            case _:
                pass

    def _settle(self, table: Table) -> None:
        """Count the bets of a round that ended and was paid."""
        bets = list(table.bets.values())
        moments = odds_based(GAMES[table.opened.game]).moments(table.opened.options, bets)
        results = {
            "won": table.won,
            "lost": table.lost,
            "pushed": len(bets) - table.won - table.lost,
        }
        for result, count in results.items():
            self._add("croupier_bets_total", count, *table.labels, ("result", result))
        sums = {
            "stakes": sum(bet.stake for bet in bets),
            "wins": table.wins,
            "losses": table.losses,
        }
        for what, amount in sums.items():
            self._add(f"croupier_bet_{what}_minor_units_total", amount, *table.labels)
        theory = {
            "expected_wins_minor": moments.won,
            "expected_losses_minor": moments.lost,
            "variance_square_minor": moments.variance,
        }
        for what, exact in theory.items():
            self.theory[f"croupier_bet_{what}_units_total", *table.labels] += exact
        table.forget()

    def _add(self, name: str, by: int, *labels: tuple[str, Any]) -> None:
        if by:
            self.exact[name, *labels] += by


def kinds(table: Table) -> set[str]:
    """Return how bets are made at a table, where any are: fades have no numbers."""
    return {"faded" if number < 0 else "bet_placed" for number in table.bets}


def moved(posting: Posting, game: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield the counter of a movement of money, and its labels."""
    currency = ("currency", posting.currency)
    if posting.destination.startswith("escrow:"):
        yield "croupier_stakes_minor_units_total", (currency, ("game", game))
    if posting.destination.startswith("player:") and posting.source.startswith(
        ("escrow:", "bankroll:")
    ):
        yield "croupier_payouts_minor_units_total", (currency, ("game", game))
    if posting.source == "external":
        yield "croupier_deposits_minor_units_total", (currency,)
    if posting.destination == "external":
        yield "croupier_withdrawals_minor_units_total", (currency,)
