"""However commands are put into messages: the money is that of one command after the other."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.commands import Decline, Fade, PostBank, Roll
from croupier.domain.dice import Source
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.requests import Deposit, Play, Withdraw
from tests.support.ledgers import House, refused

WHO = ("anna", "bert", "cleo")
DEALER = Source("dealer", "kim")

moves = st.builds(
    lambda kind, who, amount: kind(f"player:{who}", "EUR", amount),
    st.sampled_from([Deposit, Withdraw]),
    st.sampled_from(WHO),
    st.integers(-1, 40),
)
plays = st.builds(
    lambda round_number, command: Play("t1", round_number, command),
    st.integers(1, 2),
    st.one_of(
        st.builds(PostBank, st.sampled_from(WHO), st.integers(0, 40)),
        st.builds(Fade, st.sampled_from(WHO), st.integers(0, 40)),
        st.builds(Decline, st.sampled_from((*WHO, "dora"))),
        st.builds(
            lambda who, dice: Roll(who, dice, DEALER),
            st.sampled_from(WHO),
            st.sampled_from([(1, 2, 4), (4, 5, 6), (2, 2, 3), (3, 3, 3), (1, 1, 6)]),
        ),
    ),
)
commands = st.tuples(st.integers(0, 30), st.one_of(moves, plays))
"""Ids from a small range, so that some come twice, with the same command or with another."""

batches = st.lists(st.tuples(st.lists(commands, min_size=1, max_size=8), st.booleans()), max_size=8)


async def alone_gets(house, request):
    """Return what a command gets that is sent by itself."""
    try:
        return await house.ledger.submit(request)
    except Refused as refusal:
        return refusal


async def furnished(folder):
    house = House(folder)
    await house.create()
    for who in WHO:
        await house.deposit(who, 100, f"purse of {who}")
    await house.open_table()
    return house


def told(answer):
    """Return what matters of an answer."""
    if isinstance(answer, Refused):
        return answer.reason
    return (answer.first, answer.last, [event.SerializeToString() for event in answer.events])


@settings(max_examples=60, deadline=None)
@given(batches, st.booleans())
def test_batches_leave_what_the_same_commands_leave_one_by_one(tmp_path_factory, sent, at_once):
    async def run():
        folder = tmp_path_factory.mktemp("batches")
        house, alone = await furnished(folder / "a"), await furnished(folder / "b")
        jobs = [
            (
                [house.request(command, f"id {number}") for number, command in listed],
                atomic,
            )
            for listed, atomic in sent
        ]
        if at_once:  # all in one turn
            waits = [house.ledger.enqueue(some, atomic=atomic) for some, atomic in jobs]
            answers = await asyncio.gather(*waits)
        else:
            answers = [await house.ledger.enqueue(some, atomic=atomic) for some, atomic in jobs]
        for (requests, atomic), got in zip(jobs, answers, strict=True):
            if atomic and any(isinstance(one, Refused) for one in got):
                continue  # nothing of it was done
            for request, answer in zip(requests, got, strict=True):
                expected = await alone_gets(alone, request)
                assert told(answer) == told(expected)
        assert house.books() == alone.books()
        assert sum(house.ledger.balances().values()) == 0
        house.close()
        alone.close()

    asyncio.run(run())


@settings(max_examples=30, deadline=None)
@given(st.lists(commands, min_size=1, max_size=12, unique_by=lambda one: one[0]))
def test_an_atomic_batch_is_done_exactly_when_each_command_would_be(tmp_path_factory, listed):
    async def run():
        folder = tmp_path_factory.mktemp("atomic")
        house, alone = await furnished(folder / "a"), await furnished(folder / "b")
        before = house.books()
        requests = [house.request(command, f"id {number}") for number, command in listed]
        got = await house.ledger.enqueue(requests, atomic=True)
        expected = [await alone_gets(alone, request) for request in requests]
        first = next((at for at, one in enumerate(expected) if isinstance(one, Refused)), None)
        if first is None:
            assert [told(one) for one in got] == [told(one) for one in expected]
            assert house.books() == alone.books()
        else:
            assert told(got[first]) == told(expected[first])
            assert {told(one) for at, one in enumerate(got) if at != first} <= {
                Reason.BATCH_REFUSED
            }
            assert house.books() == before
        house.close()
        alone.close()

    asyncio.run(run())


async def test_a_batch_that_a_fault_of_ours_ends_leaves_nothing_behind(tmp_path, monkeypatch):
    house = await furnished(tmp_path)
    before = house.books()
    broken = Deposit("player:anna", "EUR", 7)

    def fail(*args):
        raise ZeroDivisionError

    requests = [house.request(Deposit("player:anna", "EUR", 5)), house.request(broken)]
    monkeypatch.setattr("croupier.services.ledger.turn.seal", fail)
    got = await house.ledger.enqueue(requests, atomic=True)
    assert isinstance(got[0], ZeroDivisionError)
    assert got[1].reason is Reason.BATCH_REFUSED
    monkeypatch.undo()
    assert house.books() == before
    house.close()


async def test_who_left_before_the_turn_is_not_decided_whatever_his_batch(tmp_path):
    house = await furnished(tmp_path)
    before = house.books()
    waits = [
        house.ledger.enqueue([house.request(Deposit("player:anna", "EUR", 5))], atomic=atomic)
        for atomic in (False, True)
    ]
    for wait in waits:
        wait.cancel()
    await house.ledger.drain()
    assert house.books() == before
    house.close()


async def test_a_command_of_a_batch_whose_deadline_passed_is_not_decided(tmp_path):
    house = await furnished(tmp_path)
    now = house.clock.now_us
    late = house.request(Deposit("player:anna", "EUR", 5), deadline_us=now)
    fine = house.request(Deposit("player:anna", "EUR", 7), deadline_us=now + 1)
    got = await house.ledger.enqueue([late, fine], atomic=False)
    assert got[0].reason is Reason.DEADLINE_PASSED
    assert house.ledger.balance("player:anna", "EUR") == 107
    got = await house.ledger.enqueue(
        [house.request(Deposit("player:anna", "EUR", 1), deadline_us=now + 1), late], atomic=True
    )
    assert [one.reason for one in got] == [Reason.BATCH_REFUSED, Reason.DEADLINE_PASSED]
    assert house.ledger.balance("player:anna", "EUR") == 107
    await refused(house.ledger.submit(late), Reason.DEADLINE_PASSED)
    house.close()
