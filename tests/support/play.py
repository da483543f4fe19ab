"""A table played in memory: commands in, events out, every balance kept and checked."""

from __future__ import annotations

from croupier.domain import names
from croupier.domain.bookkeeping import table_postings
from croupier.domain.games import game_of
from croupier.domain.games.protocol import house_banked
from croupier.domain.postings import check_cover, post
from croupier.domain.table import close, fold, open_table, play, void

TABLE, CURRENCY = "t1", "EUR"
ESCROW = (names.escrow(TABLE), CURRENCY)
BANK = (names.bankroll(TABLE), CURRENCY)
BANKROLL = 100_000


class Sitting:
    """One table, its stream and the money of all who play at it.

    After every single event the escrow account holds exactly what the game says is at risk, and
    where the house banks, so does the bankroll. The dealer plays as the table's banker.
    """

    def __init__(
        self, game, *, seats="ABCD", banker=None, purse=1_000_000, bankroll=BANKROLL, **options
    ):
        house = house_banked(game_of(game)) is not None
        if banker is None:
            banker = names.HOUSE if house else seats[0]
        opened = open_table(
            table_id=TABLE,
            game_code=game,
            options=options,
            seats=tuple(seats),
            currency=CURRENCY,
            banker=banker,
            bankroll=bankroll if house else 0,
        )
        self.purse = purse
        self.table = fold(None, opened)
        self.events = [opened]
        self.history = [self.table]
        self.balances = {(names.player(seat), CURRENCY): purse for seat in opened.seats}
        if house:
            self.balances |= {(names.HOUSE, CURRENCY): 0, BANK: bankroll}
        self.money = sum(self.balances.values())

    @property
    def state(self):
        return self.table.state

    @property
    def seats(self):
        return self.table.opened.seats

    @property
    def actors(self):
        """Return everybody who can act: the seats, and a banker who has none."""
        return tuple(dict.fromkeys((*self.seats, self.table.opened.banker)))

    @property
    def view(self):
        return self.table.view

    def do(self, command, *, round_number=None):
        """Play a command and return its events, or refuse and change nothing."""
        number = self.table.round if round_number is None else round_number
        return self._take(play(self.table, command, number))

    def close(self):
        return self._take(close(self.table))

    def void(self, reason):
        return self._take(void(self.table, self.table.round, reason))

    def _take(self, steps):
        """Record the events of steps, which must say the same as folding the events does."""
        events = self.record([step.event for step in steps])
        assert [step.after for step in steps] == self.history[-len(steps) :]
        return events

    def record(self, events):
        postings = [p for event in events for p in self._postings(event)]
        check_cover(lambda key: self.balances.get(key, 0), postings)
        for event in events:
            post(self.balances, self._postings(event))
            self.table = fold(self.table, event)
            self.events.append(event)
            self.history.append(self.table)
            assert self.balances.get(ESCROW, 0) == self.table.at_risk, event
            assert self.balances.get(BANK, 0) == self.table.bankroll >= 0, event
            assert all(holding.amount > 0 for holding in self.table.holdings)
        return tuple(events)

    def _postings(self, event):
        house_banks = self.table.house_banks
        return table_postings(event, TABLE, CURRENCY, house_banks=house_banks)

    def purse_of(self, player):
        return self.balances[names.player(player), CURRENCY]

    def worth(self, player):
        """Return what a player owns: his purse and what the table holds for him."""
        held = sum(h.amount for h in self.table.holdings if h.player == player)
        return self.purse_of(player) + held

    def worths(self):
        return {seat: self.worth(seat) for seat in self.seats}

    def snapshot(self):
        """Return everything that a refused command must leave as it is."""
        return self.table, tuple(self.events), dict(self.balances)


def only(events, kind):
    """Return the one event of a kind."""
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


def each(events, kind):
    """Return the events of a kind, in order."""
    return [event for event in events if isinstance(event, kind)]
