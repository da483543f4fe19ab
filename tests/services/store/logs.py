"""Records of no particular game, and processes that write them to any `Store`."""

from __future__ import annotations

import itertools
import multiprocessing
from hashlib import sha256

from eventsourcing.persistence import Notification, OperationalError

from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.store.store import Commit, Head, HeadMovedError, RequestEntry, Snapshot

# Never fork: a copy of open databases and locks is what no engine allows.
SPAWN = multiprocessing.get_context("spawn")

EMPTY = Head()


def draft(head, *events, requests=(), snapshots=()):
    """Return the arguments of `commit` for events, each a stream and a version, after `head`.

    Requests are pairs of caller and request id, and all caused all of the events.
    """
    frontier, records = head.frontier, []
    for stream, version in events:
        position = frontier.size + 1
        state = f"{stream} {version} at {position}".encode()
        frontier = frontier.append(leaf_hash(state))
        record = Notification(
            id=position,
            originator_id=stream,
            originator_version=version,
            topic="test.Happened",
            state=state,
        )
        records.append(record)
    entries = [entry(caller, request_id, head, frontier) for caller, request_id in requests]
    return records, Commit(head, Head(frontier, head.recorded_us + 1), entries, snapshots)


def entry(caller, request_id, before, after):
    """Return the entry of a request that caused the events from `before` on to the tree `after`."""
    digest = sha256(f"{caller} {request_id}".encode()).digest()
    return RequestEntry(caller, request_id, digest, before.position + 1, after.size)


def snapshot(name, position, *, state=b"state"):
    """Return a snapshot of a position."""
    return Snapshot(name, position, "stamp 1", state)


def add(store, *events, requests=(), snapshots=()):
    """Commit events at the head of a store, and return the new head."""
    records, commit = draft(store.head(), *events, requests=requests, snapshots=snapshots)
    store.commit(records, commit)
    return commit.head


def root_of(records):
    """Return the root of the tree over records as stored."""
    frontier = Frontier()
    for record in records:
        frontier = frontier.append(leaf_hash(record.state))
    return frontier.root


# --- what writer processes do -----------------------------------------------------------------


def stream_of(writer):
    return f"writers/{writer}"


def sizes(writer):
    """Return how many events the turns of a writer record, one after the other, without end."""
    return itertools.cycle((1, 3, 2) if writer % 2 else (2, 1))


def _commit_until_done(store, writer, turn, version, size):
    """Commit one turn of a writer, again for as long as others move the head."""
    events = [(stream_of(writer), version + number) for number in range(1, size + 1)]
    while True:
        records, commit = draft(store.head(), *events, requests=[(str(writer), str(turn))])
        try:
            store.commit(records, commit)
        except HeadMovedError:
            continue
        except OperationalError:
            # Shut out for too long: whether it was recorded has to be looked up.
            if not store.find_requests([(str(writer), str(turn))]):
                continue
        return


def write(open_store, writer, turns, *, locked):
    """Take so many turns, with the ledger's lock or by compare-and-swap alone."""
    store, version = open_store(), 0
    for turn, size in enumerate(itertools.islice(sizes(writer), turns), start=1):
        if locked and not store.try_lock():
            store.lock()
        try:
            _commit_until_done(store, writer, turn, version, size)
        finally:
            if locked:
                store.unlock()
        version += size
    store.close()


def write_to_each(openers, writer, barrier):
    """Open one log after the other, each at the same moment as all others, and take a turn."""
    for open_store in openers:
        barrier.wait()
        try:
            write(open_store, writer, 1, locked=True)
        except BaseException:
            barrier.abort()
            raise


def hold_the_lock(open_store, told):
    """Take the ledger's lock, tell so, and keep it for as long as this process lives."""
    store = open_store()
    store.lock()
    told.send("locked")
    told.recv()
