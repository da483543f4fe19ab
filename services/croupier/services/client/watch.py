"""Watching a ledger's log: the events from a position on, through cuts and silences."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from croupier.services.client.calls import Attempts, Calls, refusal_of
from croupier.v1 import audit_pb2, events_pb2

SILENCE_S = 45.0
"""How long a server may send nothing, three times its usual heartbeat, before it is asked anew."""


async def watch(
    calls: Calls, method: Any, request: audit_pb2.WatchEventsRequest, silence_s: float = SILENCE_S
) -> AsyncIterator[events_pb2.Event]:
    """Yield events for ever. After a cut or a silence it goes on where it was.

    Raises:
        CallRefused: it is refused, or nobody answered for the time that calls are tried.

    """
    attempts: Attempts | None = None
    while True:
        call = method(request, metadata=calls.metadata)
        try:
            while (answer := await _read(call, silence_s)) is not None:
                attempts = None
                request.from_position = answer.next_position
                for event in answer.events:
                    yield event
        except grpc.aio.AioRpcError as error:
            attempts = attempts or Attempts(calls.patience)
            await attempts.pause(refusal_of(error))
        finally:
            call.cancel()


async def _read(call: Any, silence_s: float) -> audit_pb2.WatchEventsResponse | None:
    """Return the next answer, None where the stream has ended or fallen silent."""
    try:
        answer = await asyncio.wait_for(call.read(), silence_s)
    except TimeoutError:
        return None
    return None if answer is grpc.aio.EOF else answer
