"""A ledger in this process, without a server: real requests to the real writer on disk."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter

from croupier.domain import commands, table
from croupier.domain.dice import Source
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.requests import (
    CreateLedger,
    Deposit,
    LedgerCommand,
    OpenTable,
    Play,
    Request,
)
from croupier.services.server import now_us
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Engine
from tests.bench.sizes import WRITER_BATCHES

LEDGER = "main"
BANK = 900
STAKE = 400
DEALER = Source(kind="dealer", id="kim")
MEANINGLESS = (1, 2, 4)
PURSE = 10**9
"""What a player brings, so that he never has to stop."""


class Nobody:
    """Watches the writer and does nothing about it, unless something is wrong."""

    def ledger_fenced(self, ledger, why) -> None:
        raise AssertionError(why)

    def __getattr__(self, name):
        return self._nothing

    def _nothing(self, *told, **more) -> None:
        pass


class House:
    """The ledgers of an engine. `written_s` is the time that its writer has taken so far."""

    def __init__(self, engine: Path | Engine, *, live_tables: int = 10_000) -> None:
        """Use an engine, or SQLite in a folder."""
        limits = Limits(batch=max(WRITER_BATCHES), live_tables=live_tables)
        kept = SQLiteEngine(engine) if isinstance(engine, Path) else engine
        self._ledgers = Ledgers(kept, Nobody(), now_us, limits)
        self._numbers = itertools.count(1)
        # As in a server: it leaves snapshots behind while it works.
        self._background = asyncio.create_task(self._ledgers.keep_books())
        self.written_s = 0.0

    @property
    def ledger(self):
        return self._ledgers.get(LEDGER)

    @property
    def position(self) -> int:
        """Return how many events there are."""
        return self.ledger.head().position

    async def create(self) -> None:
        """Begin the ledger."""
        await self._ledgers.create(LEDGER, self._request(CreateLedger(LEDGER)))

    async def do(self, asked: Sequence[LedgerCommand]) -> None:
        """Have commands decided and recorded in one turn; none may be refused."""
        requests = [self._request(command) for command in asked]
        before = perf_counter()
        answers = await self.ledger.enqueue(requests, atomic=False)
        self.written_s += perf_counter() - before
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer

    async def open(self, table_id: str, seats: tuple[str, ...]) -> None:
        """Open a table whose players have money."""
        await self.do(opening(table_id, seats))

    async def open_probe(self, table_id: str = "probe") -> None:
        """Open a table at which `probes` can throw for ever."""
        await self.open(table_id, ("anna", "bert"))
        await self.do([Play(table_id, 1, commands.PostBank("anna", BANK))])
        await self.do([Play(table_id, 1, commands.Fade("bert", BANK))])

    async def close(self) -> None:
        self._background.cancel()
        await self._ledgers.drain()
        self._ledgers.close()

    def _request(self, command: LedgerCommand) -> Request:
        digest = sha256(repr(command).encode()).digest()
        return Request(command, "desk", f"house-{next(self._numbers)}", digest)


def opening(table_id: str, seats: tuple[str, ...]) -> list[LedgerCommand]:
    """Return what opens a table whose players have money."""
    deposits = (Deposit(f"player:{seat}", "EUR", PURSE) for seat in seats)
    return [*deposits, OpenTable(table_id, "ceelo_bank", {}, seats, "EUR", seats[0])]


def probes(count: int, table_id: str = "probe") -> list[LedgerCommand]:
    """Return throws that decide nothing: the same work at any age of a table and a ledger."""
    throw = commands.Roll("anna", MEANINGLESS, DEALER)
    return [Play(table_id, 1, throw)] * count


class Player:
    """Plays tables as their rules ask for it, with dice from a seed."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)

    def next(self, at: table.Table) -> Play:
        """Return a command that the table waits for."""
        view = at.view
        return Play(at.id, at.round, self._command(view.expects[0], view.to_act[0]))

    def _command(self, expected: str, player: str) -> commands.Command:
        match expected:
            case "post_bank":
                return commands.PostBank(player, BANK)
            case "fade":
                return commands.Fade(player, STAKE)
            case "roll":
                dice = tuple(self._generator.randint(1, 6) for _ in range(3))
                return commands.Roll(player, dice, DEALER)
            case "keep_bank":
                return commands.PassBank(player)
            case other:
                raise ValueError(f"the table expects {other}")

    def ahead(self, at: table.Table, count: int) -> tuple[list[LedgerCommand], table.Table]:
        """Return the table's next commands, and the table after them."""
        found: list[LedgerCommand] = []
        for _ in range(count):
            asked = self.next(at)
            at = table.play(at, asked.command, asked.round)[-1].after
            found.append(asked)
        return found, at
