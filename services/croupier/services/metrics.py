"""Every Prometheus name of the service, in one place.

Labels come from closed sets; no table, player or round is ever one. `ledger` labels only the few
gauges of audit and money; beyond `LEDGERS_MAX` ledgers the others share one label, which shows the
worst of them. Counters are raised by the process that committed; gauges of a log come from the
process that its ledger is assigned to, and a fence from whoever put it up: read them with `max`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

from google.rpc import code_pb2
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from croupier.domain.errors import Reason
from croupier.domain.games import GAMES
from croupier.domain.money import CURRENCIES
from croupier.services.ledger.snapshots import Drop, Kind
from croupier.services.rpc.permissions import ROLES
from croupier.v1 import events_pb2

LEDGERS_MAX = 100
OTHER = "(other)"
"""The label of ledgers beyond those; no ledger can be called so."""

UNKNOWN = "unknown"

_OWN = "/croupier.v1."
METHODS = frozenset(method.removeprefix(_OWN).lstrip("/") for method in ROLES)
CODES = frozenset(code_pb2.Code.keys())
SNAPSHOTS = frozenset(Kind)
DROPS = frozenset(Drop)

_SECONDS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


Counts = dict[tuple[Any, ...], int]
"""By how much to raise which series: the metric and its labels."""


class Metrics:
    """What operations see. Methods cost a few microseconds and never raise."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"croupier_{name}", _help(text, labels), labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"croupier_{name}", _help(text, labels), labels, registry=registry)

        def histogram(name: str, text: str, buckets: Iterable[float], *labels: str) -> Histogram:
            return Histogram(
                f"croupier_{name}",
                _help(text, labels),
                labels,
                registry=registry,
                buckets=tuple(buckets),
            )

        self._calls = counter("calls_total", "Calls ended", "method", "code")
        self._refusals = counter(
            "refusals_total", "Calls, and commands among several, refused", "reason"
        )
        self._call_seconds = histogram(
            "call_seconds", "Time from taking a call to its end, seconds", _SECONDS, "method"
        )
        self._security = counter(
            "authentication_failures_total", "Calls by strangers or beyond a role", "reason"
        )
        self._commands = counter("commands_total", "Commands recorded")
        self._events = counter("events_total", "Events recorded", "kind", "game")
        self._stakes = counter(
            "stakes_minor_units_total", "Money put into escrow", "game", "currency"
        )
        self._payouts = counter(
            "payouts_minor_units_total",
            "Money that tables paid to players, own money returned included",
            "game",
            "currency",
        )
        self._winnings = counter(
            "winnings_minor_units_total", "Money won from the banker", "game", "currency"
        )
        self._deposits = counter("deposits_minor_units_total", "Money brought in", "currency")
        self._withdrawals = counter("withdrawals_minor_units_total", "Money taken out", "currency")
        self._commit_seconds = histogram(
            "commit_seconds", "Time of a turn that recorded something, seconds", _SECONDS
        )
        self._commit_commands = histogram(
            "commit_batch_commands", "Commands recorded by one commit", _SIZES
        )
        self._commit_events = histogram(
            "commit_batch_events", "Events recorded by one commit", _SIZES
        )
        self._conflicts = counter(
            "commit_conflicts_total", "Commits lost because another process was first"
        )
        self._queue = gauge("queue_commands", "Commands waiting for a turn, of all ledgers")
        self._backlog = gauge(
            "backlog_calls", "Calls that the transport has taken and the service has not begun"
        )
        self._streams = gauge("streams", "Watchers and streams of commands that are open")
        self._ledgers = gauge("ledgers", "Ledgers open in this process")
        self._tables = gauge("live_tables", "Tables in memory")
        self._position = gauge("ledger_head_position", "Last position of a log", "ledger")
        self._recorded = gauge(
            "ledger_head_time_seconds", "When the last event was recorded, Unix time", "ledger"
        )
        self._trial_balance = gauge(
            "ledger_trial_balance_minor_units",
            "Sum of all balances, which must be 0",
            "ledger",
            "currency",
        )
        self._fenced = gauge("ledger_fenced", "Whether a ledger is not served, 1 or 0", "ledger")
        self._unchecked = gauge(
            "ledger_unchecked_events",
            "Events taken from a snapshot at the start and not read again since",
            "ledger",
        )
        self._saved = counter("saved_snapshots_total", "Snapshots saved", "kind")
        self._dropped = counter(
            "dropped_snapshots_total", "Snapshots not used or not saved", "kind", "reason"
        )
        build = gauge("build_info", "The program that runs, always 1", "version", "python")
        build.labels(version("croupier"), python_version()).set(1)
        self._known_ledgers: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._furthest = (0, 0.0)
        self._wrong: dict[tuple[Any, ...], dict[str, int]] = {}
        self._children: dict[tuple[Any, ...], Any] = {}

    # --- calls -----------------------------------------------------------------------------------

    def call_finished(self, method: str, code: str, reason: str, seconds: float) -> None:
        """Count a call that ended; `reason` is empty where it was not refused."""
        known = method if method in METHODS else UNKNOWN
        self._child(self._calls, known, code if code in CODES else UNKNOWN).inc()
        self._child(self._call_seconds, known).observe(seconds)
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
        self._child(self._security, reason if reason in Reason.__members__ else UNKNOWN).inc()

    # --- commits ---------------------------------------------------------------------------------

    def committed(
        self,
        events: Iterable[events_pb2.Event],
        commands: int,
        seconds: float,
        game_of: Callable[[str], str],
    ) -> None:
        """Count what this process recorded with one commit.

        `game_of` gives the code of the game of a table's stream, "" for any other stream.
        """
        count = 0
        # Summed first: a series is raised once for a commit, whatever it holds.
        raised: Counts = defaultdict(int)
        for event in events:
            count += 1
            game = game_of(event.stream)
            if game and game not in GAMES:
                game = UNKNOWN
            # Never raises: what is counted here is committed already.
            raised[self._events, event.WhichOneof("payload") or UNKNOWN, game] += 1
            for posting in event.postings:
                self._posted(raised, posting, game)
            won = event.paid_out.winnings + event.paid_out.top_up
            if won and event.postings:
                currency = _known_currency(event.postings[0].currency)
                raised[self._winnings, game, currency] += won
        for (metric, *labels), by in raised.items():
            self._child(metric, *labels).inc(by)
        self._commands.inc(commands)
        self._commit_seconds.observe(seconds)
        self._commit_commands.observe(commands)
        self._commit_events.observe(count)

    def _posted(self, raised: Counts, posting: events_pb2.Posting, game: str) -> None:
        currency = _known_currency(posting.currency)
        if posting.destination.startswith("escrow:"):
            raised[self._stakes, game, currency] += posting.amount
        elif posting.source.startswith(("escrow:", "bankroll:")):
            if posting.destination.startswith("player:"):
                raised[self._payouts, game, currency] += posting.amount
        elif posting.source == "external":
            raised[self._deposits, currency] += posting.amount
        elif posting.destination == "external":
            raised[self._withdrawals, currency] += posting.amount

    def commit_conflicted(self) -> None:
        """Count a commit that was lost because another process was first."""
        self._conflicts.inc()

    def queue_depth(self, ledger: str, waiting: int) -> None:
        """Report how many commands of a ledger wait for a turn."""
        if waiting:
            self._waiting[ledger] = waiting
        else:
            self._waiting.pop(ledger, None)
        self._queue.set(sum(self._waiting.values()))

    # --- snapshots -------------------------------------------------------------------------------

    def snapshots_saved(self, kind: str, count: int) -> None:
        """Count snapshots that were saved."""
        self._child(self._saved, kind if kind in SNAPSHOTS else UNKNOWN).inc(count)

    def snapshot_dropped(self, kind: str, reason: str) -> None:
        """Count a snapshot that is not used or was not saved."""
        self._child(
            self._dropped,
            kind if kind in SNAPSHOTS else UNKNOWN,
            reason if reason in DROPS else UNKNOWN,
        ).inc()

    # --- gauges ----------------------------------------------------------------------------------

    def head(self, ledger: str, position: int, recorded_s: float) -> None:
        """Report the end of a log; of the ledgers that share a label, the furthest."""
        label = self._ledger(ledger)
        if label == OTHER:
            furthest, latest_s = self._furthest
            position, recorded_s = max(furthest, position), max(latest_s, recorded_s)
            self._furthest = (position, recorded_s)
        self._child(self._position, label).set(position)
        self._child(self._recorded, label).set(recorded_s)
        self._child(self._fenced, label)  # a series from the start: 0 until it is fenced

    def trial_balance(self, ledger: str, currency: str, minor_units: int) -> None:
        """Report the sum of a ledger's balances, which must be 0."""
        self._worst(self._trial_balance, ledger, minor_units, _known_currency(currency))

    def fenced(self, ledger: str, *, fenced: bool) -> None:
        """Report whether a ledger is fenced."""
        self._worst(self._fenced, ledger, int(fenced))

    def unchecked(self, ledger: str, events: int) -> None:
        """Report how many events were taken from a snapshot and not read again since."""
        self._worst(self._unchecked, ledger, events)

    def ledgers_open(self, count: int) -> None:
        """Report how many ledgers are open in this process."""
        self._ledgers.set(count)

    def live_tables(self, count: int) -> None:
        """Report how many tables are in memory."""
        self._tables.set(count)

    def _worst(self, metric: Gauge, ledger: str, value: int, *labels: str) -> None:
        """Set a gauge that should be 0; ledgers that share a label must not hide each other."""
        label = self._ledger(ledger)
        if label == OTHER:
            wrong = self._wrong.setdefault((metric, *labels), {})
            wrong.pop(ledger, None)
            if value:
                wrong[ledger] = value
            value = max(wrong.values(), key=abs, default=0)
        self._child(metric, label, *labels).set(value)

    def _ledger(self, ledger: str) -> str:
        if ledger in self._known_ledgers:
            return ledger
        if len(self._known_ledgers) < LEDGERS_MAX:
            self._known_ledgers.add(ledger)
            return ledger
        return OTHER

    def _child(self, metric: Any, *labels: str) -> Any:
        """Return the series of these labels; the library's own look-up takes a lock each time."""
        key = (metric, *labels)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = metric.labels(*labels)
        return child


def _known_currency(code: str) -> str:
    return code if code in CURRENCIES else UNKNOWN


def _help(text: str, labels: Iterable[str]) -> str:
    """Return a help text that ends in the metric's labels."""
    names = ", ".join(labels)
    return f"{text}, by {names}." if names else f"{text}."


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """The HTTP port that Prometheus scrapes."""

    port: int
    _server: WSGIServer
    _thread: Thread

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(port: int, host: str, registry: CollectorRegistry) -> MetricsServer:
    """Serve a registry over HTTP; port 0 takes a free one.

    Raises:
        OSError: the port is taken, or the host is not one of this machine.

    """
    server, thread = start_http_server(port, host, registry)
    return MetricsServer(server.server_port, server, thread)
