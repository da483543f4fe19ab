"""Fish-Prawn-Crab in a few words: `table().play_round({"A": "big 100"}, "456")`."""

from __future__ import annotations

from itertools import product

import pytest

from croupier.domain.commands import Cover, LightOn, OpenCup, PlaceBet, PressHandle, RingBell
from croupier.domain.dice import Source
from croupier.domain.errors import Refused
from croupier.domain.names import HOUSE
from tests.support.play import CURRENCY, Sitting

DEALER = Source("dealer", "kim")
GAME = "fish_prawn_crab"
THROWS = tuple(product(range(1, 7), repeat=3))

SHAKE = (Cover(HOUSE), *(PressHandle(HOUSE),) * 3)
UP_TO = {
    "READY": (),
    "COVERED": SHAKE[:1],
    "SHAKEN": SHAKE,
    "BETTING": (*SHAKE, LightOn(HOUSE)),
    "NO_MORE_BETS": (*SHAKE, LightOn(HOUSE), RingBell(HOUSE)),
}
"""The dealer's way to each phase."""


def opened(dice):
    """Return the command to open the cup on dice written as "456", or given."""
    return OpenCup(HOUSE, tuple(map(int, dice)), DEALER)


def void(reason="a die is tilted"):
    return OpenCup(HOUSE, (), DEALER, reason)


class CupTable(Sitting):
    def to(self, phase):
        """Go from READY to a phase."""
        for command in UP_TO[phase]:
            self.do(command)
        assert self.state.phase == phase
        return self

    def bet(self, player, place, stake):
        return self.do(PlaceBet(player, place, stake))

    def bets(self, bets):
        """Place bets written as {"A": "big 100, total_4 5"}."""
        for player, places in bets.items():
            for one in filter(None, places.split(",")):
                place, stake = one.split()
                self.bet(player, place, int(stake))

    def shake(self, bets):
        """Go from READY to an open cup's moment before, with bets."""
        self.to("BETTING")
        self.bets(bets)
        self.do(RingBell(HOUSE))

    def play_round(self, bets, dice):
        """Play a whole round and return the events of its opening."""
        self.shake(bets)
        return self.do(opened(dice))

    @property
    def house(self):
        """Return what the house has, at the table and beside it."""
        return self.balances[HOUSE, CURRENCY] + self.table.bankroll

    def net(self, bets, dice):
        """Return what a round brings the players, by name."""
        before = self.worths()
        self.play_round(bets, dice)
        return {player: worth - before[player] for player, worth in self.worths().items()}

    def refused(self, command, reason):
        """Return how a command is refused; nothing may have changed."""
        before = self.snapshot()
        with pytest.raises(Refused) as caught:
            self.do(command)
        assert caught.value.reason is reason, caught.value
        assert self.snapshot() == before
        return caught.value


def table(**options):
    return CupTable(GAME, **options)
