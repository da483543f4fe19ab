"""A request that is only to be validated is refused as it would be, and otherwise does nothing."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve
from tests.support.stories import (
    deposit,
    fade,
    furnish,
    open_table,
    play_batch,
    post_bank,
    transfer_batch,
    withdraw,
)


async def opened(serve: Serve) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1"))
    return client


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: post_bank("t1", 1000, **more),
        lambda **more: deposit("player:zoe", 5, **more),
        lambda **more: withdraw("player:anna", 5, **more),
    ],
)
async def test_what_would_be_accepted_is_not_recorded_and_its_id_stays_free(serve: Serve, make):
    client = await opened(serve)
    before = await client.evidence("casino")
    for _ in range(2):
        answer = await client.ask(make(request_id="later", validate_only=True))
        assert (answer.receipt.position, len(answer.receipt.events)) == (0, 0)
        assert await client.evidence("casino") == before
    answer = await client.ask(make(request_id="later"))
    assert answer.receipt.position > 0


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda **more: fade("t1", 1, **more), Reason.WRONG_PHASE),
        (lambda **more: post_bank("t1", 0, **more), Reason.AMOUNT_OUT_OF_RANGE),
        (lambda **more: post_bank("t1", 100_001, **more), Reason.INSUFFICIENT_FUNDS),
        (lambda **more: withdraw("player:anna", 100_001, **more), Reason.INSUFFICIENT_FUNDS),
        (lambda **more: deposit("escrow:t1", 1, **more), Reason.INVALID_ACCOUNT),
        (lambda **more: post_bank("t1", 1, expected_version=7, **more), Reason.VERSION_MISMATCH),
    ],
)
async def test_what_would_be_refused_is_refused(serve: Serve, make, reason):
    client = await opened(serve)
    before = await client.evidence("casino")
    assert_refused(await client.refusal(make(validate_only=True)), reason)
    assert_refused(await client.refusal(make()), reason)
    assert await client.evidence("casino") == before


async def test_commands_of_a_batch_can_be_validated_too(serve: Serve):
    client = await opened(serve)
    before = await client.evidence("casino")
    for atomic in (False, True):
        batch = play_batch(post_bank("t1", 1000, validate_only=True), atomic=atomic)
        (result,) = (await client.ask(batch)).results
        assert (result.WhichOneof("result"), result.receipt.position) == ("receipt", 0)
        moves = transfer_batch(withdraw("player:anna", 1, validate_only=True), atomic=atomic)
        (result,) = (await client.ask(moves)).results
        assert (result.WhichOneof("result"), result.receipt.position) == ("receipt", 0)
    assert await client.evidence("casino") == before
