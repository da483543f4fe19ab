"""The writer: one per ledger, in turns. Every answer, refusals included, rests on a turn.

A turn takes the ledger's lock, folds what other processes committed, decides what is waiting and
records it with one commit; when there are turns, `rounds` decides. They run on the event loop: a
commit takes less than handing it to a thread costs, and only the wait for a lock that another
process holds goes to a thread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter

import structlog
from eventsourcing.persistence import DataError, PersistenceError

from croupier.domain.errors import Refused
from croupier.services.ledger.admission import Admission, Job
from croupier.services.ledger.answering import Answering, Unavailable, for_all
from croupier.services.ledger.blocking import in_thread
from croupier.services.ledger.book import LogError, LostError, NewerLogError
from croupier.services.ledger.committed import Committed
from croupier.services.ledger.decider import Decided, Decider
from croupier.services.ledger.fence import RECENT, refusal
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.observer import Observer, Outcome, TurnEnd
from croupier.services.ledger.pace import Pace
from croupier.services.ledger.requests import Request
from croupier.services.ledger.rounds import Rounds
from croupier.services.ledger.snapshots import Snapshots
from croupier.services.ledger.turn import Answer, Found, Receipt, Turn, original
from croupier.services.store.store import (
    AssumptionError,
    Commit,
    Head,
    HeadMovedError,
    RequestEntry,
    Store,
)

logger = structlog.get_logger()


_NOTHING = Head()


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
        *,
        rounds: Rounds,
        known: Head = _NOTHING,
        keep: Callable[[Head], None] = lambda _: None,
    ) -> None:
        """Begin with nothing in memory; the log must pass through `known`, seen before.

        Once that is not so, `keep` is told how far it was seen to reach.
        """
        self._ledger = ledger
        self._store = store
        self._observer = observer
        self._decider = Decider(store, clock)
        self._limits = limits
        self._admission = Admission(limits.queue)
        self._rounds = rounds
        self._waiting: asyncio.Task[None] | None = None
        self._pace = Pace(limits.batch)
        self._answering = Answering(ledger, store, self._go_on)
        self._unavailable = Unavailable(ledger)
        self._idle = asyncio.Event()
        self._idle.set()
        self._fresh = False
        self._known = known
        self._keep = keep
        self.snapshots = Snapshots(ledger, store, observer, limits.snapshots)
        self.committed = Committed(store, limits.live_tables, self.snapshots, known)
        self.fenced = ""
        self.newer = False  # whether that is because a newer program wrote in its log
        self.lost: LostError | None = None
        self.recent: deque[RequestEntry] = deque(maxlen=RECENT)

    # --- asking ----------------------------------------------------------------------------------

    def enqueue(self, requests: Sequence[Request], *, atomic: bool) -> asyncio.Future[list[Answer]]:
        """Let requests of one caller wait for a turn, and return what their answers will be.

        They are decided in order: each for itself, or with `atomic` all or none. A refusal rests on
        committed state and leaves nothing behind; `STORE_UNAVAILABLE` leaves it unknown whether the
        request was recorded: ask again with the same request id.

        Raises:
            Refused: they may not wait: the ledger is fenced, or too many do already.

        """
        self._check_fenced()
        answer: asyncio.Future[list[Answer]] = asyncio.get_running_loop().create_future()
        self._admission.put(Job(tuple(requests), atomic, answer))
        self._observer.queue_changed(self._ledger, self._admission.waiting)
        self._idle.clear()
        if self._waiting is None:
            self._rounds.wants(self, 1)
        return answer

    async def submit(self, request: Request) -> Receipt:
        """Return the receipt of a request once it is recorded, or raise why it is not."""
        (answer,) = await self.enqueue((request,), atomic=False)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def changed(self) -> bool:
        """Return whether another process may have committed since `committed` was brought up."""
        try:
            return bool(self.fenced) or self._store.changed()
        except PersistenceError:
            return True  # who looks again is told why

    def refresh(self) -> None:
        """Bring `committed` up to the committed head, for a read.

        Raises:
            Refused: the ledger is fenced or its store does not answer.

        """
        self._check_fenced()
        try:
            if not self._fresh or self._store.changed():
                self._fresh = False  # nor is it while it is half caught up
                self.committed.catch_up(self._store.head())
                self._fresh = True
        except (LogError, DataError) as error:
            self._fence(error)
        except PersistenceError as error:
            raise self._unavailable(error) from error
        self._check_fenced()

    @property
    def is_current(self) -> bool:
        """Return whether `committed` is what the last turn, or the last `refresh`, found."""
        return self._fresh and not self.fenced

    @property
    def busy(self) -> bool:
        """Return whether anything is queued or being decided."""
        return not self._idle.is_set()

    @property
    def seen(self) -> Head:
        """Return the furthest head that was ever seen."""
        return max(self._known, self.committed.head, key=lambda head: head.position)

    async def drain(self) -> None:
        """Wait until nothing is queued or being decided."""
        await self._idle.wait()

    def save_snapshots(self) -> None:
        """Save the snapshots that wait in a commit of their own, unless a turn takes them along.

        Whoever has the lock keeps them waiting: they are not worth a wait.
        """
        if self.busy:
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

    def turn(self) -> int:
        """Decide and record what waits; return how many jobs were answered.

        Where another process has the lock the turn comes when it lets go, and keeps nobody else
        waiting until then.
        """
        try:
            if self._store.try_lock():
                return self._locked_turn()
        except (OSError, PersistenceError) as error:
            self._admission.refuse_all(self._unavailable(error))
            self._go_on()
            return 0
        self._waiting = asyncio.create_task(self._turn_later())
        return 0

    async def _turn_later(self) -> None:
        try:
            started = perf_counter()
            await self._wait_for_lock()
            waited_s = perf_counter() - started
            self._locked_turn()
            self._observer.lock_waited(self._ledger, waited_s)
        except (OSError, PersistenceError) as error:
            self._admission.refuse_all(self._unavailable(error))
        finally:
            if self._waiting is asyncio.current_task():
                self._waiting = None
            self._go_on()

    def _locked_turn(self) -> int:
        jobs = self._admission.take(self._pace.batch)
        try:
            self._observer.queue_changed(self._ledger, self._admission.waiting)
            answers = self._record(jobs) if jobs else []
        except HeadMovedError as error:
            return self._lost(jobs, error)
        finally:
            self._unlock()
        self._answering.give(jobs, answers, self.committed.head)
        self._go_on()
        return len(jobs)

    def _lost(self, jobs: Sequence[Job], error: HeadMovedError) -> int:
        """Decide jobs again, since somebody else was first: fewer at once, and a bit later."""
        pause_s = self._pace.lost()
        if self._pace.is_hopeless:
            self._answering.give(jobs, for_all(jobs, self._unavailable(error)), self.committed.head)
            self._go_on()
            return len(jobs)
        self._admission.put_back(jobs)
        self._waiting = asyncio.create_task(self._turn_after(pause_s))
        return 0

    async def _turn_after(self, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        self._waiting = None
        self._go_on()

    def _go_on(self) -> None:
        """Ask for another turn if something is left to do."""
        if not self._admission.jobs:
            if not self._answering.pending:
                self._idle.set()
        elif self._waiting is None:
            self._rounds.wants(self, self._admission.jobs)

    async def _wait_for_lock(self) -> None:
        """Wait for the lock in a thread; one that comes too late is given back."""
        name = f"lock of {self._ledger}"
        await in_thread(self._store.lock, name, lambda _: self._unlock())

    def _unlock(self) -> None:
        try:
            self._store.unlock()
        except (OSError, PersistenceError) as error:
            # What was decided is decided; the next turn finds out whether there is a lock.
            logger.warning("lock not given back", ledger=self._ledger, error=str(error))

    def _record(self, jobs: Sequence[Job]) -> list[list[Answer]]:
        """Decide and record jobs under the lock, and return the answers of each.

        Raises:
            HeadMovedError: nothing was recorded, since somebody else was first.

        """
        started = perf_counter()
        end = TurnEnd(sum(len(job.requests) for job in jobs))
        try:
            answers = self._answers(jobs, end)
        except HeadMovedError:
            end.outcome = Outcome.LOST
            raise
        finally:
            end.seconds = perf_counter() - started
            self._tell(end)
        if end.outcome in (Outcome.RECORDED, Outcome.NOTHING):
            self._pace.won()
            self._admission.answered(end.requests, end.seconds)
        return answers

    def _tell(self, end: TurnEnd) -> None:
        """Tell the observer how a turn ended."""
        try:
            if end.outcome is Outcome.LOST:
                self._observer.turn_conflicted(self._ledger)
            if end.events:
                self._observer.turn_committed(self._ledger, end.events, end.commands, end.seconds)
            self._observer.turn_ended(self._ledger, end)
        except Exception:
            # It is recorded: whoever watches may fail, the callers get their receipts.
            logger.exception("observer failed", ledger=self._ledger)

    def _answers(self, jobs: Sequence[Job], end: TurnEnd) -> list[list[Answer]]:
        self._fresh = False
        try:
            found = self._recorded(jobs, end)
            self._fresh = True
            return [[self._answer(one) for one in job] for job in found]
        except HeadMovedError:
            raise
        except (LogError, DataError) as error:
            end.outcome = Outcome.FENCED
            self._fence(error)
            return for_all(jobs, self._fenced_refusal())
        except PersistenceError as error:
            end.outcome = Outcome.UNAVAILABLE
            return for_all(jobs, self._unavailable(error))
        except Exception as error:
            # Nothing is known of the state in memory: the next turn begins with an empty one.
            logger.exception("turn failed", ledger=self._ledger)
            end.outcome = Outcome.FAILED
            self._forget()
            return for_all(jobs, error)

    def _recorded(self, jobs: Sequence[Job], end: TurnEnd) -> list[list[Found]]:
        turn, found = self._decide(jobs)
        try:
            if turn.sealed:
                self._commit(turn, end)
        except AssumptionError:
            turn, found = self._decide(jobs, look=True)
            if turn.sealed:
                self._commit(turn, end)
        return found

    def _decide(self, jobs: Sequence[Job], *, look: bool = False) -> Decided:
        """Decide jobs; with `look` nothing is assumed."""
        how = self._decider.look if look else self._decider.decide
        return how(jobs, self.committed)

    def _commit(self, turn: Turn, end: TurnEnd) -> None:
        """Record a turn, and find out what became of it where the engine does not say.

        Raises:
            HeadMovedError: it was not recorded, since somebody else was first.
            PersistenceError: it was not recorded, or nobody can tell. The state in memory is that
                before the turn, and goes on from there with whatever the log says.

        """
        commit, started = turn.commit, perf_counter()
        try:
            self.snapshots.commit([sealed.record for sealed in turn.sealed], commit)
        except HeadMovedError:
            raise
        except PersistenceError:
            recorded = self._store.head() == commit.head
            at = commit.head.position
            logger.warning("commit failed", ledger=self._ledger, position=at, recorded=recorded)
            if not recorded:
                raise
        end.outcome, end.commit_s = Outcome.RECORDED, perf_counter() - started
        end.events, end.commands = [one.event for one in turn.sealed], len(turn.entries)
        self.recent.extend(turn.entries)
        turn.committed_now()
        self._answering.committed(commit.head)

    def _answer(self, found: Found) -> Answer:
        return original(self._store, found) if isinstance(found, RequestEntry) else found

    # --- when something is wrong -----------------------------------------------------------------

    def _forget(self) -> None:
        self._known = self.seen
        self.snapshots.forget()
        self.committed = Committed(
            self._store, self._limits.live_tables, self.snapshots, self._known
        )
        self._fresh = False

    def _fence(self, error: LogError | DataError) -> None:
        """Serve this ledger no more: what is stored is not what this process has seen."""
        self.fenced, at = str(error), self.seen.position
        self.newer = isinstance(error, NewerLogError)
        self.lost = error if isinstance(error, LostError) else None
        self._forget()
        self._keep(self.seen)
        logger.critical("ledger fenced", ledger=self._ledger, position=at, why=self.fenced)
        self._observer.ledger_fenced(self._ledger, self.fenced)
        self._admission.refuse_all(self._fenced_refusal())

    def _fenced_refusal(self) -> Refused:
        return refusal(self._ledger, self.fenced)

    def _check_fenced(self) -> None:
        if self.fenced:
            raise self._fenced_refusal()
