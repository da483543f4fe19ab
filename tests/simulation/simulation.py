"""A plan of ledgers, processes and callers, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from random import Random

from croupier.services.client.calls import Patience
from tests.simulation.backlog import Backlog
from tests.simulation.clock import Clock, Do
from tests.simulation.costs import ROUNDS, UNARY, Costs, Form
from tests.simulation.counts import Counts, Result
from tests.simulation.loop import Loop
from tests.simulation.machine import Cores, Disk
from tests.simulation.rounds import Rounds
from tests.simulation.writer import Call, Writer

PATIENCE = Patience()


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
    costs: Costs = ROUNDS


class Simulation:
    """A plan while it runs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.clock = Clock()
        self.counts = Counts(self.clock)
        self._random, self._patience = Random(plan.seed), Random(plan.seed)
        self._end_us = plan.seconds * 1e6
        self._take_us = plan.form.cost_us(plan.costs) * plan.costs.taking
        self._answer_us = plan.form.cost_us(plan.costs) - self._take_us
        cores = Cores(plan.cores)
        self.disk = Disk(self.clock, plan.costs.sync_us, plan.costs.syncs_per_s)
        self.loops = [Loop(self.clock, cores) for _ in range(plan.processes)]
        gather = plan.costs.gather
        rounds = [Rounds(self.clock, loop, gather=gather) for loop in self.loops]
        self._backlogs = [Backlog(self.clock, loop, plan.costs.backlog) for loop in self.loops]
        self.writers = [
            Writer(
                self.clock,
                self.loops[ledger % plan.processes],
                self.disk,
                plan.costs,
                rounds[ledger % plan.processes],
            )
            for ledger in range(plan.ledgers)
        ]
        for number in range(plan.crowd):
            self._arrive(number % plan.ledgers)
        if plan.rate:
            self._per_us = plan.rate / (plan.burst * plan.form.commands) / 1e6
            self.clock.after(self._random.expovariate(self._per_us), self._burst)

    def _burst(self) -> None:
        ledger = self._random.randrange(self.plan.ledgers)
        if self.clock.now > self._end_us:
            return
        for _ in range(self.plan.burst):
            self._arrive(ledger)
        self.clock.after(self._random.expovariate(self._per_us), self._burst)

    def _arrive(self, ledger: int, attempt: int = 1, first_us: float | None = None) -> None:
        """A call arrives: it is taken, waits for its turn, and is answered."""
        process = ledger % self.plan.processes
        now, loop = self.clock.now, self.loops[process]
        call = Call(self.plan.form.commands, now if first_us is None else first_us, lambda: None)
        leave = partial(self._leave, ledger, attempt, call)
        call.end = lambda: loop.soon((lambda: self._answer_us, leave))
        self.counts.step(1)
        self.counts.arrived += call.commands
        loop.call((partial(self._take, process, call), partial(self._taken, ledger, call, leave)))

    def _take(self, process: int, call: Call) -> float:
        """Begin a call: a message of a stream is none, and is never refused for the backlog."""
        if not self.plan.form.streamed:
            call.retry_us = self._backlogs[process].begun()
            if call.retry_us:
                call.refused = True
                return self.plan.costs.refusal_us
        return self._take_us

    def _taken(self, ledger: int, call: Call, leave: Do) -> None:
        if call.refused:
            leave()
        else:
            self.writers[ledger].submit(call)

    def _leave(self, ledger: int, attempt: int, call: Call) -> None:
        self._backlogs[ledger % self.plan.processes].ended()
        self.counts.step(-1)
        if call.refused:
            self.counts.refused += call.commands
            # As the client pauses, but its patience has no end.
            most_s = min(PATIENCE.pause_s * 2 ** min(attempt - 1, 9), PATIENCE.pause_max_s)
            pause_us = max(call.retry_us, 1e6 * self._patience.uniform(0, most_s))
            self.clock.after(pause_us, partial(self._arrive, ledger, attempt + 1, call.born_us))
            return
        self.counts.answered += call.commands
        self.counts.latencies_us.append(self.clock.now - call.born_us)
        if self.plan.crowd:
            self.clock.after(self.plan.costs.wire_us, partial(self._arrive, ledger))

    def _totals(self) -> tuple[float, ...]:
        return (
            self.counts.answered,
            self.counts.refused,
            sum(loop.busy_us for loop in self.loops) / len(self.loops) / 1e6,
            self.disk.syncs,
            sum(writer.recorded for writer in self.writers),
            sum(writer.turns for writer in self.writers),
            len(self.counts.latencies_us),
        )

    def run(self) -> Result:
        """Let it run for its time and return what became of it after the warm-up."""
        end_us = self._end_us
        begin_us = self.plan.warm_up * end_us
        self.clock.run(begin_us)
        before = self._totals()
        self.clock.run(end_us)
        grown = (after - was for after, was in zip(self._totals(), before, strict=True))
        seconds = (end_us - begin_us) / 1e6
        answered, refused, busy, syncs = (next(grown) / seconds for _ in range(4))
        latencies_us = sorted(self.counts.latencies_us[int(before[-1]) :])
        return Result(
            throughput=answered,
            refused=refused,
            busy=busy,
            syncs=syncs,
            batch=next(grown) / max(1, next(grown)),
            waiting=self.counts.inside * self.plan.form.commands,
            latencies_ms=tuple((us + self.plan.costs.wire_us) / 1000 for us in latencies_us),
        )


def simulate(plan: Plan, **changes: object) -> Result:
    """Run a plan, with some of it changed."""
    return Simulation(replace(plan, **changes)).run()
