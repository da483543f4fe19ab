"""Calls of one command: many at once against an echo, on one hot table, and one alone."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from tests.bench.rows import Run, in_words, median_ratio
from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import closed_loop, service
from tests.bench.yardsticks import DurableInserts, echo

MANY = f"unary Play, {IN_FLIGHT} in flight over {IN_FLIGHT} tables"
HOT = f"unary Play on one hot table, {IN_FLIGHT} in flight"
LONE = "a lone unary Play, p50"

ROWS = (MANY, HOT, LONE)


async def measure(run: Run) -> None:
    """Let service and echo take turns."""
    seconds = run.sizes.turn_s
    async with service(run.folder / "unary") as served, echo() as echo_call:
        await served.furnish()
        await served.unary(seconds / 2)  # the first calls pay for connecting
        await closed_loop(echo_call, seconds / 2, workers=IN_FLIGHT)
        before = served.commits()
        turns = [
            (
                await served.unary(seconds),
                await closed_loop(served.play_hot, seconds, workers=IN_FLIGHT),
                await closed_loop(echo_call, seconds, workers=IN_FLIGHT),
            )
            for _ in range(run.sizes.turns)
        ]
        each = served.commits().each_since(before)
        inserts = DurableInserts(run.folder)
        alone = [
            await _alone(run.sizes.lone_calls, served.play, echo_call, inserts)
            for _ in range(run.sizes.turns)
        ]
        inserts.close()
    _rates(run, turns, each)
    _lone(run, alone)


async def _alone(count, play, echo_call, inserts) -> tuple[list[float], ...]:
    """Return the times of a call, an echo and an insert, one of each after the other, seconds.

    Nothing else is under way, and a disk that is slow for a while is so for all of them.
    """
    times: tuple[list[float], ...] = ([], [], [])
    for _ in range(count):
        started = perf_counter()
        await play(0)
        played = perf_counter()
        await echo_call(0)
        echoed = perf_counter()
        inserts.one()
        inserted = perf_counter()
        for one, took in zip(
            times, (played - started, echoed - played, inserted - echoed), strict=True
        ):
            one.append(took)
    return times


def _rates(run, turns, each) -> None:
    run.add(
        MANY,
        median(play.rate for play, _, _ in turns),
        "commands/s",
        in_words([one for play, _, _ in turns for one in play.latencies])
        + f"; {each:.1f} commands a commit",
        yardstick=f"a bare gRPC echo, {median(echoed.rate for *_, echoed in turns):,.0f} calls/s",
        ratio=median_ratio((play.rate, echoed.rate) for play, _, echoed in turns),
        at_least=0.5,
    )
    run.add(
        HOT,
        median(hot.rate for _, hot, _ in turns),
        "commands/s",
        in_words([one for _, hot, _ in turns for one in hot.latencies]),
        yardstick=f"unary over {IN_FLIGHT} tables",
        ratio=median_ratio((hot.rate, play.rate) for play, hot, _ in turns),
        at_least=0.8,
    )


def _lone(run, alone) -> None:
    latencies = [one for play, _, _ in alone for one in play]
    echo_ms = 1000 * median(median(echoed) for _, echoed, _ in alone)
    insert_ms = 1000 * median(median(inserted) for *_, inserted in alone)
    run.add(
        LONE,
        1000 * median(latencies),
        "ms",
        in_words(latencies),
        yardstick=f"echo p50 {echo_ms:.2f} ms + a durable insert {insert_ms:.2f} ms",
        ratio=median_ratio(
            (median(play), median(echoed) + median(inserted)) for play, echoed, inserted in alone
        ),
        at_most=1.5,
    )
