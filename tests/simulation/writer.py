"""One ledger's writer, in turns, as `croupier.services.ledger.writer` does it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial

from tests.simulation.clock import Clock, Do
from tests.simulation.costs import Costs
from tests.simulation.loop import STAND_STILL, Loop
from tests.simulation.machine import Disk


@dataclass(slots=True, eq=False)
class Call:
    """So many commands that arrived together; `end` is called with whether they were accepted."""

    commands: int
    born_us: float
    end: Do
    refused: bool = False


class Writer:
    """Gathers a crowd, decides it in one turn, records it with one write, answers."""

    def __init__(self, clock: Clock, loop: Loop, disk: Disk, costs: Costs) -> None:
        self._clock = clock
        self._loop = loop
        self._disk = disk
        self._costs = costs
        self._queue: deque[Call] = deque()
        self._waiting = 0
        self._running = False
        self._gathering = 0
        self._expected = 1
        self.turns = 0
        self.recorded = 0

    def submit(self, call: Call) -> None:
        """A call has been taken; its commands wait for a turn, or there are too many already."""
        if self._waiting + call.commands > self._costs.queue:
            call.refused = True
            call.end()
            return
        self._queue.append(call)
        self._waiting += call.commands
        if not self._running:
            self._running = True
            self._loop.soon((lambda: 0, self._gather))
        elif self._gathering and self._waiting >= self._expected:
            self._turn()

    def _gather(self) -> None:
        if self._waiting < self._expected and self._costs.gather_us:
            self._gathering = self.turns + 1
            self._clock.after(self._costs.gather_us, partial(self._enough, self._gathering))
        else:
            self._turn()

    def _enough(self, turn: int) -> None:
        if self._gathering == turn:
            self._turn()

    def _turn(self) -> None:
        self._gathering = 0
        batch: list[Call] = []
        self._loop.soon((partial(self._decide, batch), partial(self._commit, batch)))

    def _decide(self, batch: list[Call]) -> float:
        size = 0
        while self._queue and (not batch or size + self._queue[0].commands <= self._costs.batch):
            batch.append(self._queue.popleft())
            size += batch[-1].commands
        self._waiting -= size
        self.turns += 1
        self.recorded += size
        trial = size > 1 and self.turns % self._costs.crowd_trial == 0
        self._expected = 2 * size if trial else size
        return self._costs.turn_us + size * self._costs.command_us

    def _commit(self, batch: list[Call]) -> object:
        self._disk.sync(partial(self._answer, batch))
        return STAND_STILL if self._costs.sync_blocks else None

    def _answer(self, batch: list[Call]) -> None:
        for call in batch:
            call.end()
        if self._queue:
            self._loop.soon((lambda: 0, self._gather))
        else:
            self._running = False
        if self._costs.sync_blocks:
            self._loop.go_on()
