"""Banked cee-lo in a few words: `table.play_round(900, "B 300, C 600", "224", "B 225, C 554")`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from croupier.domain.commands import (
    Decline,
    Fade,
    KeepBank,
    PassBank,
    PostBank,
    ResignBank,
    Roll,
)
from croupier.domain.dice import Source
from croupier.domain.errors import Refused
from croupier.domain.events import (
    BankDecided,
    FadingClosed,
)
from tests.support.play import Sitting, only

DEALER = Source("dealer", "kim")


def dice(text):
    """Return the dice of a throw written as "456"."""
    return tuple(int(die) for die in text)


def roll(player, text):
    return Roll(player, dice(text), DEALER)


@dataclass(frozen=True)
class Played:
    """One round: its events and what each seat gained, the carried bank counted as its owner's."""

    events: tuple
    nets: dict

    @property
    def bank(self):
        return only(self.events, BankDecided)

    @property
    def passed(self):
        """Return who banks next and by which rule."""
        return self.bank.next_banker, self.bank.rule

    @property
    def uncovered(self):
        return only(self.events, FadingClosed).uncovered


class CeeloTable(Sitting):
    """A table of banked cee-lo; seats are letters, clockwise."""

    def __init__(self, **setup):
        super().__init__("ceelo_bank", **setup)

    def post(self, amount, player=None):
        return self.do(PostBank(player or self.state.banker, amount))

    def fade(self, player, stake):
        return self.do(Fade(player, stake))

    def decline(self, player):
        return self.do(Decline(player))

    def roll(self, player, *throws):
        events = ()
        for throw in throws:
            events += self.do(roll(player, throw))
        return events

    def keep(self, player):
        return self.do(KeepBank(player))

    def pass_on(self, player):
        return self.do(PassBank(player))

    def resign(self, player):
        return self.do(ResignBank(player))

    def open_fading(self, bank):
        self.post(bank)
        return self

    def cover(self, bank, fades):
        """Post a bank and go round the table with it; seats without a fade decline."""
        events = self.post(bank)
        stakes = {player: int(stake) for player, stake in map(str.split, _entries(fades))}
        while self.state.phase == "FADING":
            player = self.state.next_offer
            stake = stakes.pop(player, 0)
            events += self.fade(player, stake) if stake else self.decline(player)
        assert not stakes, "these were not offered the bank"
        return events

    def play_round(self, bank, fades, banker="", throws=""):
        """Play one whole round; `bank` is what the banker adds to what he carries."""
        before, banks = self.worths(), self.state.banker
        events = self.cover(bank, fades)
        events += self.roll(banks, *banker.split())
        for player, *thrown in map(str.split, _entries(throws)):
            events += self.roll(player, *thrown)
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


def table(*, seats="ABCD", banker="A", purse=1_000_000, **options):
    return CeeloTable(seats=seats, banker=banker, purse=purse, **options)


def throwing(fades="B 100, C 100", **setup):
    """Return a table whose bank is covered exactly, the banker about to throw."""
    at = table(**setup)
    at.cover(sum(int(entry.split()[1]) for entry in _entries(fades)), fades)
    return at


def nets(played, seats=""):
    """Return the nets as text: "A -200, B +200", seats without any left out unless asked for."""
    shown = seats or [seat for seat, net in played.nets.items() if net]
    return ", ".join(f"{seat} {played.nets[seat]:+}" for seat in shown)


def _entries(text):
    return [entry for entry in text.split(",") if entry.strip()]
