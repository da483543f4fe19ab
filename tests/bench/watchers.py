"""Many watchers of one ledger in a process of their own, so that they take no time of the writer's.

    watchers.py ADDRESS COUNT FROM_POSITION

prints `ready` when every watcher has received its first message. Then, for each line on standard
input, it prints what came since the line before as JSON: `messages`, how many there were at all
watchers, and `lags`, for the events of every so many-th watcher the time from recording to arrival,
seconds. Only those are decoded: the figures are the service's, not of this program.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import grpc

from croupier.services.commands.process import run
from croupier.v1 import audit_pb2

CHANNELS = 8
DECODED_EVERY = 25
METHOD = "/croupier.v1.AuditService/WatchEvents"


class Watchers:
    """What came to all watchers so far."""

    def __init__(self, count: int) -> None:
        self._waiting = count
        self._messages = 0
        self._lags: list[float] = []
        self.ready = asyncio.Event()

    async def watch(self, channel: grpc.aio.Channel, position: int, *, decoded: bool) -> None:
        """Receive for ever."""
        method = channel.unary_stream(
            METHOD, request_serializer=audit_pb2.WatchEventsRequest.SerializeToString
        )
        request = audit_pb2.WatchEventsRequest(parent="ledgers/main", from_position=position)
        first = True
        async for encoded in method(request):
            self._messages += 1
            if first:
                first = False
                self._waiting -= 1
                if not self._waiting:
                    self.ready.set()
            elif decoded:
                self._take(encoded)

    def _take(self, encoded: bytes) -> None:
        now = time.time()
        for event in audit_pb2.WatchEventsResponse.FromString(encoded).events:
            recorded = event.recorded_time
            self._lags.append(now - recorded.seconds - recorded.nanos / 1e9)

    def report(self) -> str:
        """Return what came since the last report."""
        said = json.dumps({"messages": self._messages, "lags": self._lags})
        self._messages, self._lags = 0, []
        return said


async def main(address: str, count: int, position: int) -> None:
    """Watch until standard input ends."""
    channels = [
        grpc.aio.insecure_channel(address, options=(("grpc.use_local_subchannel_pool", 1),))
        for _ in range(CHANNELS)
    ]
    watchers = Watchers(count)
    tasks = [
        asyncio.create_task(
            watchers.watch(
                channels[number % CHANNELS], position, decoded=number % DECODED_EVERY == 0
            )
        )
        for number in range(count)
    ]
    ready = asyncio.create_task(watchers.ready.wait())
    done, _ = await asyncio.wait((ready, *tasks), return_when=asyncio.FIRST_COMPLETED)
    if ready not in done:
        done.pop().result()  # a watcher was refused; says why
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(watchers.report(), flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for channel in channels:
        await channel.close()


if __name__ == "__main__":
    run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
