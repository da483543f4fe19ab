"""A ledger goes from any engine to any other and back, and is the same byte for byte."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from croupier.domain.commands import Fade, PostBank
from croupier.services.ledger import copying
from croupier.services.ledger.copying import CopyRefusedError, copy
from croupier.services.store.choosing import engines_of
from tests.support.ledgers import LEDGER, House
from tests.support.redis_server import redis_server

DEPOSITS = 30


@pytest.fixture(scope="module")
def server():
    with redis_server() as server:
        yield server


@pytest.fixture
def engine(tmp_path, server):
    """Return how a test gets engines of its own: `engine("redis", "a")`."""
    made = []

    def make(kind, name):
        place = f"sqlite:{tmp_path / name}"
        if kind == "redis":
            place = f"{server.url}?prefix={tmp_path.name}-{name}"[:200]
        made.append(engines_of(place, {}, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.close()


def everything(engine):
    """Return all that an engine holds of the ledger, as stored."""
    with closing(engine.open(LEDGER)) as store:
        records = [
            (one.id, one.originator_id, one.originator_version, one.topic, bytes(one.state))
            for one in store.records(0, 1_000_000)
        ]
        keys = [("desk", f"d{number}") for number in range(DEPOSITS)] + [("desk", "create")]
        return store.head(), records, store.find_requests(keys), store.count_requests(1_000_000)


def copied(source, target):
    with closing(source.open(LEDGER)) as there, closing(target.open(LEDGER)) as here:
        return copy(there, here, lambda what, done, of: None)


async def recorded(house):
    await house.create()
    await house.open_table()
    for number in range(DEPOSITS):
        await house.deposit("anna" if number % 2 else "bert", 100, f"d{number}")
    await house.play(PostBank("anna", 100))
    await house.play(Fade("bert", 100))


@pytest.mark.parametrize(
    "there, here", [("sqlite", "redis"), ("redis", "sqlite"), ("redis", "redis")]
)
async def test_a_ledger_is_the_same_on_another_engine_and_goes_on_there(
    tmp_path, engine, monkeypatch, there, here
):
    monkeypatch.setattr(copying, "PAGE", 7)
    source, target, back = engine(there, "a"), engine(here, "b"), engine(there, "c")
    house = House(tmp_path, engine=source)
    await recorded(house)
    receipt = await house.deposit("bert", 100, "d0")
    house.close()
    done = copied(source, target)
    assert everything(target) == everything(source)
    assert done.head == everything(source)[0]
    house = House(tmp_path, engine=target)
    again = await house.deposit("bert", 100, "d0")
    assert (again.first, again.last, again.events) == (receipt.first, receipt.last, receipt.events)
    await house.deposit("bert", 5, "later")
    house.close()
    copied(target, back)
    assert everything(back) == everything(target)


class Late:
    """A target at whose last commit somebody else commits to the source."""

    def __init__(self, store, somebody):
        self._store = store
        self._somebody = somebody

    def __getattr__(self, name):
        return getattr(self._store, name)

    def commit(self, records, commit):
        if not records and len(commit.requests) == 1:
            self._somebody()
        self._store.commit(records, commit)


async def test_whoever_writes_at_the_last_moment_is_noticed_where_no_lock_keeps_him_out(
    tmp_path, engine
):
    source, target = engine("redis", "a"), engine("redis", "b")
    house = House(tmp_path, engine=source)
    await recorded(house)
    loop = asyncio.get_running_loop()

    def deposit():
        asyncio.run_coroutine_threadsafe(house.deposit("bert", 5, "late"), loop).result(20)

    with closing(source.open(LEDGER)) as there, closing(target.open(LEDGER)) as here:
        late = Late(here, deposit)
        with pytest.raises(CopyRefusedError, match="has written to the source since"):
            await asyncio.to_thread(copy, there, late, lambda what, done, of: None)
    house.close()


class Killed(Exception):
    """The copy ends here, as a kill would end it."""


async def test_a_copy_to_redis_that_was_interrupted_is_gone_on_with(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(copying, "PAGE", 7)
    source, target = engine("sqlite", "a"), engine("redis", "b")
    house = House(tmp_path, engine=source)
    await recorded(house)
    house.close()
    for phase in ("copied", "read back"):

        def kill(what, done, of, phase=phase):
            if (what, done) == (phase, 21):
                raise Killed

        with (
            closing(source.open(LEDGER)) as there,
            closing(target.open(LEDGER)) as here,
            pytest.raises(Killed),
        ):
            copy(there, here, kill)
    assert copied(source, target).resumed_at == everything(source)[0].position
    assert everything(target) == everything(source)
