"""The ledger's lock between processes: one at a time, in turn, and free when its holder dies."""

import fcntl
import os
from pathlib import Path
from time import monotonic

import pytest

from croupier.services.store.lock import FileLock
from tests.services.store.logs import SPAWN

OPEN_FILES = Path("/dev/fd")


@pytest.fixture
def beside(tmp_path):
    return tmp_path / "main.db"


@pytest.fixture
def new_lock(beside):
    made = []

    def new():
        made.append(FileLock(beside))
        return made[-1]

    yield new
    for lock in made:
        lock.close()


@pytest.fixture
def start():
    """Start a process that dies with the test at the latest."""
    started = []

    def start_one(target, *args):
        process = SPAWN.Process(target=target, args=args)
        process.start()
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.join()
        process.close()


def kill(process):
    process.kill()
    process.join()


# --- what the other processes do --------------------------------------------------------------


def take_turns_alone(beside, turns):
    """Fail if anybody else is in the same place at the same time, or a turn gets lost."""
    lock, place, counter = FileLock(beside), beside.parent / "place", beside.parent / "counter"
    for turn in range(turns):
        if turn % 2 or not lock.try_acquire():
            lock.acquire()
        place.mkdir()
        counter.write_text(str(int(counter.read_text()) + 1))
        place.rmdir()
        lock.release()


def take_turns_for_ever(beside):
    """Take the lock again as soon as it is given back, and leave a mark at each turn."""
    lock = FileLock(beside)
    marks = os.open(beside.parent / "marks", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        lock.acquire()
        os.write(marks, b"x")
        lock.release()


def take_and_keep(beside, told):
    lock = FileLock(beside)
    lock.acquire()
    told.send("taken")
    told.recv()


# --- one process ------------------------------------------------------------------------------


def test_only_one_has_the_lock(new_lock):
    one, other = new_lock(), new_lock()
    assert one.try_acquire()
    assert not other.try_acquire()
    one.release()
    assert other.try_acquire()
    assert not one.try_acquire()


def test_a_closed_lock_is_free(beside, new_lock):
    closed = FileLock(beside)
    closed.acquire()
    closed.close()
    assert new_lock().try_acquire()


def test_who_only_tries_does_not_overtake_who_waits(beside, new_lock):
    lock = new_lock()
    with turnstile(beside) as waiting:
        fcntl.flock(waiting, fcntl.LOCK_EX)
        assert not lock.try_acquire()
    assert lock.try_acquire()


def test_a_lock_where_no_file_can_be_leaves_nothing_open(tmp_path):
    (tmp_path / "main.db.lock").mkdir()
    open_before = len(list(OPEN_FILES.iterdir()))
    with pytest.raises(OSError, match="directory"):
        FileLock(tmp_path / "main.db")
    assert len(list(OPEN_FILES.iterdir())) == open_before


# --- many processes ---------------------------------------------------------------------------


def test_many_processes_take_their_turns_one_at_a_time(beside, start):
    counter = beside.parent / "counter"
    counter.write_text("0")
    processes = [start(take_turns_alone, beside, 100) for _ in range(4)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert counter.read_text() == "400"


def test_who_asks_again_at_once_comes_after_who_waits(beside, new_lock, start):
    lock, marks = new_lock(), beside.parent / "marks"
    marks.touch()
    lock.acquire()
    other = start(take_turns_for_ever, beside)
    for _ in range(100):
        until_somebody_waits(beside, other)
        turns = marks.stat().st_size
        lock.release()
        lock.acquire()
        assert marks.stat().st_size > turns, "the waiting process was overtaken"


def test_a_killed_holder_gives_the_lock_back(beside, new_lock, start):
    ours, theirs = SPAWN.Pipe()
    with ours, theirs:
        holder = start(take_and_keep, beside, theirs)
        assert ours.recv() == "taken"
        assert not new_lock().try_acquire()
        kill(holder)
    assert new_lock().try_acquire()


def test_a_killed_waiter_leaves_its_place_to_the_next(beside, new_lock, start):
    lock = new_lock()
    lock.acquire()
    waiter = start(take_turns_for_ever, beside)
    until_somebody_waits(beside, waiter)
    kill(waiter)
    lock.release()
    assert new_lock().try_acquire()


def turnstile(beside):
    """Open the file that is locked by whoever is the next."""
    return beside.with_name(beside.name + ".next").open("r+b")


def until_somebody_waits(beside, process):
    """Look again and again until somebody waits; he cannot get in, since we have the lock."""
    deadline = monotonic() + 60
    with turnstile(beside) as looking:
        while monotonic() < deadline:
            try:
                fcntl.flock(looking, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(looking, fcntl.LOCK_UN)
            assert process.is_alive()
    pytest.fail("nobody ever waited")
