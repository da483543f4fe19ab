"""Legal moves of a capturing game: all of them, their kinds, and the judgement of one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from croupier.domain.games.royal_casino.layout import Position
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.moves import count_moves, kinds, legal_moves
from tests.bench.rows import Run, in_words
from tests.support.capturing import FULLEST, POLICIES, deal

ALL = "every legal move of a position in play, p99"
KINDS = "which kinds of moves are legal, p50"
ONE = "a legal move judged, p50"
FULL_TABLE = "every legal move of the fullest table"
LAST_PAGE = "the last 100 legal moves of the fullest table"
ROWS = (ALL, KINDS, ONE, FULL_TABLE, LAST_PAGE)

GOAL_MS = 5


async def measure(run: Run) -> None:
    """Play hands out in different ways, then list the moves of the fullest table there can be."""
    listed: list[float] = []
    told: list[float] = []
    judged: list[float] = []
    counts: list[int] = []
    generator = random.Random(1)
    for position in _played(generator, run.sizes.hands):
        seconds, moves = _timed(lambda at=position: list(legal_moves(at)))
        listed.append(seconds)
        counts.append(len(moves))
        told.append(_timed(lambda at=position: kinds(at))[0])
        move = generator.choice(moves)
        judged.append(_timed(lambda at=position, one=move: check(at, one))[0])
    _in_play(run, listed, counts)
    yardstick = f"every legal move of the position, {1e6 * median(listed):.0f} us"
    ratio = median(told) / median(listed)
    run.add(KINDS, 1e6 * median(told), "us", in_words(told), yardstick=yardstick, ratio=ratio)
    run.add(ONE, 1e6 * median(judged), "us", in_words(judged))
    _fullest(run)


def _played(generator: random.Random, hands: int) -> Iterator[Position]:
    for number in range(hands):
        yield from deal(generator).positions(generator, POLICIES[number % len(POLICIES)])


def _in_play(run: Run, listed: list[float], counts: list[int]) -> None:
    most = max(listed)
    detail = (
        f"{in_words(listed)}, most {1000 * most:.3g} ms; {len(listed):,} positions of "
        f"{run.sizes.hands} hands, {median(counts):g} moves (median), {max(counts):,} (most)"
    )
    run.add(ALL, 1000 * quantiles(listed, n=100)[98], "ms", detail, at_most=GOAL_MS)


def _fullest(run: Run) -> None:
    total = count_moves(FULLEST)
    rounds = range(run.sizes.turns)
    all_s = median(_timed(lambda: sum(1 for _ in legal_moves(FULLEST)))[0] for _ in rounds)
    first_s = median(_timed(lambda: next(legal_moves(FULLEST)))[0] for _ in rounds)
    page_s = median(
        _timed(lambda: list(islice(legal_moves(FULLEST, total - 100), 100)))[0] for _ in rounds
    )
    each = f"{1e6 * all_s / total:.2f} us each"
    detail = f"{total:,} moves, {each}; the first after {1000 * first_s:.2g} ms"
    run.add(FULL_TABLE, 1000 * all_s, "ms", detail)
    run.add(LAST_PAGE, 1000 * page_s, "ms", yardstick="all of them", ratio=page_s / all_s)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least of three times, since what takes longer was interrupted, and the result."""
    found = []
    result = None
    for _ in range(3):
        before = perf_counter()
        result = work()
        found.append(perf_counter() - before)
    return min(found), result
