"""Puts the parts together and serves them: the composition root."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Sequence
from errno import EADDRINUSE
from importlib.metadata import version
from typing import Self

import grpc
import structlog
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import CollectorRegistry, ProcessCollector

from croupier.services import metrics, traces
from croupier.services.assignment import Assignment
from croupier.services.banner import Standing, banner
from croupier.services.config import Settings, join_address, split_address
from croupier.services.engine_watch import EngineWatch
from croupier.services.files import writable_folder
from croupier.services.gauges import Gauges
from croupier.services.housekeeping import for_ever
from croupier.services.ledger.feed import Feed
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.observer import TurnEnd
from croupier.services.ledger.seen import Seen
from croupier.services.rpc import callers
from croupier.services.rpc.accounts import AccountService
from croupier.services.rpc.admin import AdminService
from croupier.services.rpc.audit import AuditService
from croupier.services.rpc.backlog import SAMPLE_S, Backlog
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.calllog import CallLog
from croupier.services.rpc.chance import Nonces, draw, load_key, own_key
from croupier.services.rpc.draining import Grace, callers_leave
from croupier.services.rpc.interceptor import Interceptor
from croupier.services.rpc.names import ledger_name
from croupier.services.rpc.odds import OddsService
from croupier.services.rpc.play import PlayService
from croupier.services.rpc.readiness import Readiness
from croupier.services.rpc.streams import Streams
from croupier.services.rpc.tables import TableService
from croupier.services.rpc.transport import credentials_of, options_of
from croupier.services.store.choosing import engines_of
from croupier.services.wakeups import wakeups_of
from croupier.v1 import (
    accounts_pb2,
    admin_pb2,
    audit_pb2,
    events_pb2,
    odds_pb2,
    play_pb2,
    tables_pb2,
)
from croupier.v1.accounts_pb2_grpc import add_AccountServiceServicer_to_server
from croupier.v1.admin_pb2_grpc import add_AdminServiceServicer_to_server
from croupier.v1.audit_pb2_grpc import add_AuditServiceServicer_to_server
from croupier.v1.odds_pb2_grpc import add_OddsServiceServicer_to_server
from croupier.v1.play_pb2_grpc import add_PlayServiceServicer_to_server
from croupier.v1.tables_pb2_grpc import add_TableServiceServicer_to_server

logger = structlog.get_logger()

AUDIT_INTERVAL_S = 5.0
"""How often the ledgers are looked after and their gauges taken, seconds."""

SEEN_INTERVAL_S = 1.0
"""How often it is kept how far the ledgers' logs were seen to reach, seconds."""

IDLE_S = 300.0
"""How long a ledger of another process stays open here after its last use, seconds."""

SERVICES = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in (
        (accounts_pb2, "AccountService"),
        (admin_pb2, "AdminService"),
        (audit_pb2, "AuditService"),
        (odds_pb2, "OddsService"),
        (play_pb2, "PlayService"),
        (tables_pb2, "TableService"),
    )
)


def now_us() -> int:
    """Return this machine's time, microseconds since 1970, UTC."""
    return time.time_ns() // 1000


class PortTakenError(OSError):
    """Another service listens where this one was to, as `setting` says."""

    def __init__(self, message: str, setting: str) -> None:
        super().__init__(message)
        self.setting = setting


class Server:
    """One process of the service. Use it as an asynchronous context."""

    def __init__(self, settings: Settings) -> None:
        """Read what the settings name.

        Raises:
            TokenFileError: the token file is not one.
            OSError: a file or folder cannot be read or made.

        """
        self._settings = settings
        self._callers = callers.load(settings.tokens)
        self._credentials = credentials_of(settings)
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.metrics = metrics.Metrics(self.registry)
        self._health = health.aio.HealthServicer()
        self._log = CallLog(settings.slow_call_s, debug=settings.log_level == "debug")
        self._traces = traces.begin(settings.trace)
        self._readiness = Readiness(self._health, SERVICES)
        own = settings.address()
        self.assignment = Assignment(own, settings.peers or (own,))
        self.engines = engines_of(settings.engine, settings.engines, settings.data)
        self.ledgers = Ledgers(
            self.engines,
            self,
            now_us,
            Limits(queue=settings.queue, batch=settings.batch, live_tables=settings.live_tables),
            self.assignment.is_here,
            writer=self._traces.writer,
            seen=Seen(settings.data / "seen"),
        )
        self.metrics.queue_limit(settings.queue)
        self._engine_watch = EngineWatch(self.engines, self.metrics)
        self._gauges = Gauges(self.ledgers, self.metrics, settings.data, now_us)
        writable_folder(settings.data, "data")
        key = settings.draw_key
        self._nonces = Nonces(load_key(key) if key else own_key(settings.data / "draw.key"))
        self._backlog = Backlog(settings.backlog)
        self._feed = Feed(self.ledgers.changed)
        self._wakeups = wakeups_of(settings, self._feed.recorded)
        self._streams = Streams(settings.streams, self.metrics.streams_open)
        self._tasks: set[asyncio.Task[None]] = set()
        self._serving = False
        self._metrics_server: metrics.MetricsServer | None = None
        self.port = 0
        self.metrics_port = 0

    # --- what the parts report -----------------------------------------------------------

    def turn_committed(
        self, ledger: str, events: Sequence[events_pb2.Event], commands: int, seconds: float
    ) -> None:
        """Count what this process committed."""
        self.metrics.committed(events, commands, seconds, self.ledgers.opened_of(ledger))
        self._log.turn(ledger, events[-1].position, len(events), commands, seconds)
        if self.ledgers.is_assigned(ledger):
            last = events[-1]
            self.metrics.head(ledger, last.position, last.recorded_time.seconds)
        self._feed.recorded(ledger)
        self._wakeups.committed(ledger, events[-1].position)

    def turn_conflicted(self, ledger: str) -> None:
        """Count a turn that another process was faster than."""
        del ledger
        self.metrics.commit_conflicted()

    def turn_ended(self, ledger: str, turn: TurnEnd) -> None:
        """Count a turn of the writer."""
        del ledger
        self.metrics.turn_ended(turn)

    def lock_waited(self, ledger: str, seconds: float) -> None:
        """Count a turn that waited for another process."""
        del ledger
        self.metrics.lock_waited(seconds)

    def queue_changed(self, ledger: str, waiting: int) -> None:
        """Report how many requests wait for a turn."""
        self.metrics.queue_depth(ledger, waiting)

    def ledger_fenced(self, ledger: str, why: str) -> None:
        """Report that a ledger is not served any more."""
        del why  # logged by the writer
        self.metrics.fenced(ledger, fenced=True)
        self._feed.recorded(ledger)
        self._later(
            self._health.set(ledger_name(ledger), health_pb2.HealthCheckResponse.NOT_SERVING)
        )

    def ledger_unfenced(self, ledger: str) -> None:
        """Report that a ledger is served again."""
        self.metrics.fenced(ledger, fenced=False)
        self._later(self._health.set(ledger_name(ledger), health_pb2.HealthCheckResponse.SERVING))

    def snapshots_saved(self, kind: str, count: int) -> None:
        """Count snapshots that were saved."""
        self.metrics.snapshots_saved(kind, count)

    def snapshot_dropped(self, kind: str, reason: str) -> None:
        """Count a snapshot that is not used or was not saved."""
        self.metrics.snapshot_dropped(kind, reason)

    def snapshot_rechecked(self, kind: str, *, same: bool) -> None:
        """Count a snapshot that was compared with the log."""
        self.metrics.snapshot_rechecked(kind, same=same)

    def events_unchecked(self, ledger: str, count: int) -> None:
        """Report how many events of a ledger were taken from a snapshot and not read since."""
        self.metrics.unchecked(ledger, count)

    # --- life ----------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Recover this process's ledgers, then listen; where that fails, let go of everything."""
        interceptor = Interceptor(
            self._callers,
            self.metrics,
            now_us,
            self._settings.message_bytes_max,
            self._backlog,
            deadline_max_s=self._settings.deadline_max_s,
            stopping=self._streams.stopping,
            log=self._log,
        )
        options = options_of(self._settings)
        interceptors = [*self._traces.interceptors, interceptor]
        self._grpc = grpc.aio.server(interceptors=interceptors, options=options)
        self._backlog.follow_newest()
        try:
            await self._start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _start(self) -> None:
        self.ledgers.recover()
        self.port = self._listen()
        if not self._settings.peers and self._settings.advertise is None:
            # Alone, it has all ledgers, and its address is known only now.
            host, _ = split_address(self._settings.listen)
            own = join_address(host, self.port)
            self.assignment = Assignment(own, (own,))
        self._streams.elsewhere = self.assignment.others
        add_AdminServiceServicer_to_server(
            AdminService(
                self.ledgers, self.engines, self.assignment, version("croupier"), now_us()
            ),
            self._grpc,
        )
        add_TableServiceServicer_to_server(TableService(self.ledgers), self._grpc)
        refused, bulk = self.metrics.command_refused, Bulk()
        add_PlayServiceServicer_to_server(
            PlayService(
                self.ledgers,
                draw,
                self._nonces,
                streams=self._streams,
                bulk=bulk,
                command_refused=refused,
            ),
            self._grpc,
        )
        add_AccountServiceServicer_to_server(
            AccountService(self.ledgers, bulk, refused), self._grpc
        )
        add_AuditServiceServicer_to_server(
            AuditService(
                self.ledgers,
                self._feed,
                streams=self._streams,
                bulk=bulk,
                heartbeat_s=self._settings.heartbeat_s,
            ),
            self._grpc,
        )
        add_OddsServiceServicer_to_server(OddsService(self.ledgers), self._grpc)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._grpc)
        channelz.add_channelz_servicer(self._grpc)
        names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._grpc)
        await self._grpc.start()
        await self._readiness.tell(self.ledgers.clock_behind())
        if self._settings.metrics_listen:
            self._metrics_server = self._serve_metrics(self._settings.metrics_listen)
            self.metrics_port = self._metrics_server.port
        self._later(for_ever(self.look_after_ledgers, AUDIT_INTERVAL_S))
        self._later(for_ever(self._keep_seen, SEEN_INTERVAL_S))
        self._later(for_ever(self.ledgers.keep_books))
        self._later(for_ever(self.ledgers.recheck))
        self._later(for_ever(self._feed.run))
        self._later(self._wakeups.run())
        self._later(for_ever(self._look_at_backlog, SAMPLE_S))
        self._later(self._engine_watch.run())
        self._serving = True

    async def __aexit__(self, *exc: object) -> None:
        """Let callers leave, let calls that were taken finish, and let go of everything."""
        grace = Grace(self._settings.grace_s)
        await self._health.enter_graceful_shutdown()
        if self._serving:
            lame_duck_s = min(self._settings.lame_duck_s, grace.left_s)
            await callers_leave(lambda: self._backlog.taken, lame_duck_s)
        self._streams.stop()
        self._feed.everybody()
        await self._grpc.stop(grace.left_s)
        with contextlib.suppress(TimeoutError):
            # What still waits then waits for a lock that another process does not let go.
            async with asyncio.timeout(grace.left_s):
                await self.ledgers.drain()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._metrics_server is not None:
            self._metrics_server.close()
        self.ledgers.close()
        self.engines.close()
        self._traces.close(grace.left_s)

    def standing(self) -> Standing:
        """Return what this process says of itself when it is ready."""
        return Standing(
            port=self.port,
            metrics_port=self.metrics_port,
            engine=self.engines.name,
            durability=self.engines.durability,
            where=self.engines.where,
            others=self.engines.others(),
            not_checked=self.engines.not_checked(),
            warnings=self.engines.warnings(),
            ledgers=len(list(self.ledgers)),
            not_served=self.ledgers.not_served(),
        )

    def banner(self) -> list[str]:
        """Return what a person who starts the service wants to know."""
        return banner(self._settings, [self.standing()])

    def _listen(self) -> int:
        address = self._settings.listen
        try:
            if self._credentials is None:
                return self._grpc.add_insecure_port(address)
            return self._grpc.add_secure_port(address, self._credentials)
        except RuntimeError as error:
            msg = f"cannot listen on {address}: is another service there?"
            raise PortTakenError(msg, "listen") from error

    def _serve_metrics(self, address: str) -> metrics.MetricsServer:
        host, port = split_address(address)
        try:
            return metrics.serve(port, host, self.registry)
        except OSError as error:
            msg = f"cannot serve metrics on {address}: {error}"
            if error.errno == EADDRINUSE:
                raise PortTakenError(msg, "metrics_listen") from error
            raise OSError(msg) from error

    def _later(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_at_backlog(self) -> None:
        self._backlog.sample()
        self.metrics.calls_waiting(self._backlog.waiting)

    async def _keep_seen(self) -> None:
        for ledger in self.ledgers:
            self.ledgers.keep_seen(ledger)
            await asyncio.sleep(0)

    async def look_after_ledgers(self) -> None:
        """Open, close and report ledgers; other processes may have created some and committed.

        Whoever calls meanwhile waits for one ledger at most.
        """
        for ledger_id in self.ledgers.not_recovered():
            self.ledgers.recover_one(ledger_id)
            await asyncio.sleep(0)
        for ledger_id in self.ledgers.release_idle(IDLE_S):
            logger.info("ledger of another process closed", ledger=ledger_id)
        for ledger in self.ledgers:
            if ledger.fenced:
                self.ledgers.look_again(ledger)
            self._gauges.take_of(ledger)
            await asyncio.sleep(0)
        self._gauges.take_sums()
        await self._readiness.tell(self.ledgers.clock_behind())

    def take_gauges(self) -> None:
        """Take the gauges of this process and of the ledgers that it reports."""
        self._gauges.take()
