"""Long work is done piece by piece, in order."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest

from croupier.services.rpc.bulk import PIECE, Bulk


@pytest.mark.parametrize("there", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5])
@pytest.mark.parametrize("most", [1, PIECE, 2 * PIECE, 1001])
async def test_what_a_source_yields_is_taken_in_order_and_no_more_than_asked(there, most):
    made = []

    def source():
        for number in range(there):
            made.append(number)
            yield number

    assert await Bulk().take(source(), most) == list(range(min(there, most)))
    assert len(made) == min(there, most)


async def test_others_have_their_turn_between_the_pieces():
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(other())
    await Bulk().take(count(), 8 * PIECE)
    running.cancel()
    assert turns >= 7
