"""What commits raise: events, rounds, money and bets. Only the process that committed does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import structlog

from croupier.domain.events import TableOpened
from croupier.domain.games import GAMES
from croupier.services.metrics.bets import Bets, Rounds
from croupier.services.metrics.declaring import SECONDS, SIZES, Catalogue
from croupier.services.metrics.labels import UNKNOWN, Currencies
from croupier.v1 import events_pb2

logger = structlog.get_logger()

Counts = dict[tuple[Any, ...], int]
"""By how much to raise which series: the metric and its labels."""

OpenedOf = Callable[[str], TableOpened | None]
"""Gives how the table of a stream was opened, None for any other stream."""


class Commits:
    """The series that are raised by commits."""

    def __init__(self, catalogue: Catalogue, currencies: Currencies) -> None:
        self._catalogue = catalogue
        self._currencies = currencies
        counter, histogram = catalogue.counter, catalogue.histogram
        catalogue.section("What is recorded")
        self._commands = counter("commands_total", "Commands recorded")
        self._events = counter("events_total", "Events recorded", "kind", "game")
        started = counter("rounds_started_total", "Rounds begun", "game")
        settled = counter("rounds_settled_total", "Rounds that ended and were paid", "game")
        voided = counter("rounds_voided_total", "Rounds that an operator ended void", "game")
        self._rounds = {
            "round_started": started,
            "round_settled": settled,
            "round_voided": voided,
        }
        for metric in self._rounds.values():
            catalogue.begin(metric, GAMES)
        catalogue.section("Money")
        self._stakes = counter(
            "stakes_minor_units_total", "Money put into escrow", "game", "currency"
        )
        self._payouts = counter(
            "payouts_minor_units_total",
            "Money that tables paid to players, own money returned included",
            "game",
            "currency",
        )
        self._winnings = counter(
            "winnings_minor_units_total", "Money won from the banker", "game", "currency"
        )
        self._deposits = counter("deposits_minor_units_total", "Money brought in", "currency")
        self._withdrawals = counter("withdrawals_minor_units_total", "Money taken out", "currency")
        self.bets = Bets(catalogue, currencies)
        catalogue.section("Commits")
        self._seconds = histogram(
            "commit_seconds", "Time of a turn that recorded something, seconds", SECONDS
        )
        self._of_commands = histogram(
            "commit_batch_commands", "Commands recorded by one commit", SIZES
        )
        self._of_events = histogram("commit_batch_events", "Events recorded by one commit", SIZES)

    def committed(
        self,
        events: Iterable[events_pb2.Event],
        commands: int,
        seconds: float,
        opened_of: OpenedOf,
    ) -> None:
        """Count what this process recorded with one commit."""
        count = 0
        # Summed first: a series is raised once for a commit, whatever it holds.
        raised: Counts = defaultdict(int)
        rounds = Rounds()
        stream, opened, game = "", None, ""
        for event in events:
            count += 1
            if event.stream != stream:  # the events of a command are of one table, mostly
                stream = event.stream
                opened = opened_of(stream)
                game = _game(opened)
            kind = event.WhichOneof("payload") or UNKNOWN
            # Never raises: what is counted here is committed already.
            raised[self._events, kind, game] += 1
            for posting in event.postings:
                self._posted(raised, posting, game)
            match kind:
                case "collected":
                    rounds.collected(opened, event)
                case "paid_out":
                    rounds.paid_out(opened, event)
                    won = event.paid_out.winnings + event.paid_out.top_up
                    if won and event.postings:
                        currency = self._currencies.label(event.postings[0].currency)
                        raised[self._winnings, game, currency] += won
                case "round_started" | "round_settled" | "round_voided":
                    raised[self._rounds[kind], game] += 1
                case _:
                    pass
        child = self._catalogue.child
        for (metric, *labels), by in raised.items():
            child(metric, *labels).inc(by)
        self._commands.inc(commands)
        self._seconds.observe(seconds)
        self._of_commands.observe(commands)
        self._of_events.observe(count)
        if rounds.rounds:
            self._settled(rounds)

    def _settled(self, rounds: Rounds) -> None:
        try:
            self.bets.settled(rounds)
        except Exception:
            logger.exception("bets not counted")

    def _posted(self, raised: Counts, posting: events_pb2.Posting, game: str) -> None:
        source, destination = posting.source, posting.destination
        currency = self._currencies.label(posting.currency)
        if destination.startswith("escrow:"):
            raised[self._stakes, game, currency] += posting.amount
        elif source.startswith(("escrow:", "bankroll:")):
            if destination.startswith("player:"):
                raised[self._payouts, game, currency] += posting.amount
        elif source == "external":
            raised[self._deposits, currency] += posting.amount
        elif destination == "external":
            raised[self._withdrawals, currency] += posting.amount


def _game(opened: TableOpened | None) -> str:
    if opened is None:
        return ""
    return opened.game if opened.game in GAMES else UNKNOWN
