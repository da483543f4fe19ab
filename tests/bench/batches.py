"""Several commands in a message: PlayBatch, PlayStream and TransferBatch."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from statistics import median
from time import perf_counter

from croupier.v1 import accounts_pb2, play_pb2
from tests.bench import plain
from tests.bench.rows import Run, in_words, median_ratio
from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import Measured, Service, closed_loop, service, throws
from tests.support.api import LEDGER

BATCH = 100
IN_FLIGHT_BATCHES = 4
STREAM_COMMANDS = 16
STREAMS = 4
STREAM_AHEAD = 4
"""Messages of a stream that are sent before the first of them is answered."""

PLAY_BATCH = f"PlayBatch({BATCH}), {IN_FLIGHT_BATCHES} in flight"
TRANSFER_BATCH = f"TransferBatch({BATCH}) of deposits, {IN_FLIGHT_BATCHES} in flight"
PLAY_STREAM = f"PlayStream, {STREAM_COMMANDS} commands a message"

ROWS = (PLAY_BATCH, TRANSFER_BATCH, PLAY_STREAM)

_NUMBERS = itertools.count(1)


class Batches:
    """Messages of several commands to one service, whose results are all receipts."""

    def __init__(self, served: Service) -> None:
        self._api = served.api

    async def play(self, worker: int) -> None:
        """Play one batch."""
        request = play_pb2.PlayBatchRequest(parent=LEDGER, commands=throws(BATCH))
        _check(await self._api.plays.PlayBatch(request), BATCH)

    async def deposit(self, worker: int) -> None:
        """Deposit to as many players as the batch has places."""
        request = accounts_pb2.TransferBatchRequest(parent=LEDGER)
        for one in range(BATCH):
            request.transfers.add().deposit.MergeFrom(
                accounts_pb2.DepositRequest(
                    account=f"{LEDGER}/accounts/player:{worker}.{one}",
                    currency="EUR",
                    amount=1,
                    request_id=f"transfer-{next(_NUMBERS)}",
                )
            )
        _check(await self._api.accounts.TransferBatch(request), BATCH)

    async def streamed(self, seconds: float) -> Measured:
        """Return what several streams come to, each with some messages ahead of its answers."""
        latencies: list[float] = []
        started = perf_counter()
        await asyncio.gather(*(self._stream(started + seconds, latencies) for _ in range(STREAMS)))
        rate = STREAM_COMMANDS * len(latencies) / (perf_counter() - started)
        return Measured(rate, latencies)

    async def _stream(self, until: float, latencies: list[float]) -> None:
        call = self._api.plays.PlayStream()
        sent: deque[float] = deque()

        async def send() -> None:
            sent.append(perf_counter())
            await call.write(
                play_pb2.PlayStreamRequest(parent=LEDGER, commands=throws(STREAM_COMMANDS))
            )

        for _ in range(STREAM_AHEAD):
            await send()
        while sent:
            _check(await call.read(), STREAM_COMMANDS)
            latencies.append(perf_counter() - sent.popleft())
            if perf_counter() < until:
                await send()
        await call.done_writing()
        await call.code()


def _check(response, count) -> None:
    """Fail where anything was refused: a benchmark of refusals would be a fast one."""
    receipts = sum(result.HasField("receipt") for result in response.results)
    assert receipts == count, response.results[0].refusal


async def measure(run: Run) -> None:
    """Let the service take turns with the plain library, and streams with unary calls."""
    seconds = run.sizes.turn_s
    library = plain.Plain(run.folder)
    async with service(run.folder / "batches") as served:
        await served.furnish()
        batches = Batches(served)

        async def many(call) -> Measured:
            return await closed_loop(call, seconds, workers=IN_FLIGHT_BATCHES, each=BATCH)

        await many(batches.play)  # the first calls pay for connecting
        against_plain = [
            (await many(batches.play), await many(batches.deposit), library.throws(seconds))
            for _ in range(run.sizes.turns)
        ]
        against_unary = [
            (await batches.streamed(seconds), await served.unary(seconds))
            for _ in range(run.sizes.turns)
        ]
    library.close()
    _batched(run, against_plain)
    _streamed(run, against_unary)


def _batched(run, turns) -> None:
    saves = median(saved.rate for *_, saved in turns)
    yardstick = f"one Application.save per command, {saves:,.0f} commands/s ({plain.SETTINGS})"
    run.add(
        PLAY_BATCH,
        median(played.rate for played, _, _ in turns),
        "commands/s",
        f"a batch: {in_words([one for played, _, _ in turns for one in played.latencies])}",
        yardstick=yardstick,
        ratio=median_ratio((played.rate, saved.rate) for played, _, saved in turns),
        at_least=5,
    )
    run.add(
        TRANSFER_BATCH,
        median(moved.rate for _, moved, _ in turns),
        "commands/s",
        f"a batch: {in_words([one for _, moved, _ in turns for one in moved.latencies])}",
        yardstick=yardstick,
        ratio=median_ratio((moved.rate, saved.rate) for _, moved, saved in turns),
    )


def _streamed(run, turns) -> None:
    unary = median(played.rate for _, played in turns)
    run.add(
        PLAY_STREAM,
        median(streamed.rate for streamed, _ in turns),
        "commands/s",
        f"{STREAMS} streams, {STREAM_AHEAD} messages under way on each; a message: "
        + in_words([one for streamed, _ in turns for one in streamed.latencies]),
        yardstick=f"unary Play, {IN_FLIGHT} in flight, {unary:,.0f} commands/s",
        ratio=median_ratio((streamed.rate, played.rate) for streamed, played in turns),
        at_least=4,
    )
