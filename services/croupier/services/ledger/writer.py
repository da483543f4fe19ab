"""The writer: one per ledger, in turns. Every answer, refusals included, rests on a turn.

A turn takes the ledger's lock, folds what other processes committed, decides all that is waiting
and records it with one commit. Batches form by load: while a turn commits, callers queue up for
the next. Turns run on the event loop: a commit takes less than handing it to a thread costs, and
only the wait for a lock that another process holds goes to a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Thread
from time import perf_counter
from typing import Protocol

import structlog
from eventsourcing.persistence import DataError, PersistenceError

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.committed import Committed, is_caused_by
from croupier.services.ledger.requests import Request
from croupier.services.ledger.snapshots import Policy, SnapshotObserver, Snapshots
from croupier.services.ledger.turn import Receipt, Turn
from croupier.services.store.store import Commit, Head, HeadMovedError, RequestEntry, Store
from croupier.v1 import events_pb2

logger = structlog.get_logger()


class Observer(SnapshotObserver, Protocol):
    """Who is told what the writer does."""

    def turn_committed(
        self, ledger: str, events: Sequence[events_pb2.Event], commands: int, seconds: float
    ) -> None:
        """Events were recorded with one commit."""
        ...

    def queue_changed(self, ledger: str, waiting: int) -> None:
        """So many requests wait for a turn."""
        ...

    def ledger_fenced(self, ledger: str, why: str) -> None:
        """The ledger is not served any more."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one writer."""

    queue: int = 10_000
    """Requests waiting; beyond it callers are told to come back."""
    batch: int = 1_000
    """Requests decided in one turn."""
    live_tables: int = 10_000
    """Tables kept in memory."""
    snapshots: Policy = field(default_factory=Policy)
    """After how many events snapshots are taken."""


GATHER_S = 0.002
"""The longest that a turn waits for a crowd to come together, seconds."""

CROWD_TRIAL = 16
"""Every so many turns a crowd is given the chance to be found larger."""

Waiting = tuple[Request, "asyncio.Future[Receipt]"]


class Writer:
    """Decides and records all commands of one ledger, in one order.

    It belongs to one event loop. `committed` is the state that reads may use after `refresh`.
    """

    def __init__(
        self,
        ledger: str,
        store: Store,
        observer: Observer,
        clock: Callable[[], int],
        limits: Limits,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._observer = observer
        self._clock = clock
        self._limits = limits
        self._queue: deque[Waiting] = deque()
        self._running: asyncio.Task[None] | None = None
        self._fresh = False
        self._known = Head()
        self.snapshots = Snapshots(ledger, store, observer, limits.snapshots)
        self.committed = Committed(store, limits.live_tables, self.snapshots)
        self._expected = 1
        self._turns = 0
        self._gathered: asyncio.Event = asyncio.Event()
        self.fenced = ""

    # --- asking ----------------------------------------------------------------------------------

    async def submit(self, request: Request) -> Receipt:
        """Return the receipt of a request once it is recorded.

        Raises:
            Refused: it was refused, on committed state; nothing was recorded. With
                `STORE_UNAVAILABLE` it is unknown whether: ask again with the same request id.

        """
        self._check_fenced()
        if len(self._queue) >= self._limits.queue:
            raise Refused(
                Reason.QUEUE_FULL,
                f"{len(self._queue)} requests wait for this ledger",
                waiting=len(self._queue),
            )
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._queue.append((request, answer))
        self._observer.queue_changed(self._ledger, len(self._queue))
        if len(self._queue) >= self._expected:
            self._gathered.set()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await answer

    def refresh(self) -> None:
        """Bring `committed` up to the committed head, for a read.

        Raises:
            Refused: the ledger is fenced or its store does not answer.

        """
        self._check_fenced()
        try:
            if not self._fresh or self._store.changed():
                self._catch_up()
        except (LogError, DataError) as error:
            self._fence(error)
        except PersistenceError as error:
            raise self._unavailable(error) from error
        self._check_fenced()

    async def drain(self) -> None:
        """Wait until nothing is queued or being decided."""
        while self._running is not None:
            await asyncio.wait([self._running])

    def save_snapshots(self) -> None:
        """Save the snapshots that wait in a commit of their own, unless a turn takes them along.

        Whoever has the lock keeps them waiting: they are not worth a wait.
        """
        if self._running is not None:
            return
        try:
            if self._store.try_lock():
                try:
                    self.refresh()
                    head = self.committed.head
                    self.snapshots.commit([], Commit(head, head))
                finally:
                    self._unlock()
        except (OSError, PersistenceError, Refused) as error:
            logger.warning("snapshots not saved", ledger=self._ledger, error=str(error))

    def fence(self, error: LogError) -> None:
        """Serve this ledger no more: what was found behind its back is not what it says."""
        if not self.fenced:
            self._fence(error)

    # --- turns -----------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while self._queue:
                await self._gather()
                await self._turn()
                # One turn of this ledger, then whatever else the loop has to do.
                await asyncio.sleep(0)
        finally:
            self._running = None

    async def _gather(self) -> None:
        """Wait a moment for as many as the last turn answered: under load they come again.

        Who is alone, or a crowd that is complete, waits for nothing.
        """
        if len(self._queue) < self._expected:
            self._gathered.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GATHER_S):
                    await self._gathered.wait()

    def _crowd(self, size: int) -> int:
        """Return how many to wait for after a turn of `size`: now and then a larger crowd."""
        self._turns += 1
        return 2 * size if size > 1 and self._turns % CROWD_TRIAL == 0 else size

    async def _turn(self) -> None:
        try:
            if not self._store.try_lock():
                await self._wait_for_lock()
        except (OSError, PersistenceError) as error:
            self._refuse_all(self._unavailable(error))
            return
        try:
            batch = self._drain()
            self._expected = self._crowd(len(batch))
            answers = self._record(batch) if batch else []
        finally:
            self._unlock()
        for (_, answer), result in zip(batch, answers, strict=True):
            if answer.done():
                continue
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)

    async def _wait_for_lock(self) -> None:
        """Wait for the lock in a thread that dies with the process, however long that takes."""
        loop = asyncio.get_running_loop()
        locked: asyncio.Future[None] = loop.create_future()

        def answer(error: Exception | None) -> None:
            if locked.cancelled():
                if error is None:
                    self._store.unlock()
            elif error is None:
                locked.set_result(None)
            else:
                locked.set_exception(error)

        def wait() -> None:
            error: Exception | None = None
            try:
                self._store.lock()
            except Exception as failed:  # noqa: BLE001  # whatever it is, who waits is told
                error = failed
            with contextlib.suppress(RuntimeError):  # the loop is closed, the process ends
                loop.call_soon_threadsafe(answer, error)

        Thread(target=wait, daemon=True, name=f"lock of {self._ledger}").start()
        await locked

    def _unlock(self) -> None:
        try:
            self._store.unlock()
        except (OSError, PersistenceError):
            # What was decided is decided; the next turn finds out whether there is a lock.
            logger.exception("lock not given back", ledger=self._ledger)

    def _drain(self) -> list[Waiting]:
        """Return the batch of this turn, without those whose callers have gone."""
        batch: list[Waiting] = []
        while self._queue and len(batch) < self._limits.batch:
            waiting = self._queue.popleft()
            if not waiting[1].done():
                batch.append(waiting)
        self._observer.queue_changed(self._ledger, len(self._queue))
        return batch

    def _record(self, batch: list[Waiting]) -> Sequence[Receipt | Exception]:
        """Decide and record a batch under the lock, and return the answers."""
        requests = [request for request, _ in batch]
        started = perf_counter()
        try:
            turn = self._decide(requests)
            if turn.sealed:
                self._commit(turn)
            self._fresh = True
            answers = [self._answer(answer) for answer in turn.answers]
        except (LogError, DataError) as error:
            self._fence(error)
            return [self._fenced_refusal()] * len(batch)
        except PersistenceError as error:
            return [self._unavailable(error)] * len(batch)
        except Exception as error:
            # Nothing is known of the state in memory: the next turn begins with an empty one.
            logger.exception("turn failed", ledger=self._ledger)
            self._forget()
            return [error] * len(batch)
        if turn.sealed:
            events = [sealed.event for sealed in turn.sealed]
            seconds = perf_counter() - started
            try:
                self._observer.turn_committed(self._ledger, events, len(turn.entries), seconds)
            except Exception:
                # It is recorded: whoever watches may fail, the callers get their receipts.
                logger.exception("observer failed", ledger=self._ledger)
        return answers

    def _decide(self, requests: Sequence[Request]) -> Turn:
        self._catch_up()
        done_before = self._store.find_requests({request.key for request in requests})
        turn = Turn(self.committed, done_before, self._clock())
        turn.decide_all(requests)
        return turn

    def _catch_up(self) -> None:
        self.committed.catch_up(self._store.head())
        self._fresh = True

    def _commit(self, turn: Turn) -> None:
        """Record a turn, and find out what became of it where the engine does not say.

        Raises:
            PersistenceError: it was not recorded, or nobody can tell; the state in memory is gone.

        """
        commit = turn.commit
        try:
            self.snapshots.commit([sealed.record for sealed in turn.sealed], commit)
        except HeadMovedError:
            self._forget()
            raise
        except PersistenceError:
            try:
                recorded = self._store.head() == commit.head
            except PersistenceError:
                self._forget()
                raise
            logger.warning("commit failed", ledger=self._ledger, recorded=recorded)
            if not recorded:
                raise
        turn.committed_now()

    def _answer(self, answer: Receipt | RequestEntry | Exception) -> Receipt | Exception:
        return self._original(answer) if isinstance(answer, RequestEntry) else answer

    def _original(self, entry: RequestEntry) -> Receipt:
        """Return the receipt that a request got when it was recorded."""
        records = self._store.records(entry.first - 1, entry.last - entry.first + 1)
        events = tuple(read(record) for record in records)
        # The index of request ids is in no tree, the records are.
        if not events or not all(is_caused_by(event, entry) for event in events):
            msg = f"positions {entry.first} to {entry.last} are not of request {entry.key}"
            raise LogError(msg)
        return Receipt(entry.first, entry.last, events[-1].version, events)

    # --- when something is wrong -----------------------------------------------------------------

    def _forget(self) -> None:
        known = max(self._known, self.committed.head, key=lambda head: head.position)
        self._known = known
        self.snapshots.forget()
        self.committed = Committed(self._store, self._limits.live_tables, self.snapshots, known)
        self._fresh = False

    def _fence(self, error: LogError | DataError) -> None:
        """Serve this ledger no more: what is stored is not what this process has seen."""
        self.fenced = str(error)
        self._forget()
        logger.critical("ledger fenced", ledger=self._ledger, why=self.fenced)
        self._observer.ledger_fenced(self._ledger, self.fenced)
        self._refuse_all(self._fenced_refusal())

    def _fenced_refusal(self) -> Refused:
        message = f"ledger {self._ledger} waits for an operator: {self.fenced}"
        return Refused(Reason.LEDGER_FENCED, message, ledger=self._ledger, why=self.fenced)

    def _check_fenced(self) -> None:
        if self.fenced:
            raise self._fenced_refusal()

    def _unavailable(self, error: Exception) -> Refused:
        logger.error("store unavailable", ledger=self._ledger, error=str(error))
        return Refused(
            Reason.STORE_UNAVAILABLE,
            "the ledger's store did not answer; ask again with the same request id",
        )

    def _refuse_all(self, refusal: Refused) -> None:
        while self._queue:
            _, answer = self._queue.popleft()
            if not answer.done():
                answer.set_exception(refusal)
