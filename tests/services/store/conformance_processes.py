"""What every engine's log has to be under many processes; a part of `StoreConformance`.

Ten writers in processes of their own, two and two with the same request ids, commit to two logs by
compare-and-swap alone, wait seeded moments between deciding and committing, and some are killed and
begin again. Beside them two readers follow the tail.
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from functools import partial
from itertools import pairwise
from multiprocessing.connection import wait

from tests.services.store.crowd import (
    SHARED,
    decide_together,
    look_when_changed,
    take_turns,
    turns_of,
)
from tests.services.store.logs import SPAWN, root_of

ALL = 1_000_000
SEED = 20_270_101

LOGS = 2
CALLERS = 5
PROCESSES = 2 * CALLERS
TURNS = 24

KILLED = {0: (3, 11), 1: (5,), 7: (8, 16)}
"""Which processes are killed, when how many turns of their callers are recorded."""

TOGETHER = 8
ROUNDS = 12


class Crowd:
    """The writers, and the ends that they had."""

    def __init__(self, openers):
        self._openers = openers
        self.conflicts = SPAWN.RawArray("i", PROCESSES)
        self.kills = 0
        self._moments = {number: list(moments) for number, moments in KILLED.items()}
        self.running = {number: self._start(number) for number in range(PROCESSES)}
        self.codes = []

    def _start(self, number):
        """Begin a writer; one that is to be killed does not end before that."""
        writer = SPAWN.Process(
            target=take_turns,
            args=(self._openers, caller_of(number), TURNS),
            kwargs={
                "seed": SEED,
                "process": number,
                "conflicts": self.conflicts,
                "hold": bool(self._moments.get(number)),
            },
        )
        writer.start()
        return writer

    def kill_those_due(self, recorded):
        """End writers as a power cut would, wherever they are, and begin anew in their place."""
        for number, moments in self._moments.items():
            if moments and recorded(caller_of(number)) >= moments[0]:
                del moments[0]
                writer = self.running[number]
                writer.kill()
                writer.join()
                self.kills += writer.exitcode == -signal.SIGKILL
                self.running[number] = self._start(number)

    def wait(self):
        """Wait until a writer ends, or for the moment that they need to go on."""
        ended = set(wait([one.sentinel for one in self.running.values()], timeout=0.002))
        for number, writer in list(self.running.items()):
            if writer.sentinel in ended:
                writer.join()
                self.codes.append(writer.exitcode)
                del self.running[number]

    def end(self):
        for writer in self.running.values():
            writer.kill()
            writer.join()


def caller_of(process):
    """Return for whom a process writes: two and two for the same."""
    return f"desk-{process % CALLERS}"


class ProcessConformance(ABC):
    """Dense, in order, nothing missed, nothing doubled, whoever dies."""

    @abstractmethod
    def opener(self, folder):
        """Return a callable that opens the same log at each call; other processes get it too."""

    def test_killed_writers_and_conflicts_leave_one_order_that_a_tail_reader_sees_whole(
        self, tmp_path
    ):
        openers = [self.opener(tmp_path / f"log-{number}") for number in range(LOGS)]
        stores = [open_store() for open_store in openers]
        ours, theirs = SPAWN.Pipe()
        watcher = SPAWN.Process(target=look_when_changed, args=(openers[0], theirs))
        crowd = Crowd(openers)
        try:
            watcher.start()
            assert ours.recv() == "reading"
            seen = self._follow(stores, crowd)
            ours.send("that was all")
            watched = ours.recv()
            watcher.join()
        finally:
            crowd.end()
            watcher.kill()
            watcher.join()
            ours.close()
            theirs.close()
        assert crowd.codes == [0] * PROCESSES
        assert crowd.kills == sum(map(len, KILLED.values()))
        assert sum(crowd.conflicts) > 0
        assert watched == [(record.id, bytes(record.state)) for record in seen[0]]
        for number, store in enumerate(stores):
            self._check_log(store, seen[number], number)
            store.close()

    def _follow(self, stores, crowd):
        """Read the tails until all writers are done, and kill on the way those who are to be."""
        seen = [[] for _ in stores]
        while crowd.running:
            crowd.wait()
            for number, store in enumerate(stores):
                while page := store.records(len(seen[number]), 7):
                    seen[number] += page
            crowd.kill_those_due(partial(self._done_by, stores))
        for number, store in enumerate(stores):
            seen[number] += store.records(len(seen[number]), ALL)
        return seen

    def _done_by(self, stores, caller):
        keys = [(caller, str(number)) for number in range(1, TURNS + 1)]
        return sum(len(store.find_requests(keys)) for store in stores)

    def _check_log(self, store, seen, number):
        head = store.head()
        assert [record.id for record in seen] == list(range(1, head.position + 1))
        assert list(store.records(0, ALL)) == seen
        assert root_of(seen) == head.frontier.root
        self._check_versions(seen)
        self._check_requests(store, seen, number)

    def _check_versions(self, seen):
        """Every stream counts from 1, and its positions ascend with its versions."""
        streams = {}
        for record in seen:
            streams.setdefault(record.originator_id, []).append(record.originator_version)
        assert SHARED in streams
        for versions in streams.values():
            assert versions == list(range(1, len(versions) + 1))

    def _check_requests(self, store, seen, number):
        """Every turn is there once, as a whole, in its log; each event is of one turn."""
        turns = {
            turn.key: turn
            for caller in {caller_of(process) for process in range(PROCESSES)}
            for turn in turns_of(SEED, caller, TURNS, LOGS)
            if turn.ledger == number
        }
        found = store.find_requests(turns)
        assert found.keys() == turns.keys()
        assert store.count_requests(len(seen)) == len(turns)
        spans = sorted((entry.first, entry.last) for entry in found.values())
        assert spans[0][0] == 1
        assert spans[-1][1] == len(seen)
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))
        for key, entry in found.items():
            assert entry.last - entry.first + 1 == turns[key].size

    def test_of_all_who_decide_on_one_head_exactly_one_records(self, tmp_path):
        open_store = self.opener(tmp_path / "log")
        store = open_store()
        barrier = SPAWN.Barrier(TOGETHER)
        won = SPAWN.RawArray("i", TOGETHER * ROUNDS)
        writers = [
            SPAWN.Process(target=decide_together, args=(open_store, number, ROUNDS, barrier, won))
            for number in range(TOGETHER)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert [writer.exitcode for writer in writers] == [0] * TOGETHER
        rounds = [list(won[cut : cut + TOGETHER]) for cut in range(0, len(won), TOGETHER)]
        assert [sum(one) for one in rounds] == [1] * ROUNDS
        records = store.records(0, ALL)
        assert [record.id for record in records] == list(range(1, ROUNDS + 1))
        winners = [(str(one.index(1)), str(number)) for number, one in enumerate(rounds)]
        found = store.find_requests(
            [(str(writer), str(number)) for writer in range(TOGETHER) for number in range(ROUNDS)]
        )
        assert set(found) == set(winners)
        assert [found[key].last for key in winners] == [record.id for record in records]
        store.close()
