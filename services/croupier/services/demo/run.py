"""The demonstration from its start to its end."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable

from croupier.services.client import CallRefused, Client, table_name
from croupier.services.config import split_address
from croupier.services.demo.casino import CASINO, PARTNERS
from croupier.services.demo.checks import (
    EVENTS,
    LABELS,
    PAYOUTS,
    Series,
    check_metrics,
    check_replay,
    check_trial_balance,
    count,
)
from croupier.services.demo.narrate import Narrator
from croupier.services.demo.playing import LEDGER, Played, Player
from croupier.services.demo.scrape import scrape
from croupier.services.demo.script import Session
from croupier.services.demo.sessions import DRAWN, SESSIONS
from croupier.services.narration import money, standing
from croupier.services.server import Server
from croupier.v1.tables_pb2 import Table

MATCHES = (CASINO, PARTNERS)


async def demonstrate(
    server: Server,
    address: str,
    metrics_address: str,
    narrator: Narrator,
    sessions: Iterable[Session] = SESSIONS,
) -> list[str]:
    """Play every session on a server of this process, check the record, return what disagrees."""
    async with Client(address) as client:
        start = await _ledger(client, narrator)
        player = Player(client, narrator, await _next_run(client))
        played = [await player.play(session) for session in sessions]
        if sessions is SESSIONS:
            played += [await player.play_match(match) for match in MATCHES]
        played.append(await player.play_drawn(DRAWN))
        narrator.heading("What was expected, what was recorded, what is counted")
        disagreements = await _check_tables(client, narrator, played)
        balance = await client.accounts.trial_balance(LEDGER)
        wrong = check_trial_balance(balance)
        narrator.checked(f"trial balance at position {balance.position}: every sum is 0", wrong)
        disagreements += wrong
        counted = await _count(client, start)
        if server.metrics_port:
            disagreements += await _check_metrics(metrics_address, narrator, counted)
    return disagreements


async def _ledger(client: Client, narrator: Narrator) -> int:
    """Return the last position that was not recorded by this run; create what is missing."""
    try:
        position = (await client.admin.get_ledger(LEDGER)).position
    except CallRefused as refused:
        if refused.reason != "LEDGER_NOT_FOUND":
            raise
        await client.admin.create_ledger(LEDGER)
        narrator.say(f"ledger {LEDGER} is new")
        return 0
    narrator.say(f"ledger {LEDGER} goes on after position {position}")
    return position


async def _next_run(client: Client) -> int:
    """Return the first number that no table of an earlier run has."""
    keys = "|".join(session.key for session in (*SESSIONS, *MATCHES, DRAWN))
    pattern = re.compile(rf"(?:{keys})-(\d{{1,9}})")
    ids = [table.name.rpartition("/")[2] async for table in client.tables.list(LEDGER)]
    return 1 + max((int(found[1]) for one in ids if (found := pattern.fullmatch(one))), default=0)


async def _check_tables(client: Client, narrator: Narrator, played: list[Played]) -> list[str]:
    disagreements: list[str] = []
    for one in played:
        shown = await client.tables.get(one.table)
        steps = [step async for step in client.audit.replay(one.table)]
        wrong = [*one.disagreements, *check_replay(steps, shown, one.before, one.after)]
        table = one.table.rpartition("/")[2]
        narrator.checked(
            f"{table}: outcomes, replay of {len(steps)} events, payouts recomputed, balances", wrong
        )
        narrator.say(f"          now: {standing(shown)}", "dim")
        disagreements += wrong
    return disagreements


async def _count(client: Client, start: int) -> Counter[Series]:
    """Return what this process recorded, counted from the log."""
    games = {_stream(table): table.game async for table in client.tables.list(LEDGER)}
    events = [event async for event in client.audit.events(LEDGER, start + 1)]
    return count(events, games)


def _stream(table: Table) -> str:
    return table.name.removeprefix(table_name(LEDGER, "").removesuffix("tables/"))


async def _check_metrics(address: str, narrator: Narrator, counted: Counter[Series]) -> list[str]:
    host, port = split_address(address)
    scraped = await asyncio.to_thread(scrape, host, port, LABELS)
    wrong = check_metrics(counted, scraped)
    narrator.checked(f"metrics at http://{address}/metrics: the counters are the log's", wrong)
    for (name, labels), value in sorted(scraped.items()):
        if name == EVENTS and labels[0] in ("rolled", "bet_decided", "paid_out", "collected"):
            narrator.say(f"          {name}{{{', '.join(labels)}}} {value}", "dim")
        if name == PAYOUTS:
            series = f"{name}{{{', '.join(labels)}}} {value}"
            narrator.say(f"          {series}, which are {money(value, labels[1])}", "dim")
    return wrong
