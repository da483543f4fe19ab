"""Drills with a master, replicas and Sentinels: what a failover keeps, and what it loses."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic

from croupier.v1 import admin_pb2
from tests.drills.alone import LEDGER, served
from tests.drills.crowd import TIMEOUT_S, Crowd, Report, check, report
from tests.support.cli import croupier
from tests.support.redis_sentinel import watched
from tests.support.serving import Client

REASON = "a failover lost them; the cage has their vouchers"

SAFE = {"min_replicas_to_write": "1", "min_replicas_max_lag": "5"}
"""A master that has no replica in touch takes no commits."""

LINK = ("replica", "link-pw")
"""The user as whom replicas follow, so that they can be cut off."""


async def replicated(folder: Path) -> Report:
    """The master is killed; every acknowledgement had waited for a replica (WAIT)."""
    return await _kill_the_master(folder, "replicas=1&wait_ms=5000")


async def replicated_to_disk(folder: Path) -> Report:
    """The master is killed; a replica had every acknowledged commit on its disk (WAITAOF)."""
    return await _kill_the_master(folder, "replicas=1&replicas_fsync=yes&wait_ms=5000")


async def unwaited(folder: Path) -> Report:
    """The master is killed; replicas were in touch, and no acknowledgement had waited for them."""
    return await _kill_the_master(folder, "", safe=False)


async def _kill_the_master(folder: Path, options: str, *, safe: bool = True) -> Report:
    # Two replicas: after the failover the new master still has one.
    with watched(replicas=2, **(SAFE if safe else {})) as group:
        async with served(folder / "data", f"{group.url}?{options}", LEDGER) as caller:
            crowd = Crowd(caller, LEDGER)
            await crowd.answers(200)
            master = group.master
            master.kill()
            await asyncio.to_thread(group.new_master, master)
            healed, ended = monotonic(), "by itself"
            again = Crowd(caller, LEDGER, "again")
            if not await _answered(again):
                # What the old master had committed, and nobody was told of yet, is gone with it.
                ended = "by unfence"
                await unfence(caller)
                again = Crowd(caller, LEDGER, "unfenced")
                await again.answers(100)
            await crowd.stop()
            await again.stop()
            lost = await check(caller, crowd)
            assert await check(caller, again) == set()
            crowd.times += again.times
            crowd.times.sort()
            return report(crowd, lost, healed, ended=ended)


async def _answered(crowd: Crowd) -> bool:
    """Wait until callers get on, or the ledger is fenced; return whether they do."""
    ways = [asyncio.ensure_future(crowd.answers(100)), asyncio.ensure_future(crowd.fenced.wait())]
    done, rest = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for one in rest:
        one.cancel()
    await asyncio.gather(*done)
    return ways[0] in done


async def lagging(folder: Path) -> Report:
    """The master is killed while its replica lags, and no acknowledgement had waited for it."""
    user, password = LINK
    follow = {"masteruser": user, "masterauth": password}
    follow["user"] = (user, "on", f">{password}", "~*", "&*", "+@all")
    with watched(replicas=1, **follow) as group:
        async with served(folder / "data", group.url, LEDGER) as caller:
            crowd = Crowd(caller, LEDGER)
            await crowd.answers(200)
            master = group.master
            with master.client() as client:
                client.acl_setuser(user, enabled=False)
                client.execute_command("CLIENT", "KILL", "TYPE", "replica")
            await crowd.answers(200)
            master.kill()
            await asyncio.to_thread(group.new_master, master)
            async with asyncio.timeout(TIMEOUT_S):
                await crowd.fenced.wait()
            await crowd.stop()
            told = await fence_of(caller)
            await unfence(caller)
            unfenced = monotonic()
            again = Crowd(caller, LEDGER, "unfenced")
            await again.answers(100)
            await again.stop()
            lost = await check(caller, crowd)
            assert await check(caller, again) == set()
            # The service says what is lost: all that it had acknowledged, and maybe more.
            assert lost <= {one.request_id for one in told.lost_requests}
            crowd.times += again.times
            return report(crowd, lost, unfenced, ended="by unfence")


async def fence_of(caller: Client) -> admin_pb2.Fence:
    """Return what is behind the fence of the ledger."""
    return (await caller.ask(admin_pb2.GetFenceRequest(name=f"ledgers/{LEDGER}"))).fence


async def unfence(caller: Client) -> None:
    """Look what is lost and serve the ledger again, as an operator does."""
    words = ("unfence", LEDGER, "--address", caller.address)
    told = await asyncio.to_thread(croupier, *words)
    assert told.returncode == 1, told.stderr
    assert "lost         positions" in told.stdout, told.stdout
    position = str((await fence_of(caller)).position)
    done = await asyncio.to_thread(croupier, *words, "--accept", position, "--reason", REASON)
    assert done.returncode == 0, done.stderr
