"""Messages and methods that are none are refused."""

from __future__ import annotations

import random

import grpc

from croupier.domain.errors import Reason
from croupier.v1 import values_pb2
from tests.support.refusals import MODULE, Casino, assert_refused
from tests.support.serving import METHODS, Serve, plain, refused
from tests.support.stories import deposit, furnish, open_table


@MODULE
async def test_what_is_no_message_is_refused(casino: Casino):
    seed = 20_240_229
    chance = random.Random(seed)
    before = await casino.evidence()
    for method in METHODS.values():
        broken = [b"\x0a\xff", b"\xff" * 40, b"\x07", b"\x0a\x05ab", chance.randbytes(200)]
        for body in broken:
            refusal = await refused(casino.client.raw(method.path, body))
            assert_refused(refusal, Reason.MALFORMED_MESSAGE)
    assert await casino.evidence() == before


@MODULE
async def test_random_bytes_are_refused_whatever_they_mean(casino: Casino):
    """Some decode, as fields nobody knows; none of them is anything to do."""
    seed = 20_240_301
    chance = random.Random(seed)
    before = await casino.evidence()
    mutating = [method for method in METHODS.values() if method.mutates]
    for _ in range(200):
        path = chance.choice(mutating).path
        refusal = await refused(casino.client.raw(path, chance.randbytes(chance.randrange(64))))
        assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT, (seed, refusal)
        assert refusal.domain == "croupier"
    assert await casino.evidence() == before


@MODULE
async def test_text_that_is_not_utf_8_is_refused(casino: Casino):
    before = await casino.evidence()
    for make, text in (
        (lambda: deposit("player:anna", 1, actor="ACTOR"), b"ACTOR"),
        (lambda: open_table("new", actor="ACTOR"), b"ACTOR"),
        (lambda: deposit("player:anna", 1, request_id="ACTOR"), b"ACTOR"),
    ):
        request = make()
        body = request.SerializeToString().replace(text, b"\xc3\x28\xa0\xff\xfe")
        method = METHODS[request.DESCRIPTOR.full_name]
        assert_refused(
            await refused(casino.client.raw(method.path, body)), Reason.MALFORMED_MESSAGE
        )
    assert await casino.evidence() == before


@MODULE
async def test_a_message_too_large_is_refused(casino: Casino):
    before = await casino.evidence()
    request = deposit("player:anna", 1, actor="x" * 1_000_000)
    refusal = await casino.client.refusal(request)
    assert_refused(refusal, Reason.MESSAGE_TOO_LARGE)
    assert refusal.metadata["most"] == "1000000"
    # Above the transport's own cap nobody reads the message, so there are no details.
    beyond = await casino.client.refusal(deposit("player:anna", 1, actor="x" * 17_000_000))
    assert beyond.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await casino.evidence() == before


@MODULE
async def test_nesting_without_end_is_refused(casino: Casino):
    deep = values_pb2.Value(int_value=1)
    body = deep.SerializeToString()
    for _ in range(300):
        inner = b"\x0a" + _varint(len(body)) + body  # ListValue.values
        body = b"\x22" + _varint(len(inner)) + inner  # Value.list_value
    entry = b"\x0a\x06payout\x12" + _varint(len(body)) + body
    whole = open_table("new").SerializeToString() + b"\x22" + _varint(len(entry)) + entry
    before = await casino.evidence()
    refusal = await refused(casino.client.raw("/croupier.v1.TableService/OpenTable", whole))
    assert_refused(refusal, Reason.MALFORMED_MESSAGE)
    assert await casino.evidence() == before


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


async def test_fields_of_a_later_release_change_nothing(serve: Serve):
    client = await (await serve()).client()
    await furnish(client)
    request = deposit("player:anna", 10)
    method = METHODS[request.DESCRIPTOR.full_name]
    more = request.SerializeToString() + b"\xfa\x7f\x05later"  # field 2047
    first = method.response.FromString(await client.raw(method.path, more))
    again = await client.ask(request)
    assert plain(first.receipt) == plain(again.receipt)
    assert b"later" not in plain(again)


@MODULE
async def test_a_method_that_is_none_is_refused(casino: Casino):
    for path in (
        "/croupier.v1.PlayService/Cheat",
        "/croupier.v1.PlayService/play",
        "/croupier.v2.PlayService/Play",
        "/nothing.at.All/Here",
        "/x",
        "/" + "x" * 2000,
    ):
        refusal = await refused(casino.client.raw(path, b""))
        assert_refused(refusal, Reason.METHOD_NOT_FOUND)
        assert refusal.metadata["method"] == path[:128]
