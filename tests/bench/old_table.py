"""A table with a long past: loaded when it is not in memory, and replayed with all its payouts."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from croupier.services.audit.replay import Replay
from tests.bench.house import House, Player
from tests.bench.rows import Run

COLD = "a table that is not in memory, loaded"
REPLAY = "replay: refold, resettle, check postings and escrow"

ROWS = (COLD, REPLAY)

OLD, OTHER = "old", "other"
SEATS = ("anna", "bert", "cleo")
AT_ONCE = 200
SEED = 6


async def measure(run: Run) -> None:
    """Play a table for long, then load and replay it, in a process that keeps one table live."""
    folder, wanted = run.folder / "old", run.sizes.table_events
    house = House(folder)
    await house.create()
    await house.open(OTHER, SEATS)
    await house.open(OLD, SEATS)
    player, at = Player(SEED), house.ledger.table(OLD)
    while at.version < wanted:
        asked, at = player.ahead(at, AT_ONCE)
        await house.do(asked)
    await house.close()
    house = House(folder, live_tables=1)
    loads = [_cold_s(house) for _ in range(2 * run.sizes.turns + 1)]
    replays = [_replay_s(house) for _ in range(run.sizes.turns)]
    await house.close()
    spread = f"{1000 * min(loads):.3g} to {1000 * max(loads):.3g} ms in {len(loads)} loads"
    run.add(
        COLD,
        1000 * median(loads),
        "ms",
        f"{at.version:,} events of real rounds, {spread}",
        at_most=50,
    )
    run.add(
        REPLAY,
        at.version / median(replays),
        "events/s",
        f"{at.version:,} events of real rounds, {at.round - 1:,} of them settled; read from disk",
        at_least=30_000,
    )


def _cold_s(house: House) -> float:
    """Return how long the old table takes to be there again once another has taken its place."""
    house.ledger.table(OTHER)
    before = perf_counter()
    house.ledger.table(OLD)
    return perf_counter() - before


def _replay_s(house: House) -> float:
    """Return how long a replay takes that finds nothing wrong."""
    before = perf_counter()
    replay = Replay()
    findings = [found for event in house.ledger.table_events(OLD) for found in replay.fold(event)]
    findings += replay.end()
    assert not findings, findings
    return perf_counter() - before
