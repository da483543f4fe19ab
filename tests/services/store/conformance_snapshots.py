"""What every engine's `Store` has to do with snapshots; a part of `StoreConformance`."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest
from eventsourcing.persistence import IntegrityError

from croupier.services.store.store import Commit, HeadMovedError, SnapshotError
from tests.services.store.logs import add, draft, snapshot

ALL = 1_000_000


class SnapshotConformance(ABC):
    """Snapshots go with commits, and come back as they were or not at all."""

    @abstractmethod
    def create_store(self):
        """Return one more store on the log of this test."""

    @abstractmethod
    def spoil(self, folder, of, /, **fields):
        """Change fields of the stored snapshot `of`, or its digest, behind the store's back."""

    def test_a_snapshot_is_saved_with_the_events_and_read_back_by_everybody(self):
        store, other = self.create_store(), self.create_store()
        assert store.snapshot("book") is None
        head = add(store, ("ledger", 1), snapshots=[snapshot("book", 1), snapshot("tables/a", 1)])
        for reader in (store, other, self.create_store()):
            assert reader.snapshot("book") == snapshot("book", 1)
            assert reader.snapshot("tables/a") == snapshot("tables/a", 1)
            assert reader.snapshot("tables/A") is None
            assert reader.head() == head

    def test_a_snapshot_of_any_size_and_content_is_the_same_when_read(self):
        store = self.create_store()
        states = {"empty": b"", "bytes": bytes(range(256)), "large": b"\x00large" * 500_000}
        taken = [snapshot(name, 1, state=state) for name, state in states.items()]
        add(store, ("ledger", 1), snapshots=taken)
        for one in taken:
            assert self.create_store().snapshot(one.name) == one

    def test_the_last_snapshot_of_a_name_is_the_one_there_is(self):
        store, other = self.create_store(), self.create_store()
        add(store, ("ledger", 1), snapshots=[snapshot("book", 1)])
        add(other, ("ledger", 2), snapshots=[snapshot("book", 2)])
        assert store.snapshot("book") == snapshot("book", 2)
        add(store, ("ledger", 3), snapshots=[snapshot("book", 1)])
        assert other.snapshot("book") == snapshot("book", 1)

    def test_a_commit_that_is_refused_saves_no_snapshot(self):
        store, other = self.create_store(), self.create_store()
        decided_on = store.head()
        head = add(other, ("ledger", 1))
        for events in ([("tables/a", 1)], [("ledger", 1)]):
            on = decided_on if events == [("tables/a", 1)] else head
            with pytest.raises(IntegrityError):
                store.commit(*draft(on, *events, snapshots=[snapshot("book", 1)]))
            assert store.snapshot("book") is None

    def test_a_commit_may_have_snapshots_and_no_events(self):
        store, other = self.create_store(), self.create_store()
        head = add(store, ("ledger", 1))
        store.commit([], Commit(head, head, snapshots=[snapshot("book", 1)]))
        assert other.snapshot("book") == snapshot("book", 1)
        assert other.head() == head
        add(other, ("ledger", 2))
        with pytest.raises(HeadMovedError):
            store.commit([], Commit(head, head, snapshots=[snapshot("book", 9)]))
        assert other.snapshot("book") == snapshot("book", 1)

    @pytest.mark.parametrize(
        "fields",
        [
            {"position": 2},
            {"stamp": "stamp 2"},
            {"state": b"another"},
            {"state": b""},
            {"state": b"text"},
            {"digest": b""},
            {"digest": bytes(32)},
        ],
    )
    def test_a_snapshot_changed_behind_the_stores_back_is_none(self, fields):
        store = self.create_store()
        add(store, ("ledger", 1), snapshots=[snapshot("book", 1), snapshot("tables/a", 1)])
        self.spoil(self._folder, "book", **fields)
        with pytest.raises(SnapshotError):
            store.snapshot("book")
        assert store.snapshot("tables/a") == snapshot("tables/a", 1)
        add(store, ("ledger", 2), snapshots=[snapshot("book", 2)])
        assert store.snapshot("book") == snapshot("book", 2)

    def test_a_snapshot_put_under_another_name_is_none(self):
        store = self.create_store()
        add(store, ("ledger", 1), snapshots=[snapshot("tables/a", 1)])
        self.spoil(self._folder, "tables/a", name="tables/b")
        with pytest.raises(SnapshotError):
            store.snapshot("tables/b")
