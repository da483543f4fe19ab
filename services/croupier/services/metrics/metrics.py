"""What operations see: every Prometheus name of the service, declared and kept in this package.

Counters are raised by the process that committed, so sum them over processes. Gauges of a log come
from the process that its ledger is assigned to, and a fence from whoever put it up: take their
`max`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from platform import python_version

from prometheus_client import CollectorRegistry

from croupier.domain.errors import Reason
from croupier.services.ledger.observer import Outcome, TurnEnd
from croupier.services.metrics.commits import Commits, OpenedOf
from croupier.services.metrics.declaring import SECONDS, Catalogue
from croupier.services.metrics.exemplars import exemplar
from croupier.services.metrics.labels import CODES, DENIED, METHODS, UNKNOWN, Currencies
from croupier.services.metrics.ledgers import LedgerGauges
from croupier.v1 import events_pb2


class Metrics:
    """The metrics of one process. Methods cost a few microseconds and never raise."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._catalogue = catalogue = Catalogue(registry)
        currencies = Currencies()
        self._child = catalogue.child
        counter, gauge, histogram = catalogue.counter, catalogue.gauge, catalogue.histogram
        catalogue.section("Calls")
        self._calls = counter("calls_total", "Calls ended", "method", "code")
        self._call_seconds = histogram(
            "call_seconds", "Time from taking a call to its end, seconds", SECONDS, "method"
        )
        self._refusals = counter(
            "refusals_total", "Calls, and commands among several, refused", "reason"
        )
        self._security = counter(
            "authentication_failures_total", "Calls by strangers or beyond a role", "reason"
        )
        self._backlog = gauge(
            "backlog_calls", "Calls that the transport has taken and the service has not begun"
        )
        self._streams = gauge("streams", "Watchers and streams of commands that are open")
        self._commits = Commits(catalogue, currencies)
        self._store_seconds = histogram(
            "store_commit_seconds", "Time that the engine took to commit, seconds", SECONDS
        )
        self._conflicts = counter(
            "commit_conflicts_total", "Commits lost because another process was first"
        )
        catalogue.section("Turns of the writers")
        self._turns = counter("turns_total", "Turns taken", "outcome")
        self._turn_seconds = counter(
            "turn_seconds_total", "Time in turns, of all ledgers; the process does nothing else"
        )
        self._requests = counter(
            "turn_requests_total", "Requests that turns answered, whatever they were told"
        )
        self._lock_seconds = histogram(
            "lock_wait_seconds", "Time that turns waited for another process, seconds", SECONDS
        )
        self._queue = gauge("queue_commands", "Commands waiting for a turn, of all ledgers")
        self._queue_limit = gauge(
            "queue_limit_commands", "Commands of one ledger that may wait; further ones are refused"
        )
        catalogue.begin(self._calls, METHODS, ["INTERNAL"])
        catalogue.begin(self._refusals, Reason.__members__)
        catalogue.begin(self._security, DENIED)
        catalogue.begin(self._turns, Outcome)
        self._ledgers = LedgerGauges(catalogue, currencies)
        self.head = self._ledgers.head
        self.trial_balance = self._ledgers.trial_balance
        self.fenced = self._ledgers.fenced
        self.unchecked = self._ledgers.unchecked
        self.open_rounds = self._ledgers.open_rounds
        self.snapshots_saved = self._ledgers.snapshots_saved
        self.snapshot_dropped = self._ledgers.snapshot_dropped
        self.snapshot_rechecked = self._ledgers.snapshot_rechecked
        catalogue.section("The process")
        self._open = gauge("ledgers", "Ledgers open in this process")
        self._tables = gauge("live_tables", "Tables in memory")
        self._free = gauge("data_free_bytes", "Room left on the volume of the ledgers' files")
        self._size = gauge("data_size_bytes", "Size of the volume of the ledgers' files")
        build = gauge("build_info", "The program that runs, always 1", "version", "python")
        build.labels(version("croupier"), python_version()).set(1)
        self._engine = gauge(
            "engine_info",
            "Where ledgers are kept and what an acknowledgement means, always 1",
            "engine",
            "durability",
        )
        self._not_as_required = gauge(
            "engine_not_as_required",
            "Whether a server has settings with which acknowledged commits may be lost, 1 or 0",
            "engine",
        )
        self._engines: set[tuple[str, str]] = set()
        self._waiting: dict[str, int] = {}
        self._waiting_in_all = 0
        self.declared = tuple(catalogue.declared)

    # --- calls -----------------------------------------------------------------------------------

    def call_finished(self, method: str, code: str, reason: str, seconds: float) -> None:
        """Count a call that ended; `reason` is empty where it was not refused."""
        known = method if method in METHODS else UNKNOWN
        self._child(self._calls, known, code if code in CODES else UNKNOWN).inc()
        self._child(self._call_seconds, known).observe(seconds, exemplar())
        if reason in Reason.__members__:
            self._child(self._refusals, reason).inc()

    def command_refused(self, reason: str) -> None:
        """Count a command among several that was refused, while the call was not."""
        if reason in Reason.__members__:
            self._child(self._refusals, reason).inc()

    def calls_waiting(self, count: int) -> None:
        """Report how many calls wait to be begun."""
        self._backlog.set(count)

    def streams_open(self, count: int) -> None:
        """Report how many long-lived streams are open."""
        self._streams.set(count)

    def authentication_failed(self, reason: str) -> None:
        """Count a call by a stranger, or by a caller who may not do what he asked for."""
        self._child(self._security, reason if reason in DENIED else UNKNOWN).inc()

    # --- turns and commits -----------------------------------------------------------------------

    def committed(
        self,
        events: Iterable[events_pb2.Event],
        commands: int,
        seconds: float,
        opened_of: OpenedOf,
    ) -> None:
        """Count what this process recorded with one commit.

        `opened_of` gives how the table of a stream was opened, None for any other stream.
        """
        self._commits.committed(events, commands, seconds, opened_of)

    def commit_conflicted(self) -> None:
        """Count a commit that was lost because another process was first."""
        self._conflicts.inc()

    def turn_ended(self, turn: TurnEnd) -> None:
        """Count a turn, whatever became of it."""
        self._child(self._turns, turn.outcome).inc()
        self._turn_seconds.inc(turn.seconds)
        self._requests.inc(turn.requests)
        if turn.outcome is Outcome.RECORDED:
            self._store_seconds.observe(turn.commit_s, exemplar())

    def lock_waited(self, seconds: float) -> None:
        """Count a turn that waited for another process to let go of the lock."""
        self._lock_seconds.observe(seconds)

    def queue_depth(self, ledger: str, waiting: int) -> None:
        """Report how many commands of a ledger wait for a turn."""
        self._waiting_in_all += waiting - self._waiting.pop(ledger, 0)
        if waiting:
            self._waiting[ledger] = waiting
        self._queue.set(self._waiting_in_all)

    # --- the process -----------------------------------------------------------------------------

    def engines(self, found: Sequence[tuple[str, str, bool]]) -> None:
        """Report of all engines the name, the durability, and whether each is as required."""
        now = {(name, durability) for name, durability, _ in found}
        for labels in now - self._engines:
            self._engine.labels(*labels).set(1)
        for labels in self._engines - now:
            self._engine.remove(*labels)
        self._engines = now
        for name in {name for name, _ in now}:
            wrong = any(one == name and not as_required for one, _, as_required in found)
            self._child(self._not_as_required, name).set(int(wrong))

    def queue_limit(self, commands: int) -> None:
        """Report how many commands of a ledger may wait."""
        self._queue_limit.set(commands)

    def ledgers_open(self, count: int) -> None:
        """Report how many ledgers are open in this process."""
        self._open.set(count)

    def live_tables(self, count: int) -> None:
        """Report how many tables are in memory."""
        self._tables.set(count)

    def volume(self, free: int, size: int) -> None:
        """Report the volume of the ledgers' files, bytes."""
        self._free.set(free)
        self._size.set(size)

    def quote(self) -> None:
        """Report the theory of one table that is new in kind; it takes tens of milliseconds."""
        self._commits.bets.quote()
