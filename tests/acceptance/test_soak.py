"""What comes and goes for years must not add up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil

from croupier.v1 import audit_pb2
from tests.support.processes import ServerProcess
from tests.support.serving import Client
from tests.support.stories import furnish, play_round

MEGABYTE = 1_000_000


async def test_streams_that_are_opened_and_cancelled_leave_no_memory_behind(tmp_path: Path):
    with ServerProcess(tmp_path / "data") as server:
        client = Client(server.address)
        await furnish(client)
        await play_round(client)
        process = psutil.Process(server.pid)

        async def listen_a_while():
            call = client.listen(audit_pb2.WatchEventsRequest(parent="ledgers/casino"))
            assert (await call.read()).events
            call.cancel()

        async def listen(times: int) -> int:
            for _ in range(times // 100):
                await asyncio.gather(*(listen_a_while() for _ in range(100)))
            return process.memory_info().rss

        before = await listen(1_000)
        after = await listen(3_000)
        # A kilobyte for each would be three megabytes; what is measured moves by one or two.
        assert after - before < 5 * MEGABYTE
        assert process.num_fds() < 100
        await client.channel.close()
