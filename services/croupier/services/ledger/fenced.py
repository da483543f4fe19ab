"""Fences: what is behind one, and how a ledger is served again."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import structlog
from eventsourcing.persistence import DataError, PersistenceError

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.fence import Fence, is_excused, not_fenced, refusal
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.observer import Observer
from croupier.services.ledger.requests import Request, UnfenceLedger
from croupier.services.ledger.seen import Seen
from croupier.services.ledger.turn import Receipt
from croupier.services.store.store import Engine, Head, Store

logger = structlog.get_logger()

_NOTHING = Head()


class Fenced(ABC):
    """The part of `Ledgers` that is about those which are not served."""

    engine: Engine
    _clock: Callable[[], int]
    _observer: Observer
    _open: dict[str, Ledger]
    _seen: Seen
    """Where the logs of ledgers ended: they may not go back unnoticed."""
    _replaced: list[Ledger]
    """Ledgers that were fenced and are served again by others, not closed yet."""
    _unfencing: set[asyncio.Task[Receipt]]

    @abstractmethod
    def get(self, ledger_id: str) -> Ledger:
        """Return a ledger that exists, or refuse."""

    @abstractmethod
    def _store(self, ledger_id: str) -> Store: ...

    @abstractmethod
    def _made(self, ledger_id: str, store: Store, known: Head) -> Ledger: ...

    def fence(self, ledger_id: str) -> Fence:
        """Return what is behind the fence of a ledger, or refuse one that is served."""
        ledger = self._fenced(ledger_id)
        if not ledger.fenced:
            raise not_fenced(ledger_id)
        try:
            if not self.engine.exists(ledger_id):
                return ledger.fence(None)  # to open it would make it
            with closing(self._store(ledger_id)) as store:
                return ledger.fence(store)
        except DataError as error:
            raise refusal(ledger_id, str(error)) from error
        except PersistenceError as error:
            raise Refused(Reason.STORE_UNAVAILABLE, f"the ledger's store: {error}") from error

    def _fenced(self, ledger_id: str) -> Ledger:
        """Return a ledger whether it is fenced or not, or refuse one that does not exist."""
        try:
            return self.get(ledger_id)
        except Refused as refused:
            if refused.reason is Reason.LEDGER_FENCED and ledger_id in self._open:
                return self._open[ledger_id]
            raise

    async def unfence(self, ledger_id: str, request: Request) -> Receipt:
        """Serve a fenced ledger again, with what its log has lost on the record, or refuse.

        It has to end where `request` says, and to be a whole log; else it stays fenced.
        """
        # Once begun it is ended, also when the caller goes away.
        task = asyncio.get_running_loop().create_task(self._unfence(ledger_id, request))
        self._unfencing.add(task)
        task.add_done_callback(self._unfencing.discard)
        return await asyncio.shield(task)

    async def _unfence(self, ledger_id: str, request: Request) -> Receipt:
        fenced = self._fenced(ledger_id)
        if not fenced.fenced:
            # It was done before, or is refused.
            return await fenced.submit(replace(request, expected_position=None))
        fence = self.fence(ledger_id)
        if fence.last and fence.known.recorded_us >= self._clock():
            # What is recorded from now on has to be later than all that was lost.
            raise Refused(Reason.CLOCK_BEHIND, "this machine's clock is behind what was lost")
        assert isinstance(request.command, UnfenceLedger)
        command = replace(
            request.command,
            why=fence.why,
            lost_first=fence.first,
            lost_last=fence.last,
            lost_root=fence.known.frontier.root if fence.last else b"",
            lost_recorded_us=fence.known.recorded_us if fence.last else 0,
        )
        fresh = self._made(ledger_id, self._store(ledger_id), _NOTHING)
        try:
            receipt = await fresh.submit(replace(request, command=command))
        except BaseException:
            fresh.close()
            raise
        self._serve_again(fenced, fresh)
        return receipt

    def _serve_again(self, fenced: Ledger, fresh: Ledger) -> None:
        """Serve a ledger by another object in place of the one that is fenced."""
        if self._open.get(fenced.id) is not fenced:
            fresh.close()  # somebody was first
            return
        self._open[fenced.id] = fresh
        self._replaced.append(fenced)
        self._seen.accept(fenced.id, fresh.seen)
        logger.warning("ledger unfenced", ledger=fenced.id, position=fresh.seen.position)
        self._observer.ledger_unfenced(fenced.id)

    def look_again(self, fenced: Ledger) -> None:
        """Serve a fenced ledger again if through another process an operator has said so."""
        try:
            if not self.engine.exists(fenced.id):
                return
            store = self._store(fenced.id)
        except (PersistenceError, Refused):
            return
        try:
            excused = is_excused(store, fenced.seen)
        except PersistenceError:
            excused = False
        if not excused:
            store.close()
            return
        fresh = self._made(fenced.id, store, _NOTHING)
        try:
            fresh.head()
        except Refused:
            fresh.close()
        else:
            self._serve_again(fenced, fresh)

    def keep_seen(self, ledger: Ledger) -> None:
        """Keep how far a ledger's log was seen to reach, for processes that start later."""
        self._seen.note(ledger.id, ledger.seen)
