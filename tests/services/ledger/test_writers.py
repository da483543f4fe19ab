"""Several writers of one ledger, as several processes are: one order, whoever decides."""

from __future__ import annotations

import asyncio

from croupier.domain.commands import Fade, PostBank, Roll
from croupier.domain.dice import Source
from croupier.services.ledger.requests import Withdraw
from tests.support.ledgers import House


async def test_a_withdrawal_through_one_follows_a_deposit_through_the_other(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    await one.deposit("anna", 100)
    assert (await other.ask(Withdraw("player:anna", "EUR", 100))).last == 3
    assert one.ledger.balance("player:anna", "EUR") == 0
    one.close()
    other.close()


async def test_a_table_played_through_two_writers_has_one_order(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    await one.deposit("anna", 100)
    await other.deposit("bert", 100)
    await one.open_table()
    await other.play(PostBank("anna", 100))
    await one.play(Fade("bert", 100))
    roll = Roll("anna", (1, 2, 4), Source("dealer", "kim"))
    receipts = await asyncio.gather(
        *(one.play(roll, request_id=f"a{n}") for n in range(20)),
        *(other.play(roll, request_id=f"b{n}") for n in range(20)),
    )
    assert sorted(receipt.version for receipt in receipts) == list(range(6, 46))
    assert one.books() == other.books()
    one.close()
    other.close()


async def test_a_request_accepted_through_one_is_a_retry_through_the_other(tmp_path):
    one, other = House(tmp_path), House(tmp_path)
    await one.create()
    assert await one.deposit("anna", 5, "d") == await other.deposit("anna", 5, "d")
    one.close()
    other.close()
