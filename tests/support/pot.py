"""Winner-take-all cee-lo in a few words: `table().play_round("456 666 123")`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from croupier.domain.commands import Ante, Roll
from croupier.domain.dice import Source
from croupier.domain.errors import Refused
from croupier.domain.events import (
    PaidOut,
    ShootOutCalled,
)
from tests.support.play import Sitting, each, only

DEALER = Source("dealer", "kim")


def dice(text):
    """Return the dice of a throw written as "456"."""
    return tuple(int(die) for die in text)


def roll(player, text):
    return Roll(player, dice(text), DEALER)


@dataclass(frozen=True)
class Played:
    """One round: its events and what each seat gained."""

    events: tuple
    nets: dict

    @property
    def winner(self):
        return only(self.events, PaidOut).player

    @property
    def shoot_outs(self):
        """Return who took part in each shoot-out: "AB", "BC", ..."""
        return ["".join(called.players) for called in each(self.events, ShootOutCalled)]


class PotTable(Sitting):
    """A table of winner-take-all cee-lo; seats are letters, clockwise."""

    def __init__(self, **setup):
        super().__init__("ceelo_pot", **setup)

    @property
    def agreed(self):
        return self.table.opened.options["ante"]

    def ante(self, player, amount=None):
        return self.do(Ante(player, self.agreed if amount is None else amount))

    def all_ante(self):
        """Let everybody who owes an ante pay it."""
        events = ()
        for player in self.view.to_act:
            events += self.ante(player)
        return events

    def throw(self, throws):
        """Let whoever's turn it is throw, one after the other; a second ante is paid at once."""
        events = ()
        for text in throws.split():
            if self.view.phase == "RE_ANTE":
                events += self.all_ante()
            events += self.do(roll(self.view.to_act[0], text))
        return events

    def play_round(self, throws):
        """Play one whole round, all throws in the order in which they are thrown."""
        before = self.worths()
        events = self.all_ante() + self.throw(throws)
        assert not self.table.in_round
        nets = {seat: worth - before[seat] for seat, worth in self.worths().items()}
        assert sum(nets.values()) == 0
        return Played(events, nets)

    def refuses(self, command, **round_number):
        """Ask for what is not allowed; return the refusal, which has left no trace."""
        before = self.snapshot()
        with pytest.raises(Refused) as caught:
            self.do(command, **round_number)
        assert self.snapshot() == before
        return caught.value


def table(*, seats="ABC", ante=100, banker="", **setup):
    return PotTable(seats=seats, ante=ante, banker=banker, **setup)


def throwing(throws="", **setup):
    """Return a table at which all have anted, after some throws."""
    at = table(**setup)
    at.all_ante()
    at.throw(throws)
    return at


def nets(played):
    return ", ".join(f"{seat} {net:+}" for seat, net in played.nets.items())
