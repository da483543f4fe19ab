"""How far logs were seen to reach outlives the processes that saw it."""

from __future__ import annotations

import fcntl
import os

import pytest

from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.seen import Seen
from croupier.services.store.store import Head


def head(position, branch=""):
    """Return a head of a log of so many events; another branch is another log."""
    frontier = Frontier()
    for number in range(position):
        frontier = frontier.append(leaf_hash(f"{branch}{number}".encode()))
    return Head(frontier, 1_000 * position)


@pytest.fixture(params=["in files", "in memory"])
def seen(request, tmp_path):
    return Seen(tmp_path / "seen" if request.param == "in files" else None)


def test_of_a_ledger_that_nobody_saw_nothing_is_known(seen):
    assert seen.get("main") == Head()
    assert list(seen.ledgers()) == []


def test_the_furthest_head_is_kept(seen):
    for position in (3, 7, 5, 7):
        seen.note("main", head(position))
    seen.note("other", head(1))
    assert seen.get("main") == head(7)
    assert sorted(seen.ledgers()) == ["main", "other"]


def test_an_operator_may_accept_a_head_that_went_back(seen):
    seen.note("main", head(7))
    seen.accept("main", head(5, "new"))
    assert seen.get("main") == head(5, "new")
    seen.note("main", head(6, "new"))
    assert seen.get("main") == head(6, "new")


def test_a_process_that_starts_later_knows_what_others_saw(tmp_path):
    Seen(tmp_path).note("main", head(7))
    assert Seen(tmp_path).get("main") == head(7)
    assert Seen(tmp_path).ledgers() == ["main"]


def test_of_several_processes_the_one_that_saw_furthest_is_believed(tmp_path):
    one, other = Seen(tmp_path), Seen(tmp_path)
    one.note("main", head(5))
    other.note("main", head(9))
    one.note("main", head(7))
    assert Seen(tmp_path).get("main") == one.get("main") == head(9)


def test_while_another_process_writes_it_is_kept_at_the_next_time(tmp_path):
    seen = Seen(tmp_path)
    lock = os.open(tmp_path / ".lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    seen.note("main", head(5))
    assert Seen(tmp_path).get("main") == Head()
    os.close(lock)
    seen.note("main", head(5))
    assert Seen(tmp_path).get("main") == head(5)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"position": 2, "frontier": "00", "recorded_us": 1}',
        b'{"position": "x", "frontier": "", "recorded_us": 1}',
        b'{"position": 0, "frontier": "", "recorded_us": null}',
    ],
)
def test_what_cannot_be_read_is_as_if_nothing_had_been_seen(tmp_path, broken):
    (tmp_path / "main.json").write_bytes(broken)
    seen = Seen(tmp_path)
    assert seen.get("main") == Head()
    seen.note("main", head(3))
    assert Seen(tmp_path).get("main") == head(3)


def test_where_nothing_can_be_written_it_is_remembered_once_it_can(tmp_path):
    seen = Seen(tmp_path / "seen")
    (tmp_path / "seen").rmdir()
    seen.note("main", head(3))
    assert Seen(tmp_path / "seen").get("main") == Head()
    seen.note("main", head(3))
    assert Seen(tmp_path / "seen").get("main") == head(3)


def test_the_files_are_for_the_services_user_alone(tmp_path):
    Seen(tmp_path).note("main", head(3))
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
