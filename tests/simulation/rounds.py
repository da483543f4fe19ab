"""The rounds of one process, as `croupier.services.ledger.rounds` has them."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from croupier.services.ledger.rounds import CROWD, EACH_S, LEAST_S, MOST_S, TRIAL, TRIAL_MOST
from tests.simulation.clock import Clock
from tests.simulation.loop import Loop


class Turner(Protocol):
    """What has turns: a writer."""

    def begin(self) -> float:
        """Take what waits into a turn and return what deciding it costs."""
        ...

    def end(self) -> object:
        """Record and answer it, now or later; what is returned is for the loop."""
        ...

    @property
    def jobs(self) -> int:
        """Jobs of the turn that was begun last."""
        ...


class Crowd:
    """How many jobs a round waits for: the same rule as in the service, which a test compares."""

    def __init__(self) -> None:
        self.expected = 1
        self._on_trial = False
        self._trial_after = TRIAL
        self._until_trial = TRIAL

    def learn(self, answered: int) -> None:
        """Expect as many as came, and from time to time twice as many."""
        if answered >= CROWD:
            self._trial_after = TRIAL
        elif self._on_trial:
            self._trial_after = min(2 * self._trial_after, TRIAL_MOST)
        if self._on_trial:
            self._until_trial = 1 if answered >= self.expected else self._trial_after
        self._until_trial -= 1
        self._on_trial = self._until_trial <= 0
        crowd = answered if answered >= CROWD or self._on_trial else 1
        self.expected = max(crowd, 1) * (2 if self._on_trial else 1)

    @property
    def wait_us(self) -> float:
        """How long a round waits for them."""
        return 1e6 * min(max(EACH_S * self.expected, LEAST_S), MOST_S)


class Rounds:
    """Every ledger of a process that has work gets one turn in each round."""

    def __init__(self, clock: Clock, loop: Loop, *, gather: bool) -> None:
        self._clock = clock
        self._loop = loop
        self._gather = gather
        self._crowd = Crowd()
        self._ready: dict[Turner, None] = {}
        self._came = 0
        self._running = False
        self._round = 0
        self._gathering = 0

    def wants(self, turner: Turner, jobs: int) -> None:
        """Give a ledger a turn in the next round, for so many jobs more than it had."""
        self._ready[turner] = None
        self._came += jobs
        if not self._running:
            self._running = True
            self._loop.soon((lambda: 0, self._next))
        elif self._gathering and self._came >= self._crowd.expected:
            self._enough(self._gathering)

    def _next(self) -> None:
        if not self._ready:
            self._running = False
            return
        self._round += 1
        self._gathering = self._round
        if self._gather and self._came < self._crowd.expected:
            self._clock.after(self._crowd.wait_us, partial(self._enough, self._round))
        else:
            self._enough(self._round)

    def _enough(self, number: int) -> None:
        if self._gathering == number:
            self._gathering = 0
            turners: list[Turner] = []
            self._loop.soon((partial(self._begin, turners), partial(self._end, turners, 0)))

    def _begin(self, turners: list[Turner]) -> float:
        turners.extend(self._ready)
        self._ready, self._came = {}, 0
        return turners[0].begin()

    def _end(self, turners: list[Turner], answered: int) -> object:
        first = turners.pop(0)
        answered += first.jobs
        if turners:
            self._loop.soon((turners[0].begin, partial(self._end, turners, answered)))
        else:
            self._loop.soon((lambda: 0, partial(self._over, answered)))
        return first.end()

    def _over(self, answered: int) -> None:
        self._crowd.learn(answered)
        self._next()
