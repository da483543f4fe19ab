"""A drill with a Cluster: one node is down, and only its ledgers wait for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic

from tests.drills.alone import served
from tests.drills.crowd import Crowd, Report, check, report
from tests.support.redis_cluster import redis_cluster


async def node_down(folder: Path) -> Report:
    """A node is killed under load and started again; the ledgers of the others go on."""
    with redis_cluster() as cluster:
        gone, *others = cluster.servers
        ledgers = [cluster.ledger_on(server) for server in (gone, *others)]
        async with served(folder / "data", cluster.url, *ledgers) as caller:
            crowds = [Crowd(caller, ledger, ledger) for ledger in ledgers]
            crowd, *going_on = crowds
            await asyncio.gather(*(one.answers(100) for one in crowds))
            gone.kill()
            await crowd.refusals("STORE_UNAVAILABLE")
            for _ in range(3):
                await asyncio.gather(*(one.answers(100) for one in going_on))
            # Time-outs of its node cost the others no refusal.
            assert not any(one.reasons for one in going_on)
            await asyncio.to_thread(gone.start)
            healed = monotonic()
            await asyncio.gather(*(one.answers(100) for one in crowds))
            for one in crowds:
                await one.stop()
            for one in going_on:
                assert await check(caller, one) == set()
            return report(crowd, await check(caller, crowd), healed)
