"""Writers of several processes take turns once they have met, and wait for nobody who is gone."""

from __future__ import annotations

from threading import Thread
from time import monotonic

import pytest

from croupier.services.store.redis import turns
from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis_address import parse
from croupier.services.store.store import HeadMovedError
from tests.services.store.logs import add, draft
from tests.support.waiting import until

KEYS = Keys("croupier", "main")


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch):
    for name in ("LEAST_S", "MOST_S", "NOTICE_S"):
        monkeypatch.setattr(turns, name, 30.0)


@pytest.fixture
def engine(redis):
    made = RedisEngine(parse(redis.url))
    yield made
    made.close()


@pytest.fixture
def raw(redis):
    with redis.client() as client:
        yield client


def lose(store, other, stream):
    """Let a store lose a race to another."""
    records, commit = draft(store.head(), (stream, 1))
    version = other.stream_version("winner") + 1
    add(other, ("winner", version))
    with pytest.raises(HeadMovedError):
        store.commit(records, commit)


def test_a_writer_without_rivals_asks_nobody(engine, raw):
    store = engine.open("main")
    head = add(store, ("ledger", 1))
    raw.config_resetstat()
    assert store.try_lock()
    store.unlock()
    assert "cmdstat_evalsha" not in raw.info("commandstats")
    assert raw.hget(KEYS.head, "next") is None
    assert head.position == 1


def test_who_lost_a_race_is_next_and_then_whoever_waited(engine, raw):
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    assert loser.try_lock()
    with pytest.raises(HeadMovedError, match="another writer is next"):
        add(winner, ("winner", 2))
    # Now the winner asks, too, and is told to wait.
    assert not winner.try_lock()
    assert not winner.try_lock()
    add(loser, ("loser", 1))
    loser.unlock()
    # Nobody overtakes who waits, least of all the one who just had his turn.
    assert not loser.try_lock()
    assert winner.try_lock()
    add(winner, ("winner", 2))
    winner.unlock()
    assert loser.try_lock()
    add(loser, ("loser", 2))
    loser.unlock()
    assert raw.exists(KEYS.queue) == 0
    assert raw.hget(KEYS.head, "next") is None


def test_a_turn_that_records_nothing_is_given_up(engine, raw):
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    assert loser.try_lock()
    loser.unlock()
    assert raw.hget(KEYS.head, "next") is None
    add(winner, ("winner", 2))
    assert loser.try_lock()
    lose(winner, loser, "winner-2")
    assert not loser._turns._is_next
    assert winner.try_lock()
    assert not loser.try_lock()
    winner.unlock()
    assert raw.hget(KEYS.head, "next").decode() == loser._turns.name


def test_who_is_gone_keeps_others_waiting_for_a_limited_time(engine, monkeypatch):
    monkeypatch.setattr(turns, "LEAST_S", 0.1)
    monkeypatch.setattr(turns, "MOST_S", 0.1)
    gone, winner = engine.open("main"), engine.open("main")
    lose(gone, winner, "gone")
    assert gone.try_lock()
    gone.close()
    began = monotonic()
    until("a commit", lambda: commits(winner))
    assert monotonic() - began < 5


@pytest.mark.parametrize("until_ms", ["in ten minutes", "nonsense", None])
def test_nobody_is_next_for_longer_than_any_turn_takes(engine, raw, until_ms):
    """A clock that was set back, or a failover to a machine whose clock is behind."""
    store, loser = engine.open("main"), engine.open("main")
    add(store, ("ledger", 1))
    now_s, _ = raw.time()
    until_ms = 1000 * (now_s + 600) if until_ms == "in ten minutes" else until_ms
    raw.hset(KEYS.head, "next", "somebody")
    if until_ms is not None:
        raw.hset(KEYS.head, "next_until_ms", until_ms)
    add(store, ("ledger", 2))
    lose(loser, store, "loser")
    raw.hset(KEYS.head, mapping={"next": "somebody", "next_until_ms": 1000 * (now_s + 600)})
    assert loser.try_lock()
    add(loser, ("loser", 1))


def commits(store):
    try:
        add(store, ("winner", store.stream_version("winner") + 1))
    except HeadMovedError:
        return False
    return True


def test_a_writer_waits_for_its_turn_in_a_thread(engine):
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    lose(winner, loser, "winner-2")
    assert loser.try_lock()
    waiting = Thread(target=winner.lock)
    waiting.start()
    until("it queues", lambda: winner._servers.ask(KEYS.queue, "LLEN", KEYS.queue))
    add(loser, ("loser", 1))
    loser.unlock()
    waiting.join(30)
    assert winner._turns._is_next
    add(winner, ("winner", 3))


def test_patience_ends_and_the_commit_is_up_to_the_server(engine, monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE_S", 0.01)
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    assert loser.try_lock()
    lose_by_turn = draft(winner.head(), ("winner", 2))
    with pytest.raises(HeadMovedError):
        winner.commit(*lose_by_turn)
    winner.lock()
    with pytest.raises(HeadMovedError, match="next"):
        winner.commit(*lose_by_turn)
    add(loser, ("loser", 1))


def test_after_a_while_without_a_meeting_nobody_is_asked_any_more(engine, monkeypatch, raw):
    monkeypatch.setattr(turns, "CAREFUL", 3)
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    for version in range(1, 5):
        assert loser.try_lock()
        is_next = raw.hget(KEYS.head, "next")
        assert (is_next is not None) == (version <= 3)
        add(loser, ("loser", version))
        loser.unlock()


def test_a_ledger_that_is_not_there_has_no_turns(engine, raw):
    loser, winner = engine.open("main"), engine.open("main")
    lose(loser, winner, "loser")
    raw.delete(KEYS.head)
    assert not loser.try_lock()
    assert not raw.exists(KEYS.head, KEYS.queue)
