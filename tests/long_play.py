"""A long random play through the public API alone: `python tests/long_play.py --rounds 1000`.

It knows no rules: at each step it plays one of the commands that the service says are allowed, with
an amount within its bounds, or one of the moves that it lists. Afterwards the books have to
balance, nothing may be held that the tables do not hold, replay may have no findings, and there is
no state in which nobody may act.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from croupier.domain.cards import PACK  # noqa: E402  # the path above comes first
from croupier.v1 import (  # noqa: E402
    accounts_pb2,
    admin_pb2,
    audit_pb2,
    play_pb2,
    tables_pb2,
)
from tests.support.processes import ServerProcess  # noqa: E402
from tests.support.serving import Client, fresh  # noqa: E402
from tests.support.stories import create_ledger, deposit  # noqa: E402

SEATS = ("anna", "bela", "carl", "dora")
PURSE = 10**9
BANKROLL = 10**7
STAKES = (1, 2, 5, 20)
HOUSE = "house"
MOVES = tuple(field.name for field in play_pb2.Move.DESCRIPTOR.oneofs_by_name["command"].fields)
COMMANDS_A_ROUND = 40
"""More commands than so many for each round are not played: a match of cards takes hundreds."""


def command_of(allowed: tables_pb2.AllowedCommand, chance: random.Random) -> dict[str, object]:
    """Return the field of `PlayRequest` for an allowed command, filled at random."""
    fields = play_pb2.PlayRequest.DESCRIPTOR.fields_by_name
    message = getattr(play_pb2, fields[allowed.command].message_type.name)()
    if "throw" in message.DESCRIPTOR.oneofs_by_name:
        # Of dice the bounds are how many; where none are said, three are thrown.
        count = allowed.least if allowed.field == "dice" else 3
        message.dice.values.extend(chance.randint(1, 6) for _ in range(count or 3))
        message.dice.source.kind, message.dice.source.id = "dealer", "chance"
    elif allowed.field:
        amount = min(allowed.most, allowed.least + chance.choice(STAKES) - 1)
        setattr(message, allowed.field, amount)
    if allowed.choices:
        choice = chance.choice(allowed.choices)
        if choice == "deck":
            message.deck.cards.extend(chance.sample(PACK, len(PACK)))
            message.deck.source.kind, message.deck.source.id = "dealer", "chance"
        elif choice == "draw":
            message.draw.SetInParent()
        else:
            setattr(message, allowed.choice_field, choice)
    return {allowed.command: message}


class Player:
    """Plays one table of one game."""

    def __init__(self, client: Client, game: str, seed: int) -> None:
        self._client = client
        self._game = game
        self._chance = random.Random(f"{game} {seed}")
        self.table = f"ledgers/casino/tables/{game}"
        self.commands = 0

    async def open(self) -> tables_pb2.Table:
        """Open the table; one that the house banks wants a bankroll."""
        opening = tables_pb2.OpenTableRequest(
            parent="ledgers/casino",
            table_id=self._game,
            game=self._game,
            seats=SEATS,
            currency="EUR",
            request_id=fresh(),
        )
        if self._game == "ceelo_bank":
            opening.banker = SEATS[0]
        if self._game == "fish_prawn_crab":
            opening.banker, opening.bankroll = HOUSE, BANKROLL
        return (await self._client.ask(opening)).table

    async def play(self, rounds: int) -> None:
        """Play so many rounds, choosing among what is allowed."""
        table = await self.open()
        allowed, round_number, bets = list(table.allowed), table.round, 0
        while round_number <= rounds and self.commands < rounds * COMMANDS_A_ROUND:
            assert allowed, f"{self._game}: nobody may do anything in round {round_number}"
            chosen = self._chance.choice(allowed)
            if any(one.command == "ring_bell" for one in allowed):
                # Else the bell, one among forty, would ring after hundreds of bets.
                bets += 1
                bell = [one for one in allowed if one.command == "ring_bell"]
                chosen = bell[0] if bets % 6 == 0 else chosen
            request = play_pb2.PlayRequest(
                table=self.table,
                round=round_number,
                player=chosen.player,
                request_id=fresh(),
                **await self._command(chosen),
            )
            answer = await self._client.ask(request)
            self.commands += 1
            allowed = list(answer.allowed)
            for event in answer.receipt.events:
                if event.HasField("round_settled"):
                    round_number = event.round_settled.round + 1

    async def _command(self, chosen: tables_pb2.AllowedCommand) -> dict[str, object]:
        """Return the field of `PlayRequest` for what was chosen: of moves, one of those listed."""
        if chosen.command not in MOVES:
            return command_of(chosen, self._chance)
        page = await self._client.ask(play_pb2.ListMovesRequest(table=self.table, page_size=1000))
        assert page.player == chosen.player
        move = self._chance.choice(page.moves)
        kind = move.WhichOneof("command")
        return {kind: getattr(move, kind)}

    async def check(self) -> int:
        """Replay the table and return how many events it has; any finding fails."""
        count = 0
        call = self._client.listen(audit_pb2.ReplayTableRequest(name=self.table), timeout=600)
        async for step in call:
            count += 1
            assert not step.findings, (self._game, step.event.position, step.findings)
        return count


async def check_books(client: Client) -> None:
    """Check that the books balance, and that escrow is what the tables hold."""
    sums = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    tables = await client.ask(tables_pb2.ListTablesRequest(parent="ledgers/casino"))
    (euro,) = sums.currencies
    assert euro.sum == 0
    assert euro.escrow == sum(table.at_risk for table in tables.tables)


async def play_all(address: str, rounds: int, seed: int, say=print) -> None:
    """Play every game that the server has for so many rounds."""
    client = Client(address)
    await client.ask(create_ledger())
    for seat in SEATS:
        await client.ask(deposit(f"player:{seat}", PURSE))
    await client.ask(deposit(HOUSE, BANKROLL))
    games = (await client.ask(admin_pb2.GetServerInfoRequest())).games
    for game in games:
        started = perf_counter()
        player = Player(client, game.code, seed)
        await player.play(rounds)
        events = await player.check()
        await check_books(client)
        seconds = perf_counter() - started
        say(
            f"{game.code}: up to {rounds} rounds, {player.commands} commands, {events} events",
            end="",
        )
        say(f", {seconds:.0f} s: books balance, nothing found")
    await client.channel.close()


def main() -> None:
    """Play against a server of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        asyncio.run(play_all(server.address, asked.rounds, asked.seed))


if __name__ == "__main__":
    main()
