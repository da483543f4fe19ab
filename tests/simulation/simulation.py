"""A plan of ledgers, processes and callers, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from random import Random

from tests.simulation.clock import Clock
from tests.simulation.costs import MEASURED, UNARY, Costs, Form
from tests.simulation.counts import Counts, Result
from tests.simulation.loop import Loop
from tests.simulation.machine import Cores, Disk
from tests.simulation.writer import Call, Writer

ATTEMPTS = 6
"""How often a refused call is sent before its caller gives up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One machine, evenly used: either `rate` commands a second arrive, or `crowd` callers wait.

    Arrivals are Poisson, `burst` calls for one ledger at once; a caller of the crowd sends the
    next call when the last is answered.
    """

    rate: float = 0.0
    crowd: int = 0
    burst: int = 1
    form: Form = UNARY
    ledgers: int = 1
    processes: int = 1
    cores: int = 1
    seconds: float = 10.0
    warm_up: float = 0.1
    """The share of the time that is not counted."""
    seed: int = 7
    costs: Costs = MEASURED


class Simulation:
    """A plan while it runs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.clock = Clock()
        self.counts = Counts(self.clock)
        self._random = Random(plan.seed)
        self._take_us = plan.form.cost_us(plan.costs) * plan.costs.taking
        self._answer_us = plan.form.cost_us(plan.costs) - self._take_us
        cores = Cores(plan.cores)
        self.disk = Disk(self.clock, plan.costs.sync_us, plan.costs.syncs_per_s)
        self.loops = [Loop(self.clock, cores) for _ in range(plan.processes)]
        self.writers = [
            Writer(self.clock, self._loop(ledger), self.disk, plan.costs)
            for ledger in range(plan.ledgers)
        ]
        for number in range(plan.crowd):
            self._arrive(number % plan.ledgers)
        if plan.rate:
            self._per_us = plan.rate / (plan.burst * plan.form.commands) / 1e6
            self.clock.after(self._random.expovariate(self._per_us), self._burst)

    def _loop(self, ledger: int) -> Loop:
        return self.loops[ledger % self.plan.processes]

    def _burst(self) -> None:
        ledger = self._random.randrange(self.plan.ledgers)
        for _ in range(self.plan.burst):
            self._arrive(ledger)
        self.clock.after(self._random.expovariate(self._per_us), self._burst)

    def _arrive(self, ledger: int, attempt: int = 1, first_us: float | None = None) -> None:
        """A call arrives: it is taken, waits for its turn, and is answered."""
        now, loop = self.clock.now, self._loop(ledger)
        call = Call(self.plan.form.commands, now if first_us is None else first_us, lambda: None)
        leave = partial(self._leave, ledger, attempt, call)
        call.end = lambda: loop.soon((lambda: self._answer_us, leave))
        self.counts.step(1)
        self.counts.arrived += call.commands
        loop.call((lambda: self._take_us, partial(self.writers[ledger].submit, call)))

    def _leave(self, ledger: int, attempt: int, call: Call) -> None:
        counts = self.counts
        counts.step(-1)
        if call.refused:
            counts.refused += call.commands
            if attempt < ATTEMPTS:
                delay = self.plan.costs.retry_us * 2 ** (attempt - 1) * (0.5 + self._random.random())
                again = partial(self._arrive, ledger, attempt + 1, call.born_us)
                self.clock.after(delay, again)
            else:
                counts.given_up += call.commands
        else:
            counts.answered += call.commands
            counts.latencies_us.append(self.clock.now - call.born_us)
        if self.plan.crowd:
            self.clock.after(self.plan.costs.wire_us, partial(self._arrive, ledger))

    def _totals(self) -> tuple[float, ...]:
        return (
            self.counts.arrived,
            self.counts.answered,
            sum(loop.busy_us for loop in self.loops) / len(self.loops),
            sum(writer.recorded for writer in self.writers),
            sum(writer.turns for writer in self.writers),
            self.disk.syncs,
            self.counts.refused,
            self.counts.given_up,
            len(self.counts.latencies_us),
        )

    def run(self) -> Result:
        """Let it run for its time and return what became of it after the warm-up."""
        end_us = self.plan.seconds * 1e6
        begin_us = self.plan.warm_up * end_us
        self.clock.run(begin_us)
        before = self._totals()
        self.clock.run(end_us)
        arrived, answered, busy, recorded, turns, syncs, refused, given_up, _ = (
            after - was for after, was in zip(self._totals(), before, strict=True)
        )
        seconds = (end_us - begin_us) / 1e6
        latencies = sorted(self.counts.latencies_us[int(before[-1]) :])
        wire_us = self.plan.costs.wire_us
        return Result(
            offered=arrived / seconds,
            throughput=answered / seconds,
            busy=busy / seconds / 1e6,
            batch=recorded / turns if turns else 0.0,
            syncs=syncs / seconds,
            refused=refused / seconds,
            given_up=given_up / seconds,
            waiting=self.counts.inside * self.plan.form.commands,
            latencies_ms=tuple((us + wire_us) / 1000 for us in latencies),
        )


def simulate(plan: Plan, **changes: object) -> Result:
    """Run a plan, with some of it changed."""
    return Simulation(replace(plan, **changes)).run()
