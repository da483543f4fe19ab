"""The ledgers of one process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import structlog
from eventsourcing.persistence import DataError, PersistenceError

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.events import TableOpened
from croupier.domain.names import is_id
from croupier.services.ledger.book import LogError
from croupier.services.ledger.fence import is_excused
from croupier.services.ledger.fenced import Fenced
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.limits import Limits
from croupier.services.ledger.observer import Observer
from croupier.services.ledger.requests import Request
from croupier.services.ledger.rounds import Rounds
from croupier.services.ledger.seen import Seen
from croupier.services.ledger.summary import Summary, glance
from croupier.services.ledger.turn import Receipt, check_clock, check_times
from croupier.services.ledger.writer import Writer
from croupier.services.often import Often
from croupier.services.store.store import Engine, Head, NewerLayoutError, Store

logger = structlog.get_logger()

_NOTHING = Head()


def everything(ledger_id: str) -> bool:
    """Assign every ledger to this process."""
    del ledger_id
    return True


class NewerProgramError(Exception):
    """Ledgers were written by a newer program, and this one must not touch them."""

    def __init__(self, newer: dict[str, str]) -> None:
        """Say which, and what this program does not know of each."""
        each = "; ".join(f"ledger {one}: {why}" for one, why in sorted(newer.items()))
        super().__init__(f"{each}: start the program that wrote it, or a newer one")


BACKGROUND_S = 1.0
"""How often it is looked whether there is anything to do in the background."""


class Ledgers(Fenced):
    """All ledgers of an engine. Any process may serve any of them, whomever it is assigned to.

    Those that are `assigned` to this process are opened by `recover` and stay open; any other is
    opened when first needed and closed by `release_idle`.
    """

    def __init__(
        self,
        engine: Engine,
        observer: Observer,
        clock: Callable[[], int],
        limits: Limits,
        assigned: Callable[[str], bool] = everything,
        *,
        writer: Callable[..., Writer] = Writer,
        seen: Seen | None = None,
    ) -> None:
        """Serve the ledgers of an engine, whose logs may not end before what was `seen` of them."""
        self._writer = writer
        self.engine = engine
        self._observer = observer
        self._clock = clock
        self._limits = limits
        self.is_assigned = assigned
        self._rounds = Rounds()
        self._open: dict[str, Ledger] = {}
        self._seen = seen or Seen()
        """Where the logs of ledgers ended: they may not go back unnoticed."""
        self._replaced: list[Ledger] = []
        """Ledgers that were fenced and are served again by others, not closed yet."""
        self._unfencing: set[asyncio.Task[Receipt]] = set()
        self.away: dict[str, str] = {}
        """Ledgers whose store could not be opened, and why."""
        self._often = Often()
        self._newer: dict[str, str] = {}

    def recover(self) -> None:
        """Open every assigned ledger and fold its log, so that the first call finds it ready.

        A ledger that cannot be served is fenced and keeps no other from being served.

        Raises:
            NewerProgramError: a newer program wrote one: this is not the program to serve them.

        """
        for ledger_id in self.not_recovered():
            self.recover_one(ledger_id)
        newer = {ledger.id: ledger.fenced for ledger in self if ledger.newer} | self._newer
        if newer:
            raise NewerProgramError(newer)

    def not_recovered(self) -> list[str]:
        """Return the assigned ledgers that are not open: through other processes new ones come."""
        try:
            ids = self._ids()
        except Refused:  # it is looked again later
            return []
        return [
            one
            for one in ids
            if self.is_assigned(one) and one not in self._open and one not in self.away
        ]

    def recover_one(self, ledger_id: str) -> None:
        """Open a ledger and fold its log; where it cannot be served, that is logged and known."""
        try:
            self._opened(ledger_id).exists()
        except Refused as refused:
            if refused.reason not in (Reason.LEDGER_FENCED, Reason.STORE_UNAVAILABLE):
                raise

    def release_idle(self, unused_s: float) -> list[str]:
        """Close ledgers of other processes, unused for so many seconds, and return their ids."""
        idle = [one for one in self if not self.is_assigned(one.id) and one.is_idle_for(unused_s)]
        for ledger in idle:
            del self._open[ledger.id]
            self._seen.note(ledger.id, ledger.seen)
            ledger.close()
        for ledger in [one for one in self._replaced if not one.held]:
            self._replaced.remove(ledger)
            ledger.close()
        return [ledger.id for ledger in idle]

    def get(self, ledger_id: str) -> Ledger:
        """Return a ledger that exists, or refuse."""
        ledger = self._open.get(ledger_id)
        if ledger is None and self._exists(ledger_id):
            ledger = self._opened(ledger_id)
        if ledger is None or not (ledger.fenced or ledger.exists()):
            raise Refused(
                Reason.LEDGER_NOT_FOUND,
                f"ledger {shown(ledger_id)} does not exist",
                ledger=ledger_id,
            )
        return ledger

    def changed(self, ledger_id: str) -> bool:
        """Return whether another process may have committed to a ledger since it was read here."""
        ledger = self._open.get(ledger_id)
        return ledger is None or ledger.changed()

    def opened_of(self, ledger_id: str) -> Callable[[str], TableOpened | None]:
        """Return what tells how the table of a stream in an open ledger was opened."""
        return self._open[ledger_id].opened_of

    async def create(self, ledger_id: str, request: Request) -> Receipt:
        """Begin a ledger, or refuse one that exists."""
        if not self._exists(ledger_id):
            # What comes too late leaves nothing behind, not even an empty log.
            check_times(request, self._clock(), Head())
        return await self._opened(ledger_id).submit(request)

    async def page(
        self, after: str, limit: int, allowed: frozenset[str] | None
    ) -> tuple[list[Summary], bool]:
        """Return ledgers in order of their ids after `after`, and whether there are more.

        Only those of `allowed` are considered; None means all. One that is not open here is looked
        at and not opened: its log is not folded, and it takes no files afterwards.
        """
        found: list[Summary] = []
        for ledger_id in self._ids():
            if ledger_id <= after or (allowed is not None and ledger_id not in allowed):
                continue
            if ledger_id not in self._open:
                await asyncio.sleep(0)  # to look at many takes long; others have their turns
            summary = self._summary(ledger_id)
            if summary is None:
                continue
            if len(found) == limit:
                return found, True
            found.append(summary)
        return found, False

    def __iter__(self) -> Iterator[Ledger]:
        """Iterate over the ledgers that are open in this process."""
        return iter(list(self._open.values()))

    def not_served(self) -> dict[str, str]:
        """Return the ledgers that are fenced or whose store is away, and why."""
        fenced = {ledger.id: ledger.fenced for ledger in self if ledger.fenced}
        return {**self.away, **fenced}

    def clock_behind(self) -> str:
        """Return why this machine's clock cannot serve the assigned ledgers, empty where it can."""
        for ledger in self:
            if not self.is_assigned(ledger.id):
                continue  # to look at it would be a use of it
            try:
                check_clock(self._clock(), ledger.head())
            except Refused as refusal:
                # What cannot be served for another reason says nothing of the clock.
                if refusal.reason is Reason.CLOCK_BEHIND:
                    return f"ledger {ledger.id}: {refusal.message}"
        return ""

    # --- in the background -----------------------------------------------------------------------

    async def keep_books(self) -> None:
        """Save snapshots of books when it is time for them, for ever."""
        await self._for_ever(Ledger.keep_book)

    async def recheck(self) -> None:
        """Read again what snapshots let this process skip, one ledger after another, for ever."""
        await self._for_ever(Ledger.recheck)

    async def _for_ever(self, do: Callable[[Ledger], Awaitable[None]]) -> None:
        while True:
            await self._each(do)
            await asyncio.sleep(BACKGROUND_S)

    async def _each(self, do: Callable[[Ledger], Awaitable[None]]) -> None:
        """Do what nobody waits for; where it fails, the other ledgers are not concerned."""
        for ledger in self:
            try:
                await do(ledger)
            except Exception:
                logger.exception("failed in the background", ledger=ledger.id)

    async def drain(self) -> None:
        """Wait until every request that was taken is answered, and leave snapshots behind."""
        for ledger in self:
            await ledger.drain()
        await self._each(Ledger.leave_book)

    def close(self) -> None:
        """Let go of every store."""
        for ledger in (*self._open.values(), *self._replaced):
            self.keep_seen(ledger)
            ledger.close()
        self._open.clear()
        self._replaced.clear()

    def _summary(self, ledger_id: str) -> Summary | None:
        """Return what a list shows; None if it does not exist or its store is away."""
        try:
            if ledger_id not in self._open and not self.is_assigned(ledger_id):
                store = self._store(ledger_id)
                try:
                    return glance(ledger_id, store)
                except (LogError, DataError):
                    logger.warning("ledger does not look right", ledger=ledger_id)
                finally:
                    store.close()
            ledger = self._opened(ledger_id)
            return ledger.summary() if ledger.fenced or ledger.exists() else None
        except PersistenceError as error:
            if times := self._often.due(ledger_id):
                logger.error(  # noqa: TRY400  # an engine that is away has no traceback to learn from
                    "store unavailable", ledger=ledger_id, error=str(error), times=times
                )
        except Refused as refused:
            if refused.reason not in (Reason.LEDGER_FENCED, Reason.STORE_UNAVAILABLE):
                raise
        opened = self._open.get(ledger_id)
        return opened.summary() if opened and opened.fenced else None

    def _ids(self) -> list[str]:
        """Return the ids of ledgers that are or were here; what is called otherwise is not ours."""
        try:
            found = {*self.engine.ledgers(), *self._seen.ledgers()}
        except PersistenceError as error:
            raise self._engine_away(
                "the engine does not say which ledgers there are", error
            ) from error
        return sorted(filter(is_id, found))

    def _exists(self, ledger_id: str) -> bool:
        """Return whether there is a log, or one was seen that is there no more."""
        try:
            return self.engine.exists(ledger_id) or self._seen.get(ledger_id).position > 0
        except PersistenceError as error:
            raise self._engine_away(
                "the engine does not say whether there is such a ledger", error
            ) from error

    def _opened(self, ledger_id: str) -> Ledger:
        ledger = self._open.get(ledger_id)
        if ledger is None:
            store = self._store(ledger_id)
            ledger = self._made(ledger_id, store, self._known(ledger_id, store))
            self._open[ledger_id] = ledger
        return ledger

    def _made(self, ledger_id: str, store: Store, known: Head) -> Ledger:
        return Ledger(
            ledger_id,
            store,
            self._observer,
            self._clock,
            self._limits,
            rounds=self._rounds,
            known=known,
            # At once: this process may not live until it is kept as usual.
            keep=partial(self._seen.note, ledger_id),
            writer=self._writer,
        )

    def _known(self, ledger_id: str, store: Store) -> Head:
        """Return what the log has to lead through: what was seen, unless it is excused from it."""
        known = self._seen.get(ledger_id)
        try:
            return _NOTHING if known.position and is_excused(store, known) else known
        except PersistenceError:
            return known  # who asks next is told that the store does not answer

    def _store(self, ledger_id: str) -> Store:
        try:
            store = self.engine.open(ledger_id)
        except (PersistenceError, OSError) as error:
            self.away[ledger_id] = str(error)
            if isinstance(error, NewerLayoutError):
                self._newer[ledger_id] = str(error)
            if times := self._often.due(ledger_id):
                logger.error(  # noqa: TRY400  # a broken file has no traceback to learn from
                    "store cannot be opened", ledger=ledger_id, error=str(error), times=times
                )
            raise Refused(
                Reason.STORE_UNAVAILABLE,
                "the ledger's store cannot be opened; ask again with the same request id",
            ) from error
        self.away.pop(ledger_id, None)
        return store

    def _engine_away(self, message: str, error: PersistenceError) -> Refused:
        if times := self._often.due(""):
            logger.error("engine away", error=str(error), times=times)
        return Refused(Reason.STORE_UNAVAILABLE, f"{message}; ask again with the same request id")
