"""A writer whose requests and turns are spans of traces. Only there where traces are asked for.

    croupier.v1.PlayService/Play    the call, made at the edge
    └─ queue                        from asking to the turn
       └─ turn                      of the first of the turn's calls; linked with all others
          ├─ decide
          └─ commit

What is waited for together is one turn for many calls: in the trace of any other, `queue` has a
link to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Link, Span

from croupier.services.ledger.admission import Job
from croupier.services.ledger.decider import Decided
from croupier.services.ledger.observer import TurnEnd
from croupier.services.ledger.requests import Request
from croupier.services.ledger.turn import Answer, Turn
from croupier.services.ledger.writer import Writer

LINKS_MAX = 128
"""Links of one span; a turn may have more calls."""


class TracedWriter(Writer):
    """Decides and records as the writer does, and says when."""

    def __init__(self, *given: Any, tracer: trace.Tracer, **named: Any) -> None:
        """Make spans with a tracer; the rest is the writer's."""
        super().__init__(*given, **named)
        self._tracer = tracer
        self._queued: dict[asyncio.Future[list[Answer]], Span] = {}

    def enqueue(self, requests: Sequence[Request], *, atomic: bool) -> asyncio.Future[list[Answer]]:
        """Let requests wait for a turn; see `Writer.enqueue`."""
        answer = super().enqueue(requests, atomic=atomic)
        if trace.get_current_span().is_recording():
            self._queued[answer] = self._tracer.start_span(
                "queue",
                attributes={"croupier.ledger": self._ledger, "croupier.commands": len(requests)},
            )
            answer.add_done_callback(self._left)
        return answer

    def _left(self, answer: asyncio.Future[list[Answer]]) -> None:
        _end(self._queued.pop(answer))  # who has gone never had a turn

    def _record(self, jobs: Sequence[Job]) -> list[list[Answer]]:
        waited = [span for job in jobs if (span := self._queued.get(job.answer)) is not None]
        if not waited:
            return super()._record(jobs)
        first, *others = waited
        turn = self._tracer.start_span(
            "turn",
            trace.set_span_in_context(first),
            links=[Link(span.get_span_context()) for span in others[:LINKS_MAX]],
            attributes={
                "croupier.ledger": self._ledger,
                "croupier.commands": sum(len(job.requests) for job in jobs),
            },
        )
        for span in others:
            span.add_link(turn.get_span_context())
        for span in waited:
            _end(span)
        with trace.use_span(turn, end_on_exit=True):
            return super()._record(jobs)

    def _decide(self, jobs: Sequence[Job], *, look: bool = False) -> Decided:
        with self._tracer.start_as_current_span("decide"):
            return super()._decide(jobs, look=look)

    def _commit(self, turn: Turn, end: TurnEnd) -> None:
        attributes = {
            "croupier.events": len(turn.sealed),
            "croupier.position": turn.commit.head.position,
        }
        with self._tracer.start_as_current_span("commit", attributes=attributes):
            super()._commit(turn, end)


def _end(span: Span) -> None:
    if span.is_recording():
        span.end()
