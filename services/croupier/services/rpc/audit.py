"""AuditService: replay and the log, read only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from croupier.domain.errors import Reason, Refused
from croupier.services.audit.replay import Replay
from croupier.services.ledger.deciding import TABLES
from croupier.services.ledger.feed import FOR_OTHERS, Feed, Watch
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.sealing import microseconds
from croupier.services.rpc import names, views, watching, wire
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.callers import Role
from croupier.services.rpc.calls import caller
from croupier.services.rpc.eyes import Replayed, events
from croupier.services.rpc.recall import Recalls
from croupier.services.rpc.streams import Streams
from croupier.services.rpc.watching import Pages, Wanted, message
from croupier.v1 import audit_pb2 as pb
from croupier.v1.audit_pb2_grpc import AuditServiceServicer


class AuditService(AuditServiceServicer):
    """Translates, calls, translates."""

    def __init__(
        self, ledgers: Ledgers, feed: Feed, *, streams: Streams, bulk: Bulk, heartbeat_s: float
    ) -> None:
        """Send watchers something at least every `heartbeat_s` seconds."""
        self._bulk = bulk
        self._recalls = Recalls(bulk)
        self._ledgers = ledgers
        self._feed = feed
        self._streams = streams
        self._heartbeat_s = heartbeat_s
        # By the ledger itself: one that is opened anew begins with no pages.
        self._pages: WeakKeyDictionary[Ledger, Pages] = WeakKeyDictionary()
        self._behind = asyncio.Lock()

    async def ReplayTable(
        self, request: pb.ReplayTableRequest, context: Any
    ) -> AsyncIterator[pb.ReplayTableResponse]:
        ledger_id, table_id = names.parse_table(request.name, "name")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        to_version = _not_negative(request.to_version, "to_version")
        to_time_us = wire.time_from_wire(request, "to_time")
        replay, replayed = Replay(), Replayed(ledger, caller().eyes)
        # One step is held back, so that the last one can say what is missing after it.
        step: pb.ReplayTableResponse | None = None
        for event in ledger.table_events(table_id):
            late = to_time_us is not None and microseconds(event.recorded_time) > to_time_us
            if late or (to_version and event.version > to_version):
                if step is not None:
                    yield step
                return
            if step is not None:
                yield step
            findings = replay.fold(event)
            seen, eyes_then = replayed.step(event)
            table = views.table_to_wire(ledger_id, replay.table, eyes_then)
            step = pb.ReplayTableResponse(event=seen, table=table, findings=findings)
        if step is not None:
            step.findings.extend(replay.end())
            yield step

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: Any
    ) -> pb.ListEventsResponse:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        size = views.page_size(request.page_size)
        first = _not_negative(request.from_position, "from_position") or 1
        page = views.bounded(ledger.events(first - 1, size))
        sees = caller().eyes
        return pb.ListEventsResponse(
            events=await self._bulk.each(lambda some: events(ledger, some, sees), page),
            next_position=first + len(page),
            head_position=ledger.head().position,
        )

    async def GetRound(self, request: pb.GetRoundRequest, context: Any) -> pb.GetRoundResponse:
        return await self._recalls.round(_of_table(self._ledgers, request), request, caller())

    async def ListRounds(
        self, request: pb.ListRoundsRequest, context: Any
    ) -> pb.ListRoundsResponse:
        return await self._recalls.rounds(_of_table(self._ledgers, request), request)

    async def WatchEvents(
        self, request: pb.WatchEventsRequest, context: Any
    ) -> AsyncIterator[pb.WatchEventsResponse]:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        stream = _watched(request, ledger)
        wanted = Wanted.of(stream, list(request.kinds), caller().eyes)
        position = (_not_negative(request.from_position, "from_position") or 1) - 1
        _check_reached(ledger, position)
        with self._streams.one(caller().name), self._feed.watching(ledger_id) as watch:
            async for response in self._watch(watch, position, wanted):
                yield response  # type: ignore[misc]  # it is encoded already

    async def _watch(self, watch: Watch, position: int, wanted: Wanted) -> AsyncIterator[bytes]:
        """Yield what is after a position and wanted, and for ever what comes."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self._heartbeat_s
        while True:
            self._streams.check_serving(next_position=position + 1)
            ledger = self._ledgers.get(watch.ledger)
            head = ledger.head().position
            encoded = b""
            if position < head:
                encoded, position = await self._after(ledger, position, head, wanted)
            if encoded or loop.time() >= due:
                yield message(encoded, position + 1, head)
                due = loop.time() + self._heartbeat_s
            elif position >= head:
                await watch.wait(due)

    async def _after(
        self, ledger: Ledger, position: int, head: int, wanted: Wanted
    ) -> tuple[bytes, int]:
        """Return what is wanted of the page after a position, encoded, and the page's last one.

        Of all who are far behind, one has his page at a time, and then there is time for others.
        """
        pages = self._pages.get(ledger)
        if pages is None:
            pages = self._pages[ledger] = Pages(ledger)
        if head - position <= watching.NEAR:
            page = pages.get(position, head)
            return page.after(position, wanted, head), page.last
        async with self._behind:
            started = perf_counter()
            page = pages.get(position, head)
            encoded = page.after(position, wanted, head)
            await asyncio.sleep(FOR_OTHERS * (perf_counter() - started))
            return encoded, page.last


def _of_table(ledgers: Ledgers, request: pb.GetRoundRequest | pb.ListRoundsRequest) -> Ledger:
    ledger_id, _ = names.parse_table(request.table, "table")
    return ledgers.get(caller().check_ledger(ledger_id))


def _watched(request: pb.WatchEventsRequest, ledger: Ledger) -> str:
    """Return the stream of the table that is watched, "" for the whole log, or refuse."""
    if not request.table:
        if caller().roles <= {Role.DEALER, Role.PLAYER}:
            raise Refused(
                Reason.ROLE_NOT_ALLOWED,
                f"caller {caller().name} may watch single tables, not the whole log",
                field="table",
                caller=caller().name,
            )
        return ""
    named, table_id = names.parse_table(request.table, "table")
    names.check_same_ledger(named, ledger.id, "table")
    ledger.check_table(table_id, "table")
    return TABLES + table_id


def _check_reached(ledger: Ledger, position: int) -> None:
    """Refuse to go on from a position that the log has not reached: it would be another log."""
    head = ledger.head().position
    if position > head:
        raise Refused(
            Reason.INVALID_POSITION,
            f"the log ends at {head}; watching begins at {head + 1} or before",
            field="from_position",
            head=head,
        )


def _not_negative(value: int, field: str) -> int:
    if value < 0:
        raise Refused(Reason.INVALID_POSITION, f"{field} is 0 or more", field=field)
    return value
