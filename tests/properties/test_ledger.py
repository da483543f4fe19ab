"""Whatever is asked, in whatever order and however often: the books stay true."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain import commands
from croupier.domain.dice import Source
from croupier.domain.errors import Refused
from croupier.domain.names import EXTERNAL
from croupier.domain.postings import post
from croupier.services.audit.replay import Replay
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.requests import CloseTable, Deposit, OpenTable, Play, Withdraw
from croupier.services.store.mapper import posting_from_wire
from tests.support.ledgers import PLAYERS, House

SOURCE = Source("dealer", "kim")
DIE = st.integers(1, 6)
PLAYER = st.sampled_from((*PLAYERS, "nobody"))
AMOUNT = st.integers(-1, 400)
MONEY = st.builds(
    lambda kind, player, amount: kind(f"player:{player}", "EUR", amount),
    st.sampled_from((Deposit, Withdraw)),
    PLAYER,
    AMOUNT,
)
GAME = st.one_of(
    st.builds(commands.PostBank, PLAYER, AMOUNT),
    st.builds(commands.Fade, PLAYER, AMOUNT),
    st.builds(commands.Decline, PLAYER),
    st.builds(commands.Roll, PLAYER, st.tuples(DIE, DIE, DIE), st.just(SOURCE)),
    st.builds(commands.KeepBank, PLAYER),
    st.builds(commands.ResignBank, PLAYER),
)
PLAY = st.builds(Play, st.sampled_from(("t1", "t2", "t3")), st.integers(0, 4), GAME)
OTHER = st.builds(CloseTable, st.sampled_from(("t1", "t2", "t3")))
# Asks for what the table waits for, with these dice if it is a throw: so rounds get somewhere.
PLAY_ON = st.tuples(st.sampled_from(("t1", "t2")), DIE, DIE, DIE)
STEPS = st.lists(
    st.one_of(MONEY, PLAY, PLAY_ON, PLAY_ON, PLAY_ON, PLAY_ON, PLAY_ON),
    min_size=25,
    max_size=60,
).flatmap(lambda steps: st.lists(OTHER, max_size=2).map(lambda closing: steps + closing))


def run(scenario):
    """Run a scenario on a ledger of its own."""

    async def in_folder(folder):
        house = House(Path(folder))
        try:
            await house.create()
            for player in PLAYERS:
                await house.deposit(player, 300)
            await house.open_table("t1")
            options = {"payout": "multiplied", "payout_applies_to": "both_sides"}
            await house.open_table("t2", preset="german", **options)
            await scenario(house)
        finally:
            house.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(in_folder(folder))


def next_command(house, step):
    """Return a step as a command: itself, or what its table waits for."""
    if not isinstance(step, tuple):
        return step
    table_id, *dice = step
    table = house.ledger.table(table_id)
    view = table.view
    if table.closed:
        return CloseTable(table_id)
    player, kind = view.to_act[0], view.expects[0]
    command = {
        "post_bank": lambda: commands.PostBank(player, 10),
        "fade": lambda: commands.Fade(player, 3),
        "roll": lambda: commands.Roll(player, tuple(dice), SOURCE),
        "keep_bank": lambda: commands.KeepBank(player),
    }[kind]()
    return Play(table_id, table.round, command)


async def play_all(house, steps):
    """Ask for every step and return the accepted requests with their receipts."""
    accepted = []
    for step in steps:
        request = house.request(next_command(house, step))
        before = house.books()
        try:
            accepted.append((request, await house.ledger.submit(request)))
        except Refused:
            assert house.books() == before
    return accepted


@settings(max_examples=40, deadline=None, derandomize=True)
@given(STEPS)
def test_a_refused_command_leaves_log_and_books_as_they_were_and_the_log_explains_the_books(steps):
    async def scenario(house):
        await play_all(house, steps)
        ledger = house.ledger
        events = ledger.events(0, 100_000)
        balances = {}
        for event in events:
            post(balances, map(posting_from_wire, event.postings))
            assert sum(balances.values()) == 0
            assert all(b >= 0 for (account, _), b in balances.items() if account != EXTERNAL)
        assert balances == dict(ledger.balances())
        frontier = Frontier()
        for record in house.log():
            frontier = frontier.append(leaf_hash(record))
        assert frontier == ledger.head().frontier
        for table in ledger.tables("", 10):
            replay = Replay()
            for event in ledger.table_events(table.id):
                assert replay.fold(event) == []
                assert replay.table.version == event.version
            assert replay.table == table

    run(scenario)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(STEPS, st.randoms(use_true_random=False))
def test_retries_at_any_time_and_in_any_order_change_nothing(steps, random):
    async def scenario(house):
        accepted = await play_all(house, steps)
        before = house.books()
        again = accepted * 2
        random.shuffle(again)
        receipts = await asyncio.gather(*(house.ledger.submit(request) for request, _ in again))
        assert receipts == [receipt for _, receipt in again]
        assert house.books() == before

    run(scenario)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(STEPS)
def test_a_batch_decides_as_one_by_one(steps):
    """The order of a turn is the order of arrival, so batching changes no answer."""

    async def scenario(house):
        requests = [house.request(step) for step in steps if not isinstance(step, tuple)]
        together = await asyncio.gather(
            *(house.ledger.submit(request) for request in requests), return_exceptions=True
        )
        answers.append([_answer(one) for one in together])

    async def one_by_one(house):
        answers.append([])
        for step in steps:
            if not isinstance(step, tuple):
                try:
                    answers[-1].append(_answer(await house.ledger.submit(house.request(step))))
                except Refused as refusal:
                    answers[-1].append(_answer(refusal))

    answers = []
    run(scenario)
    run(one_by_one)
    assert answers[0] == answers[1]


def _answer(result):
    if isinstance(result, Refused):
        return (result.reason, result.message)
    return (result.first, result.last, [event.type for event in result.events])


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 10**15), st.integers(0, 10**15))
def test_no_sequence_of_deposits_exceeds_the_supply(first, second):
    async def scenario(house):
        for amount in (first, second):
            try:
                await house.ask(Deposit("house", "SEK", amount))
            except Refused:
                continue
        held = sum(b for (a, c), b in house.ledger.balances().items() if c == "SEK" and b > 0)
        assert held <= 10**15

    run(scenario)


def test_open_table_is_repeatable(tmp_path):
    async def scenario():
        house = House(tmp_path)
        await house.create()
        command = OpenTable("t1", "ceelo_bank", {}, PLAYERS, "EUR", "anna")
        first = await house.ask(command, "open")
        assert await house.ask(command, "open") == first
        house.close()

    asyncio.run(scenario())
