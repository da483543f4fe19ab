"""The ledgers of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import structlog
from eventsourcing.persistence import PersistenceError

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.names import is_id
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.requests import Request
from croupier.services.ledger.rounds import Rounds
from croupier.services.ledger.turn import Receipt, check_times
from croupier.services.ledger.writer import Limits, Observer
from croupier.services.store.store import Engine, Head

logger = structlog.get_logger()


class Ledgers:
    """All ledgers of an engine, opened when first needed. Any process may serve any of them."""

    def __init__(
        self, engine: Engine, observer: Observer, clock: Callable[[], int], limits: Limits
    ) -> None:
        self.engine = engine
        self._observer = observer
        self._clock = clock
        self._limits = limits
        self._rounds = Rounds()
        self._open: dict[str, Ledger] = {}
        self.away: dict[str, str] = {}
        """Ledgers whose store could not be opened, and why."""

    def recover(self) -> None:
        """Open every ledger and fold its log, so that the first call finds it ready.

        A ledger that cannot be served is fenced and keeps no other from being served.
        """
        for ledger_id in self._ids():
            try:
                self._opened(ledger_id).exists()
            except Refused as refusal:
                if refusal.reason not in (Reason.LEDGER_FENCED, Reason.STORE_UNAVAILABLE):
                    raise

    def get(self, ledger_id: str) -> Ledger:
        """Return a ledger that exists, or refuse."""
        ledger = self._open.get(ledger_id)
        if ledger is None and self.engine.exists(ledger_id):
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

    def game_of(self, ledger_id: str) -> Callable[[str], str]:
        """Return what tells the game of a table's stream in an open ledger."""
        return self._open[ledger_id].game_of

    async def create(self, ledger_id: str, request: Request) -> Receipt:
        """Begin a ledger, or refuse one that exists."""
        if not self.engine.exists(ledger_id):
            # What comes too late leaves nothing behind, not even an empty log.
            check_times(request, self._clock(), Head())
        return await self._opened(ledger_id).submit(request)

    def page(
        self, after: str, limit: int, allowed: frozenset[str] | None
    ) -> tuple[list[Ledger], bool]:
        """Return ledgers in order of their ids after `after`, and whether there are more.

        Only those of `allowed` are considered; None means all.
        """
        found: list[Ledger] = []
        for ledger_id in self._ids():
            if ledger_id <= after or (allowed is not None and ledger_id not in allowed):
                continue
            ledger = self._listed(ledger_id)
            if ledger is None:
                continue
            if len(found) == limit:
                return found, True
            found.append(ledger)
        return found, False

    def __iter__(self) -> Iterator[Ledger]:
        """Iterate over the ledgers that are open in this process."""
        return iter(list(self._open.values()))

    def not_served(self) -> dict[str, str]:
        """Return the ledgers that are fenced or whose store is away, and why."""
        fenced = {ledger.id: ledger.fenced for ledger in self if ledger.fenced}
        return {**self.away, **fenced}

    async def drain(self) -> None:
        """Wait until every request that was taken is answered."""
        for ledger in self:
            await ledger.drain()

    def close(self) -> None:
        """Let go of every store."""
        while self._open:
            self._open.popitem()[1].close()

    def _listed(self, ledger_id: str) -> Ledger | None:
        """Return a ledger that exists or is fenced; a store that is away hides no other ledger."""
        try:
            ledger = self._opened(ledger_id)
            return ledger if ledger.fenced or ledger.exists() else None
        except Refused as refusal:
            if refusal.reason not in (Reason.LEDGER_FENCED, Reason.STORE_UNAVAILABLE):
                raise
        opened = self._open.get(ledger_id)
        return opened if opened and opened.fenced else None

    def _ids(self) -> Iterator[str]:
        """Yield the ids of the engine's ledgers; what is called otherwise is none of ours."""
        return (one for one in self.engine.ledgers() if is_id(one))

    def _opened(self, ledger_id: str) -> Ledger:
        ledger = self._open.get(ledger_id)
        if ledger is None:
            try:
                store = self.engine.open(ledger_id)
            except (PersistenceError, OSError) as error:
                self.away[ledger_id] = str(error)
                logger.error("store cannot be opened", ledger=ledger_id, error=str(error))  # noqa: TRY400  # a broken file has no traceback to learn from
                raise Refused(
                    Reason.STORE_UNAVAILABLE,
                    "the ledger's store cannot be opened; ask again with the same request id",
                ) from error
            ledger = Ledger(
                ledger_id, store, self._observer, self._clock, self._limits, rounds=self._rounds
            )
            self._open[ledger_id] = ledger
            self.away.pop(ledger_id, None)
        return ledger
