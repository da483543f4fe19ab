"""A session that makes every kind of event, with fixed ids, dice, decks, salts and times.

`python tests/golden/scenario.py` writes the golden log anew. The log is a promise: what is stored
is read for ever. A change to it is named in CHANGELOG.md with the reason.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from croupier.domain import commands  # noqa: E402
from croupier.domain.dice import Source  # noqa: E402
from croupier.domain.draws import seal  # noqa: E402
from croupier.services.ledger import sealing  # noqa: E402
from croupier.services.ledger.requests import (  # noqa: E402
    CloseTable,
    CreateLedger,
    Deposit,
    OpenTable,
    Play,
    UnfenceLedger,
    VoidRound,
    Withdraw,
)
from croupier.v1 import events_pb2  # noqa: E402
from tests.golden import royal_casino  # noqa: E402  # the path above comes first
from tests.support.ledgers import LEDGER, Clock, House  # noqa: E402

LOG = HERE / "log.jsonl"
BOOKS = HERE / "books.json"
SEATS = ("anna", "bert", "cleo")
DEALER = Source("dealer", "kim")
STEP_US = 1_500_000


def roll(player, *dice):
    return commands.Roll(player, dice, DEALER)


def plays():
    """Yield (table, round, command): each result of a bet, each way the bank goes on."""
    post, fade, decline = commands.PostBank, commands.Fade, commands.Decline
    yield from (("t1", 1, c) for c in (post("anna", 9000), fade("bert", 3000)))
    yield from (("t1", 1, c) for c in (decline("cleo"), roll("anna", 1, 2, 4)))
    yield from (("t1", 1, c) for c in (roll("anna", 2, 2, 3), roll("bert", 1, 1, 2)))
    yield from (("t1", 2, c) for c in (post("anna", 500), decline("bert"), fade("cleo", 6500)))
    yield from (("t1", 2, c) for c in (roll("anna", 6, 4, 4),))
    yield ("t1", 3, commands.ResignBank("anna"))
    # Multiplied for both sides: winnings, top-ups and reserves that return.
    yield from (("t2", 1, c) for c in (post("anna", 1000), fade("bert", 400), fade("cleo", 600)))
    yield from (("t2", 1, c) for c in (roll("anna", 4, 4, 3), roll("bert", 1, 1, 1)))
    yield from (("t2", 1, c) for c in (roll("cleo", 5, 5, 3),))
    yield from (("t2", 2, c) for c in (post("bert", 200), fade("cleo", 100), fade("anna", 100)))
    yield from (("t2", 2, c) for c in (roll("bert", 4, 5, 6),))
    # The German choice after an automatic loss.
    yield from (("t3", 1, c) for c in (post("anna", 500), fade("bert", 200), fade("cleo", 300)))
    yield from (("t3", 1, c) for c in (roll("anna", 1, 2, 3),))
    yield ("t3", 2, commands.PassBank("anna"))


def pot():
    """Yield a session of winner-take-all cee-lo: a shoot-out of new antes, and a 4-5-6 at once."""
    options = {"ante": 300, "shootout_ante": "re_ante", "first_thrower": "previous_winner"}
    for table, more in (("pot1", {}), ("pot2", {"instant_456": True})):
        yield OpenTable(table, "ceelo_pot", {**options, **more}, SEATS, "EUR", "anna")
    antes = [commands.Ante(player, 300) for player in SEATS]
    first = [*antes, roll("anna", 1, 3, 4), roll("anna", 2, 5, 2), roll("bert", 5, 6, 6)]
    first += [roll("cleo", 1, 2, 3), commands.Ante("bert", 300), commands.Ante("anna", 300)]
    first += [roll("anna", 4, 4, 1), roll("bert", 2, 2, 2)]
    for command in first:
        yield Play("pot1", 1, command)
    yield Play("pot1", 2, commands.Ante("cleo", 300))
    for command in (*antes, roll("anna", 6, 6, 6), roll("bert", 5, 4, 6)):
        yield Play("pot2", 1, command)


def twelve_high():
    """Yield a session of Two Alike 12 High: a house rule's Death Roll, then a High Storm's win."""
    yield Deposit("player:dora", "EUR", 50_000)
    seats = (*SEATS, "dora")
    options = {"ante": 700, "house_rule": True}
    yield OpenTable("t4", "twelve_high", options, seats, "EUR", "anna")
    plays = [commands.Ante(seat, 700) for seat in seats]
    plays += [roll("anna", 3), roll("bert", 3), roll("cleo", 5), roll("dora", 1)]
    plays += [roll("anna", 6), roll("bert", 2)]
    plays += [roll("dora", 6, 6, 4), roll("bert", 4, 5, 6), commands.ChooseDeathRoll("bert")]
    plays += [roll("anna", 5, 5, 5), roll("cleo", 6, 6, 6), roll("dora", 4, 4, 4)]
    plays += [roll("bert", 6, 1, 5), roll("anna", 1, 2, 4), roll("cleo", 1, 2, 3)]
    plays += [roll("bert", 3, 3, 3), roll("anna", 4, 4, 2)]
    for command in plays:
        yield Play("t4", 1, command)
    plays = [commands.Ante(seat, 700) for seat in seats]
    plays += [roll("anna", 4), roll("bert", 3), roll("cleo", 2), roll("dora", 1)]
    plays += [roll("dora", 6, 5, 4), commands.ChooseWin("dora")]
    for command in plays:
        yield Play("t4", 2, command)


def session():
    """Yield every command of the session."""
    yield CreateLedger(LEDGER)
    for player in SEATS:
        yield Deposit(f"player:{player}", "EUR", 50_000)
    yield Deposit("house", "SEK", 77)
    both = {"payout": "multiplied", "payout_applies_to": "both_sides"}
    for table, options in (("t1", {}), ("t2", both), ("t3", {"preset": "german"})):
        yield OpenTable(table, "ceelo_bank", options, SEATS, "EUR", "anna")
    for table, round_number, command in plays():
        yield Play(table, round_number, command)
    yield CloseTable("t2")
    yield Withdraw("player:cleo", "EUR", 1234)
    # What came later comes at the end: what was recorded before stays as it was.
    yield Play("t1", 3, commands.PostBank("bert", 300))
    yield Play("t1", 3, commands.Fade("cleo", 120))
    yield VoidRound("t1", 3, "a die fell from the table")
    yield from pot()
    yield from twelve_high()
    yield from house_banked()
    yield from royal_casino.session()
    yield UnfenceLedger(
        "restored from the copy of the night; the cage has the vouchers of what is lost",
        why="the head went back from 240 to 231",
        lost_first=232,
        lost_last=240,
        lost_root=bytes(range(32)),
        lost_recorded_us=1_700_000_000_000_000,
    )


def house_banked():
    """Yield a house's evening at the cup: a void throw, its bets carried, and the settlement."""
    yield Deposit("house", "EUR", 40_000)
    yield OpenTable("cup", "fish_prawn_crab", {"max": 2_000}, SEATS, "EUR", "house", 30_000)
    house = "house"
    shake = (commands.Cover(house), *(commands.PressHandle(house),) * 3, commands.LightOn(house))
    bet, bell = commands.PlaceBet, commands.RingBell(house)
    bets = (bet("anna", "big", 500), bet("bert", "triple_coin", 40), bet("anna", "total_4", 30))
    tilted = commands.OpenCup(house, (), Source("service", "csprng"), "a die is tilted")
    for command in (*shake, *bets, bell, tilted):
        yield Play("cup", 1, command)
    opened = commands.OpenCup(house, (1, 6, 5), DEALER)
    for command in (*shake, bet("cleo", "double_colour_red", 100), bell, opened):
        yield Play("cup", 2, command)
    nonce = bytes(range(32))
    sealed = seal(nonce, "ledgers/main/tables/cup/rounds/3")
    pressed = (commands.PressHandle(house, sealed),) * 3
    drawn = commands.OpenCup(house, (), Source("service", "csprng"), nonce=nonce)
    for command in (shake[0], *pressed, shake[-1], bet("bert", "small", 10), bell, drawn):
        yield Play("cup", 3, command)
    yield CloseTable("cup")


async def record(folder):
    """Play the session into a folder and return its log and its books."""
    with mock.patch.object(sealing, "salt", royal_casino.salts()):
        return await _record(folder)


async def _record(folder):
    clock = Clock()
    house = House(Path(folder), clock=clock)
    for number, command in enumerate(session(), 1):
        clock.now_us += STEP_US
        request = house.request(
            command, f"golden-{number}", actor="kim", correlation_id="shift-7", occurred_us=number
        )
        if isinstance(command, CreateLedger):
            await house.ledgers.create(LEDGER, request)
        else:
            await house.ledger.submit(request)
    log = house.log()
    books = books_of(house.ledger)
    house.close()
    return log, books


def books_of(ledger):
    """Return what a log says in the end, as plain data."""
    return {
        "position": ledger.head().position,
        "root": ledger.head().frontier.root.hex(),
        "balances": {f"{a} {c}": balance for (a, c), balance in sorted(ledger.balances().items())},
        "tables": {
            table.id: {
                "version": table.version,
                "round": table.round,
                "closed": table.closed,
                "phase": table.view.phase,
                "to_act": list(table.view.to_act),
                "at_risk": table.at_risk,
                "details": {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in table.view.details.items()
                },
            }
            for table in ledger.tables("", 100)
        },
    }


def main():
    """Write the golden files."""
    with tempfile.TemporaryDirectory() as folder:
        log, books = asyncio.run(record(folder))
    with LOG.open("w") as lines:
        for state in log:
            kind = events_pb2.Event.FromString(state).type
            row = {"type": kind, "state": base64.b64encode(state).decode()}
            lines.write(json.dumps(row) + "\n")
    BOOKS.write_text(json.dumps(books, indent=2) + "\n")


if __name__ == "__main__":
    main()
