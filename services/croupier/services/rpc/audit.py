"""AuditService: replay and the log, read only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from croupier.domain.errors import Reason, Refused
from croupier.services.audit.replay import Replay
from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.sealing import microseconds
from croupier.services.rpc import names, views, wire
from croupier.services.rpc.calls import caller
from croupier.v1 import audit_pb2 as pb
from croupier.v1.audit_pb2_grpc import AuditServiceServicer


class AuditService(AuditServiceServicer):
    """Translates, calls, translates."""

    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    async def ReplayTable(
        self, request: pb.ReplayTableRequest, context: Any
    ) -> AsyncIterator[pb.ReplayTableResponse]:
        ledger_id, table_id = names.parse_table(request.name, "name")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        to_version = _not_negative(request.to_version, "to_version")
        to_time_us = wire.time_from_wire(request, "to_time")
        replay = Replay()
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
            table = views.table_to_wire(ledger_id, replay.table)
            step = pb.ReplayTableResponse(event=event, table=table, findings=findings)
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
        return pb.ListEventsResponse(
            events=page, next_position=first + len(page), head_position=ledger.head().position
        )


def _not_negative(value: int, field: str) -> int:
    if value < 0:
        raise Refused(Reason.INVALID_POSITION, f"{field} is 0 or more", field=field)
    return value
