"""One ledger's writer, in turns, as `croupier.services.ledger.writer` does it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial

from croupier.services.ledger.admission import RETRY_MS_LEAST, RETRY_MS_MOST
from croupier.services.rpc.batches import SLICE
from tests.simulation.clock import Clock, Do
from tests.simulation.costs import Costs
from tests.simulation.loop import STAND_STILL, Loop
from tests.simulation.machine import Disk
from tests.simulation.rounds import Rounds


@dataclass(slots=True, eq=False)
class Call:
    """So many commands that arrived together; `end` is called when all are answered or refused."""

    commands: int
    born_us: float
    end: Do
    refused: bool = False
    retry_us: float = 0.0
    """How long it was told to wait when it was refused."""
    jobs: int = 0
    """Its jobs that are not answered yet."""


Job = tuple[Call, int]
"""A part of a call that is decided in one turn, and its commands."""


class Writer:
    """Lets jobs wait, decides them in turns, records each turn with one write, answers."""

    def __init__(self, clock: Clock, loop: Loop, disk: Disk, costs: Costs, rounds: Rounds) -> None:
        self._clock = clock
        self._loop = loop
        self._disk = disk
        self._costs = costs
        self._rounds = rounds
        self._queue: deque[Job] = deque()
        self._waiting = 0
        self._turn: list[Job] = []
        self._committing = False
        self._each_us = 0.0
        self.turns = 0
        self.recorded = 0

    def submit(self, call: Call) -> None:
        """A call has been taken; its commands wait for a turn, or there are too many already."""
        if self._waiting + call.commands > self._costs.queue:
            call.refused = True
            told_ms = self._waiting * self._each_us / 1000
            call.retry_us = 1000 * min(max(told_ms, RETRY_MS_LEAST), RETRY_MS_MOST)
            call.end()
            return
        for start in range(0, call.commands, SLICE):
            self._queue.append((call, min(SLICE, call.commands - start)))
            call.jobs += 1
        self._waiting += call.commands
        if not self._committing:
            self._rounds.wants(self, call.jobs)

    @property
    def jobs(self) -> int:
        """Jobs of the turn that was begun last."""
        return len(self._turn)

    def begin(self) -> float:
        """Take what waits into a turn and return what deciding it costs."""
        size = 0
        self._turn = []
        while self._queue and (not size or size + self._queue[0][1] <= self._costs.batch):
            job = self._queue.popleft()
            self._turn.append(job)
            size += job[1]
        if not size:  # what came since the round before was taken along in its turn
            return 0.0
        self._waiting -= size
        self.turns += 1
        self.recorded += size
        each_us = (self._costs.turn_us + self._costs.sync_us) / size + self._costs.command_us
        self._each_us += (each_us - self._each_us) / 8 if self._each_us else each_us
        return self._costs.turn_us + size * self._costs.command_us

    def end(self) -> object:
        """Write; the loop stands still, or goes on and this ledger has no turn meanwhile."""
        if not self._turn:
            return None
        self._committing = not self._costs.sync_blocks
        self._disk.sync(partial(self._answer, self._turn))
        return STAND_STILL if self._costs.sync_blocks else None

    def _answer(self, turn: list[Job]) -> None:
        for call, _ in turn:
            call.jobs -= 1
            if not call.jobs:
                call.end()
        self._committing = False
        if self._queue:
            self._rounds.wants(self, len(self._queue))
        if self._costs.sync_blocks:
            self._loop.go_on()
