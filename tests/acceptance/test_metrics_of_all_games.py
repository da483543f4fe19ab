"""Counters over all games and processes equal a recount of the log, whatever else was asked.

Two processes share a ledger and every command goes to either. Some are tried first without being
done, some are sent again, some are wrong, and some rounds are void.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

from croupier.v1 import admin_pb2, audit_pb2, play_pb2, tables_pb2
from tests.long_play import BANKROLL, HOUSE, PURSE, SEATS, Player
from tests.support.recount import Recount, named, samples
from tests.support.serving import CALL_TIMEOUT_S, Client, fresh, refused
from tests.support.stories import (
    create_ledger,
    deposit,
    fade,
    furnish,
    open_table,
    post_bank,
    roll,
    value,
    withdraw,
)
from tests.support.workers import Workers

ROUNDS = 12
TABLES = {
    "ceelo_bank": ({}, {"payout": "multiplied", "payout_applies_to": "both_sides"}),
    "fish_prawn_crab": ({}, {"void_bets": "refund", "pays_small": 2}),
}
"""Options of the tables of a game; of any other one is opened as it comes."""


class Restless:
    """A caller who goes from process to process, tries, repeats, errs, and gives rounds up."""

    def __init__(self, clients: list[Client], seed: int) -> None:
        self._clients = clients
        self._chance = Random(seed)
        self.options: dict = {}
        self.told: Counter[str] = Counter()

    async def ask(self, request):
        """Return the answer to a request that may not be the only one that is sent."""
        if isinstance(request, tables_pb2.OpenTableRequest):
            request.table_id += "-x" if self.options else ""
            for name, given in self.options.items():
                request.options[name].CopyFrom(value(given))
        if not isinstance(request, play_pb2.PlayRequest):
            return await self.ask_once(request)
        if self._chance.random() < 0.1:
            await self._any().ask(self._changed(request, validate_only=True))
            self.told["tried"] += 1
        if self._chance.random() < 0.1:
            wrong = self._changed(request, round=request.round + 1)
            assert (await refused(self._any().ask(wrong))).reason == "ROUND_MISMATCH"
            self.told["refused"] += 1
        answer = await self._any().ask(request)
        if self._chance.random() < 0.1:
            again = await self._any().ask(request)
            assert again.receipt == answer.receipt
            self.told["repeated"] += 1
        if self._chance.random() < 0.03:
            await self._give_up(request, answer)
        return answer

    async def ask_once(self, request):
        """Return the answer to a request."""
        return await self._any().ask(request)

    async def _give_up(self, request, answer) -> None:
        """Make the open round void; the answer goes on as if the next one had come by itself."""
        table = await self._any().ask(tables_pb2.GetTableRequest(name=request.table))
        if not table.table.round_open:
            return
        void = admin_pb2.VoidRoundRequest(
            table=request.table, round=table.table.round, reason="enough", request_id=fresh()
        )
        table = (await self._any().ask(void)).table
        del answer.allowed[:]
        answer.allowed.extend(table.allowed)
        answer.receipt.events.add(round=void.round).round_settled.round = void.round
        self.told["void"] += 1

    @staticmethod
    def _changed(request, **changes):
        other = play_pb2.PlayRequest()
        other.CopyFrom(request)
        other.request_id = fresh()
        for name, given in changes.items():
            setattr(other, name, given)
        return other

    def _any(self) -> Client:
        return self._chance.choice(self._clients)


async def play(restless: Restless) -> None:
    """Play all games; whoever has the money leaves with some of it."""
    await restless.ask(create_ledger())
    for seat in SEATS:
        await restless.ask(deposit(f"player:{seat}", PURSE))
    await restless.ask(deposit(HOUSE, 4 * BANKROLL))
    games = (await restless.ask(admin_pb2.GetServerInfoRequest())).games
    for game in games:
        for restless.options in TABLES.get(game.code, ({},)):
            player = Player(restless, game.code, seed=5)
            player.table += "-x" if restless.options else ""
            await player.play(ROUNDS)
    restless.options = {}
    await restless.ask(open_table("pushed"))
    for command in (
        post_bank("pushed", 600),
        fade("pushed", 600),
        roll("pushed", "anna", 3, 3, 4),
        roll("pushed", "bela", 2, 2, 4),
    ):
        await restless.ask_once(command)
    await restless.ask(withdraw("player:anna", 77))


@pytest.fixture
def workers(tmp_path):
    with Workers(tmp_path, 2) as started:
        yield started


async def read_log(client: Client):
    """Return every event of the log."""
    found = []
    while True:
        request = audit_pb2.ListEventsRequest(
            parent="ledgers/casino", from_position=len(found) + 1, page_size=1000
        )
        page = (await client.ask(request)).events
        if not page:
            return found
        found += page


async def shown_by(workers: Workers, settled: int) -> Counter:
    """Return the sums of all samples over the processes, once they have counted so many events.

    A receipt is on its way before its events are counted.
    """
    ports = [workers.metrics_port + number for number in range(2)]
    async with asyncio.timeout(CALL_TIMEOUT_S):
        while True:
            total: Counter = Counter()
            for port in ports:
                total.update(await asyncio.to_thread(samples, port))
            if total["croupier_commit_batch_events_sum",] == settled:
                return total


async def test_counters_of_all_processes_equal_a_recount_of_the_log(workers):
    clients = [Client(address) for address in workers.addresses]
    restless = Restless(clients, seed=11)
    await play(restless)
    log = await read_log(clients[0])
    expected, shown = Recount(log), await shown_by(workers, len(log))
    assert named(shown, {key[0] for key in expected.exact}) == dict(expected.exact)
    theory = named(shown, {key[0] for key in expected.theory})
    exact = {key: float(one) for key, one in expected.theory.items() if one}
    assert theory == pytest.approx(exact, rel=1e-9)
    # The day had everything in it, and both processes their part.
    assert all(restless.told[what] for what in ("tried", "refused", "repeated", "void"))
    assert named(expected.exact, ["croupier_rounds_voided_total"])
    assert {dict(key[1:])["result"] for key in named(shown, ["croupier_bets_total"])} == {
        "won",
        "lost",
        "pushed",
    }
    assert len({dict(key[1:])["paytable"] for key in exact}) == 4
    for number in range(2):
        own = await asyncio.to_thread(samples, workers.metrics_port + number)
        assert own["croupier_commands_total",] > len(log) / 20
    for client in clients:
        await client.channel.close()


async def test_an_open_round_is_told_by_the_one_process_that_its_ledger_is_assigned_to(workers):
    count = ("croupier_ledger_open_rounds", ("ledger", "casino"))
    age = ("croupier_ledger_oldest_round_age_seconds", ("ledger", "casino"))
    clients = [Client(address) for address in workers.addresses]
    await furnish(clients[0])
    for number, client in enumerate(clients):
        await client.ask(open_table(f"t{number}"))
        await client.ask(post_bank(f"t{number}", 1000))
    async with asyncio.timeout(CALL_TIMEOUT_S):
        told: list[dict] = []
        while not told or told[0][count] < len(clients):
            ports = [workers.metrics_port + number for number in range(2)]
            shown = [await asyncio.to_thread(samples, port) for port in ports]
            told = [one for one in shown if count in one]
            assert len(told) <= 1
    assert told[0][count] == len(clients)
    assert 0 < told[0][age] < CALL_TIMEOUT_S
    for client in clients:
        await client.channel.close()
