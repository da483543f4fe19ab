"""Two Alike 12 High in a few words: `race("PQR", "333 543 234")`."""

from __future__ import annotations

import pytest

from croupier.domain.commands import Ante, ChooseDeathRoll, ChooseWin, Roll
from croupier.domain.dice import Source
from croupier.domain.errors import Refused
from croupier.domain.event import (
    NAMES,
)
from tests.support.play import Sitting

DEALER = Source("dealer", "kim")
ANTE = 100


def dice(text):
    """Return the dice of a throw written as "456"."""
    return tuple(int(die) for die in text)


def roll(player, text):
    return Roll(player, dice(text), DEALER)


class RaceTable(Sitting):
    """A table of Two Alike 12 High; seats are letters."""

    def __init__(self, **setup):
        super().__init__("twelve_high", **setup)

    def ante(self, players=""):
        """Let these players ante, all of them if none is named."""
        return [
            event
            for p in players or self.seats
            for event in self.do(Ante(p, self.state.terms.ante))
        ]

    def roll(self, player, *throws):
        return tuple(event for thrown in throws for event in self.do(roll(player, thrown)))

    def throws(self, text):
        """Let whoever is called throw, one after the other: "445 221"."""
        return tuple(
            event for thrown in text.split() for event in self.roll(self.view.to_act[0], thrown)
        )

    def settle_order(self, order=""):
        """Ante, and throw for the rolling order so that it is `order`, as far as six places go."""
        self.ante()
        wanted = list(order or self.seats)
        while self.view.phase == "ORDER":
            for player in self.view.to_act:
                self.roll(player, str(min(6, 1 + wanted.index(player))))
                wanted = wanted if len(wanted) <= 6 else wanted[1:] + wanted[:1]
        return self

    def choose_win(self, player):
        return self.do(ChooseWin(player))

    def choose_death_roll(self, player):
        return self.do(ChooseDeathRoll(player))

    @property
    def points(self):
        """Return everybody's points as text: "P 7, Q 5"."""
        return ", ".join(f"{one.player} {one.points}" for one in self.state.racers)

    @property
    def out(self):
        return "".join(racer.player for racer in self.state.racers if racer.is_out)

    @property
    def won(self):
        """Return who won the last race and by which rule, as text, "" while it runs."""
        return f"{self.state.winner} {self.state.win_rule}".strip()

    def refuses(self, command, **round_number):
        """Ask for what is not allowed; return the refusal, which has left no trace."""
        before = self.snapshot()
        with pytest.raises(Refused) as caught:
            self.do(command, **round_number)
        assert self.snapshot() == before
        return caught.value


def table(seats="ABCD", **setup):
    return RaceTable(seats=seats, **{"ante": ANTE, **setup})


def race(order, throws="", **setup):
    """Return a table whose rolling order is that of its seats, after these throws."""
    at = table(order, **setup).settle_order()
    at.throws(throws)
    return at


def told(events):
    """Return the kinds of events without their fields: "Rolled PointsAdded"."""
    return " ".join(NAMES[type(event)].rpartition(".")[2] for event in events)
