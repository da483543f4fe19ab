"""What every engine's `Store` has to do; an engine's own tests subclass `StoreConformance`."""

from __future__ import annotations

import itertools
import signal
from abc import abstractmethod
from multiprocessing.connection import wait

import pytest
from eventsourcing.persistence import IntegrityError, ProgrammingError

from croupier.services.store.store import Head, HeadMovedError
from tests.services.store.conformance_processes import ProcessConformance
from tests.services.store.conformance_snapshots import SnapshotConformance
from tests.services.store.logs import (
    EMPTY,
    SPAWN,
    add,
    draft,
    hold_the_lock,
    root_of,
    sizes,
    stream_of,
    write,
    write_to_each,
)

ALL = 1_000_000
FOR_EVER = 1_000_000_000

LOCKED = range(6)
UNLOCKED = range(6, 8)
VICTIM = 8
TURNS = 25


class StoreConformance(SnapshotConformance, ProcessConformance):
    """Each test has a log of its own, which `create_store` opens once more."""

    has_lock = True
    """Whether writers in several processes wait for each other; else each commit may be in vain."""

    @abstractmethod
    def opener(self, folder):
        """Return a callable that opens the same log at each call; other processes get it too."""

    @pytest.fixture(autouse=True)
    def _log(self, tmp_path):
        self._folder = tmp_path
        self._open = self.opener(tmp_path)
        self._stores = []
        yield
        for store in self._stores:
            store.close()

    def create_store(self):
        """Return one more store on the log of this test; it is closed when the test ends."""
        store = self._open()
        self._stores.append(store)
        return store

    # --- head and commit ---------------------------------------------------------------------

    def test_an_empty_log_has_an_empty_head_and_nothing_else(self):
        store = self.create_store()
        assert store.head() == EMPTY
        assert list(store.records(0, ALL)) == []
        assert list(store.stream("tables/a", 0, ALL)) == []
        assert store.stream_version("tables/a") == 0
        assert list(store.streams("", "", ALL)) == []
        assert store.find_requests([("desk", "1")]) == {}

    def test_what_is_committed_is_read_back_by_everybody(self):
        store, other = self.create_store(), self.create_store()
        records, commit = draft(EMPTY, ("ledger", 1), ("tables/a", 1), requests=[("desk", "1")])
        store.commit(records, commit)
        for reader in (store, other, self.create_store()):
            assert reader.head() == commit.head
            assert list(reader.records(0, ALL)) == records
            assert reader.find_requests([("desk", "1")]) == {("desk", "1"): commit.requests[0]}

    def test_the_recorded_time_moves_with_the_head(self):
        store = self.create_store()
        records, commit = draft(Head(), ("ledger", 1))
        store.commit(records, commit)
        assert store.head().recorded_us == commit.head.recorded_us > 0

    def test_positions_are_dense_over_many_commits(self):
        store = self.create_store()
        for version in range(1, 6):
            add(store, ("ledger", version), ("tables/a", version))
        assert [record.id for record in store.records(0, ALL)] == list(range(1, 11))

    def test_a_moved_head_refuses_the_commit_and_nothing_is_recorded(self):
        store, other = self.create_store(), self.create_store()
        decided_on = store.head()
        head = add(other, ("ledger", 1))
        records, commit = draft(decided_on, ("tables/a", 1), requests=[("desk", "1")])
        with pytest.raises(HeadMovedError):
            store.commit(records, commit)
        assert store.head() == head
        assert store.stream_version("tables/a") == 0
        assert store.find_requests([("desk", "1")]) == {}

    def test_a_head_of_the_same_size_but_of_another_tree_refuses_the_commit(self):
        store, elsewhere = self.create_store(), draft(EMPTY, ("another", 1))[1].head
        head = add(store, ("ledger", 1))
        assert elsewhere.position == head.position
        with pytest.raises(HeadMovedError):
            store.commit(*draft(elsewhere, ("tables/a", 1)))
        assert store.head() == head

    def test_an_existing_version_in_the_batch_refuses_all_of_it(self):
        store = self.create_store()
        head = add(store, ("tables/a", 1))
        records, commit = draft(head, ("tables/b", 1), ("tables/a", 1), requests=[("desk", "1")])
        with pytest.raises(IntegrityError):
            store.commit(records, commit)
        self._check_nothing_but(store, head)

    def test_an_existing_request_refuses_all_of_the_batch(self):
        store = self.create_store()
        head = add(store, ("tables/a", 1), requests=[("desk", "1")])
        requests = [("desk", "2"), ("desk", "1")]
        with pytest.raises(IntegrityError):
            store.commit(*draft(head, ("tables/b", 1), requests=requests))
        self._check_nothing_but(store, head)
        assert store.find_requests([("desk", "2")]) == {}

    def test_records_that_do_not_follow_the_head_are_refused(self):
        store = self.create_store()
        head = add(store, ("tables/a", 1))
        records, commit = draft(head, ("tables/b", 1), ("tables/c", 1))
        with pytest.raises(ProgrammingError):
            store.commit(records[1:], commit)
        self._check_nothing_but(store, head)

    def _check_nothing_but(self, store, head):
        """After a refused commit the log is as it was, for all, and the next commit succeeds."""
        for reader in (store, self.create_store()):
            assert reader.head() == head
            assert len(reader.records(0, ALL)) == head.position
        add(store, ("afterwards", 1))
        assert store.head().position == head.position + 1

    # --- whether somebody else committed -----------------------------------------------------

    def test_a_commit_of_another_store_is_noticed_until_the_head_is_read(self):
        store, other = self.create_store(), self.create_store()
        store.head()
        assert not store.changed()
        add(other, ("ledger", 1))
        assert store.changed()
        store.head()
        assert not store.changed()

    def test_before_the_head_was_ever_read_anything_may_have_changed(self):
        assert self.create_store().changed()

    def test_a_commit_between_our_head_and_our_commit_is_noticed(self):
        store, other = self.create_store(), self.create_store()
        decided_on = store.head()
        add(other, ("ledger", 1))
        with pytest.raises(HeadMovedError):
            store.commit(*draft(decided_on, ("tables/a", 1)))
        assert store.changed()

    # --- reading -----------------------------------------------------------------------------

    def test_records_are_read_page_by_page_in_order_of_position(self):
        store = self.create_store()
        add(store, *[("ledger", version) for version in range(1, 8)])
        pages = [[record.id for record in store.records(after, 3)] for after in (0, 3, 6, 7)]
        assert pages == [[1, 2, 3], [4, 5, 6], [7], []]

    def test_a_stream_is_read_page_by_page_in_order_of_version(self):
        store = self.create_store()
        for version in range(1, 6):
            add(store, ("tables/b", version), ("tables/a", version), ("tables/c", version))
        pages = [store.stream("tables/a", after, 2) for after in (0, 2, 4, 5)]
        versions = [[record.originator_version for record in page] for page in pages]
        assert versions == [[1, 2], [3, 4], [5], []]
        assert {record.originator_id for page in pages for record in page} == {"tables/a"}
        assert store.stream_version("tables/a") == 5

    def test_streams_are_listed_by_prefix_in_order_and_page_by_page(self):
        store = self.create_store()
        names = ["tables/b", "tables/a", "ledger", "tables/B", "tables/a-1", "tablet", "a", "zz"]
        add(store, *[(name, 1) for name in names], ("tables/a", 2))
        tables = ["tables/B", "tables/a", "tables/a-1", "tables/b"]
        assert list(store.streams("tables/", "", ALL)) == tables
        assert list(store.streams("tables/", "", 3)) == tables[:3]
        assert list(store.streams("tables/", "tables/a", 2)) == tables[2:]
        assert list(store.streams("tables/", "tables/b", 2)) == []
        assert list(store.streams("tables/", "tables/aa", 2)) == ["tables/b"]
        assert list(store.streams("tables/", "a", 1)) == tables[:1]
        assert list(store.streams("tables/", "z", 1)) == []
        assert list(store.streams("tables/a", "", ALL)) == ["tables/a", "tables/a-1"]
        assert list(store.streams("", "", ALL)) == sorted(names)

    def test_a_request_id_belongs_to_its_caller(self):
        store = self.create_store()
        head = add(store, ("ledger", 1), requests=[("desk", "1")])
        assert store.find_requests([("floor", "1"), ("desk", "2")]) == {}
        add(store, ("ledger", 2), requests=[("floor", "1")])
        found = store.find_requests([("desk", "1"), ("floor", "1")])
        assert {key: entry.last for key, entry in found.items()} == {
            ("desk", "1"): head.position,
            ("floor", "1"): head.position + 1,
        }

    def test_more_requests_than_one_query_takes_are_found_at_once(self):
        store = self.create_store()
        keys = [("desk", str(number)) for number in range(1_201)]
        add(store, ("ledger", 1), requests=keys)
        found = store.find_requests(iter([("desk", "unknown"), *keys, keys[0]]))
        assert found.keys() == set(keys)
        assert all(entry.key == key for key, entry in found.items())
        assert store.find_requests([]) == {}

    def test_a_look_says_where_the_head_is_and_which_requests_were_accepted(self):
        store, other = self.create_store(), self.create_store()
        keys = [("desk", str(number)) for number in range(1_201)]
        assert store.look(keys) == (EMPTY, {})
        head = add(other, ("ledger", 1), requests=keys[1:])
        assert store.look([]) == (head, {})
        assert store.look(iter(keys)) == (head, other.find_requests(keys))
        assert store.find_requests(keys).keys() == set(keys[1:])
        # What it says is decided on: as after `head`, this is no news.
        assert not store.changed()
        add(store, ("ledger", 2), requests=keys[:1])
        assert store.look(keys[:1])[1].keys() == {keys[0]}

    # --- processes ---------------------------------------------------------------------------

    def test_a_killed_holder_leaves_the_lock_to_others(self):
        if not self.has_lock:
            pytest.skip("there is no lock to hold")
        store = self.create_store()
        ours, theirs = SPAWN.Pipe()
        with ours, theirs:
            holder = SPAWN.Process(target=hold_the_lock, args=(self._open, theirs))
            holder.start()
            assert ours.recv() == "locked"
            assert not store.try_lock()
            holder.kill()
            holder.join()
            holder.close()
        assert store.try_lock()
        store.unlock()

    def test_a_new_log_may_be_opened_by_many_processes_at_once(self, tmp_path):
        openers = [self.opener(tmp_path / str(number)) for number in range(20)]
        barrier = SPAWN.Barrier(4)
        writers = [
            SPAWN.Process(target=write_to_each, args=(openers, writer, barrier))
            for writer in range(4)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert [writer.exitcode for writer in writers] == [0] * len(writers)
        for open_store in openers:
            store = open_store()
            assert list(store.streams("", "", ALL)) == [stream_of(number) for number in range(4)]
            assert root_of(store.records(0, ALL)) == store.head().frontier.root
            store.close()

    def test_writers_in_many_processes_and_a_kill_leave_one_dense_order(self):
        store = self.create_store()
        writers = {
            number: SPAWN.Process(
                target=write,
                args=(self._open, number, FOR_EVER if number == VICTIM else TURNS),
                kwargs={"locked": number not in UNLOCKED},
            )
            for number in (*LOCKED, *UNLOCKED, VICTIM)
        }
        for writer in writers.values():
            writer.start()
        victim = writers.pop(VICTIM)
        try:
            seen = self._read_along(store, writers, victim)
        finally:
            for writer in (*writers.values(), victim):
                writer.kill()
                writer.join()
        assert [writer.exitcode for writer in writers.values()] == [0] * len(writers)
        assert victim.exitcode == -signal.SIGKILL
        self._check_order(store, seen)

    def _read_along(self, store, writers, victim):
        """Read the tail until all writers are done; kill the victim once it has committed."""
        seen = []
        running = {writer.sentinel for writer in writers.values()}
        while True:
            done = not running
            while page := store.records(len(seen), 7):
                seen += page
            if victim.is_alive() and any(r.originator_id == stream_of(VICTIM) for r in seen):
                victim.kill()
                victim.join()
            if done and not victim.is_alive():
                return seen + list(store.records(len(seen), ALL))
            # Until a writer ends, or for the moment that the others need to go on.
            running -= set(wait([*running, victim.sentinel], timeout=0.002))

    def _check_order(self, store, seen):
        head = self.create_store().head()
        assert [record.id for record in seen] == list(range(1, head.position + 1))
        assert list(store.records(0, ALL)) == seen
        assert root_of(seen) == head.frontier.root

        for writer in (*LOCKED, *UNLOCKED):
            self._check_writer(store, seen, writer, TURNS)
        begun = [r for r in seen if r.originator_id == stream_of(VICTIM)]
        turns = itertools.takewhile(
            lambda recorded: recorded <= len(begun), itertools.accumulate(sizes(VICTIM))
        )
        self._check_writer(store, seen, VICTIM, len(list(turns)))

    def _check_writer(self, store, seen, writer, turns):
        """A writer's turns are all there, each as a whole, and with its request."""
        stream = stream_of(writer)
        records = [record for record in seen if record.originator_id == stream]
        taken = list(itertools.islice(sizes(writer), turns))
        assert [record.originator_version for record in records] == list(range(1, sum(taken) + 1))
        keys = [(str(writer), str(turn)) for turn in range(1, turns + 2)]
        found = store.find_requests(keys)
        assert found.keys() == set(keys[:-1])
        spans = [range(found[key].first, found[key].last + 1) for key in keys[:-1]]
        assert [len(span) for span in spans] == taken
        assert [position for span in spans for position in span] == [r.id for r in records]
