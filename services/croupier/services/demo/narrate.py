"""Prints the demonstration so that a person can follow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.box import SIMPLE
from rich.console import Console
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from croupier.services import narration
from croupier.services.demo.script import Outcome, Session
from croupier.services.store.mapper import kind_of
from croupier.v1.events_pb2 import Event
from croupier.v1.tables_pb2 import Table

WIDTH = 100

_STYLES = {
    "rolled": "bold",
    "cup_opened": "bold",
    "throw_voided": "bold",
    "places_lit": "yellow",
    "paid_out": "green",
    "collected": "red",
    "bank_decided": "cyan",
    "banker_chosen": "cyan",
    "shoot_out_called": "cyan",
    "death_roll_started": "bold red",
    "eliminated": "red",
    "race_won": "bold green",
    "hand_dealt": "bold",
    "table_swept": "yellow",
    "hand_scored": "cyan",
    "match_won": "bold green",
    "deposited": "dim",
}


class Narrator:
    """Says what happens, to a terminal or into a file."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(width=WIDTH, highlight=False)

    def say(self, text: str = "", style: str = "") -> None:
        """Print a line as it is."""
        self._console.print(Text(text, style), soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print the heading of a part."""
        self._console.print()
        self._console.rule(Text(text, "bold"), align="left")

    def session(self, session: Session) -> None:
        """Print what a session shows and who sits where."""
        self._console.print()
        self._console.print(Panel(Text(session.story), title=Text(session.title), width=WIDTH))
        self.say(f"seats, clockwise: {' > '.join(session.seats)} > {session.seats[0]}")

    def round(self, table: Table) -> None:
        """Print the beginning of a round."""
        banks = ""
        if "banker" in table.details:
            banks = f", {table.details['banker'].string_value} banks"
        self.say()
        self.say(f"Round {table.round}{banks}", "bold underline")

    def events(self, events: Iterable[Event], currency: str) -> None:
        """Print what happened, one line for each event."""
        for event in events:
            kind = kind_of(event)
            if kind != "round_started":  # the heading says so
                text = narration.happened(event, currency)
                self.say(f"  {text}", _STYLES.get(kind, ""))

    def outcome(self, seen: Outcome, currency: str) -> None:
        """Print what the round came to."""
        nets = (
            f"{player} {narration.major(net, currency, sign=True)}"
            for player, net in seen.nets.items()
        )
        self.say(f"  nets: {', '.join(nets)} {currency}", "italic")

    def balances(self, before: Mapping[str, int], currency: str) -> None:
        """Print what the players own."""
        owned = (f"{player} {narration.major(n, currency)}" for player, n in before.items())
        self.say(f"balances before: {', '.join(owned)} {currency}")

    def balances_after(
        self, before: Mapping[str, int], after: Mapping[str, int], currency: str
    ) -> None:
        """Print what the players owned and own."""
        grid = Grid("player", box=SIMPLE)
        for title in ("before", "after", "change"):
            grid.add_column(f"{title}, {currency}", justify="right")
        for player in before:
            grid.add_row(
                player,
                narration.major(before[player], currency),
                narration.major(after[player], currency),
                narration.major(after[player] - before[player], currency, sign=True),
            )
        self._console.print(grid)

    def checked(self, what: str, wrong: Iterable[str]) -> None:
        """Print a check and all that is wrong."""
        found = list(wrong)
        self.say(f"{'DISAGREES' if found else 'agrees':10}{what}", "bold red" if found else "green")
        for one in found:
            self.say(f"          {one}", "red")
