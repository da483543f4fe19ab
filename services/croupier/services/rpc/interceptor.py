"""The one interceptor: who calls, may he, what does the message say, how did it end.

Servicers raise `Refused`; here it becomes a status. Whatever else they raise is a fault of ours:
it is logged with its traceback, and the caller learns nothing of it but that it happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from math import inf
from time import perf_counter
from typing import Any, Protocol

import grpc
import structlog
from google.protobuf.message import DecodeError

from croupier.domain.errors import Kind, Reason, Refused
from croupier.services.rpc.backlog import Backlog
from croupier.services.rpc.callers import Callers
from croupier.services.rpc.calllog import Asked, CallLog, about
from croupier.services.rpc.calls import CURRENT, Call
from croupier.services.rpc.permissions import OPEN_TO_ALL, check_role
from croupier.services.rpc.status import INTERNAL, code_of, details_of
from croupier.services.rpc.streams import stopping as stopping_at

logger = structlog.get_logger()

OWN = "/croupier.v1."

DEADLINE_MAX_S = 30.0
"""How long a call is worked on at most, also where its caller would wait for ever, seconds."""


QUIET = CallLog(0, debug=False)
"""Writes of what is refused for security, and of faults, only."""


class Observer(Protocol):
    """Who is told how calls end."""

    def call_finished(self, method: str, code: str, reason: str, seconds: float) -> None:
        """A call ended; `reason` is empty where it was not refused."""
        ...

    def authentication_failed(self, reason: str) -> None:
        """A stranger called, or a caller did what he may not."""
        ...


class Interceptor(grpc.aio.ServerInterceptor):
    """Wraps every method of every service on the server."""

    def __init__(
        self,
        callers: Callers,
        observer: Observer,
        clock: Callable[[], int],
        message_bytes_max: int,
        backlog: Backlog,
        *,
        deadline_max_s: float = DEADLINE_MAX_S,
        stopping: asyncio.Event | None = None,
        log: CallLog = QUIET,
    ) -> None:
        """Work on a call for `deadline_max_s` at most, and end what has no end when stopping."""
        self._log = log
        self._deadline_max_s = deadline_max_s
        self._stopping = asyncio.Event() if stopping is None else stopping
        self._backlog = backlog
        self._callers = callers
        self._observer = observer
        self._clock = clock
        self._message_bytes_max = message_bytes_max
        # A method is wrapped once: the library asks for its handler at every call.
        self._wrapped: dict[str, Any] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Return the handler of a method, wrapped."""
        method = handler_call_details.method
        wrapped = self._wrapped.get(method)
        if wrapped is None:
            handler = await continuation(handler_call_details)
            if handler is None:
                # Nothing handles it: admission refuses whatever is no method of the service.
                return grpc.unary_unary_rpc_method_handler(self._unary(method, _nothing))
            wrapped = self._wrapped[method] = self._wrap(method, handler)
        return wrapped

    def _wrap(self, method: str, handler: Any) -> Any:
        if method in OPEN_TO_ALL:
            return self._counted(handler)
        if handler.request_streaming and not method.startswith(OWN):
            # Reflection: the library's own service, guarded and otherwise left alone.
            return grpc.stream_stream_rpc_method_handler(
                self._stream(method, handler.stream_stream),
                handler.request_deserializer,
                handler.response_serializer,
            )
        decode = self._decoder(handler.request_deserializer)
        encode = _encoder(handler.response_serializer)
        if handler.request_streaming:
            handle = _each(handler.stream_stream)
            return grpc.stream_stream_rpc_method_handler(
                self._stream(method, handle), decode, encode
            )
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._stream(method, handler.unary_stream), decode, encode
            )
        return grpc.unary_unary_rpc_method_handler(
            self._unary(method, handler.unary_unary), decode, encode
        )

    def _counted(self, handler: Any) -> Any:
        """Return a handler of the library's own health service, which is only counted."""

        async def check(request: Any, context: Any) -> Any:
            self._backlog.begun()
            try:
                return await handler.unary_unary(request, context)
            finally:
                self._backlog.ended()

        async def watch(request: Any, context: Any) -> None:
            self._backlog.begun()
            try:
                await self._until_stopping(handler.unary_stream(request, context), context)
            finally:
                self._backlog.ended()

        serializers = (handler.request_deserializer, handler.response_serializer)
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(watch, *serializers)
        return grpc.unary_unary_rpc_method_handler(check, *serializers)

    async def _until_stopping(
        self, endless: Coroutine[Any, Any, None], context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        """Let a method of the library go on that never ends by itself, until the server stops."""
        watching = asyncio.ensure_future(endless)
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([watching, stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            watching.cancel()
        if not watching.done():
            refusal = stopping_at(())
            await context.abort(code_of(refusal), refusal.message, details_of(refusal))
        watching.result()

    def _decoder(self, decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        """Return a deserialiser that gives a refusal in place of a message it cannot read."""

        def read(message: bytes) -> Any:
            if len(message) > self._message_bytes_max:
                return Refused(
                    Reason.MESSAGE_TOO_LARGE,
                    f"a message has up to {self._message_bytes_max} bytes, not {len(message)}",
                    most=self._message_bytes_max,
                    size=len(message),
                )
            try:
                return decode(message)
            except DecodeError:
                return Refused(Reason.MALFORMED_MESSAGE, "the message cannot be decoded")

        return read

    def _admit(
        self,
        method: str,
        request: Any,
        context: grpc.aio.ServicerContext[Any, Any],
        most_s: float = inf,
    ) -> float | None:
        """Let the call in and make it the current one, or refuse.

        Return how long it may be worked on where its caller would wait longer than `most_s`.
        """
        self._backlog.check()
        remaining_s = context.time_remaining()
        if remaining_s is None:  # which the types do not know
            remaining_s = inf
        bound_s = most_s if remaining_s > most_s else None
        remaining_s = min(remaining_s, most_s)
        deadline_us = None
        if remaining_s < inf:
            deadline_us = self._clock() + int(remaining_s * 1_000_000)
        metadata = dict(context.invocation_metadata() or ())
        caller = self._callers.authenticate(_text(metadata.get("authorization")))
        CURRENT.set(Call(caller, deadline_us))
        check_role(caller, method)
        if isinstance(request, Refused):
            raise request
        return bound_s

    def _unary(self, method: str, handle: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            asked = Asked(method, request, streams=False)
            self._backlog.begun()
            try:
                bound_s = self._admit(method, request, context, self._deadline_max_s)
                response = handle(request, context)
                if asyncio.iscoroutine(response):
                    response = await _within(bound_s, response)
            except Refused as error:
                refusal = error
            except asyncio.CancelledError:
                self._ended(asked, "CANCELLED")
                raise
            except Exception:
                logger.exception("call failed", **about(method, request))
                refusal = INTERNAL
            else:
                self._ended(asked, "OK", response=response)
                return response
            await self._refuse(asked, refusal, context)
            return None

        return call

    def _stream(self, method: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        async def call(
            request: Any, context: grpc.aio.ServicerContext[Any, Any]
        ) -> AsyncIterator[Any]:
            asked = Asked(method, request, streams=True)
            self._backlog.begun()
            try:
                self._admit(method, request, context)
                async for response in handle(request, context):
                    yield response
                self._ended(asked, "OK")
            except Refused as refusal:
                await self._refuse(asked, refusal, context)
            except (asyncio.CancelledError, GeneratorExit):
                self._ended(asked, "CANCELLED")
                raise
            except Exception:
                logger.exception("call failed", **about(method, request))
                await self._refuse(asked, INTERNAL, context)

        return call

    async def _refuse(
        self, asked: Asked, refusal: Refused, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        code, reason = code_of(refusal), refusal.reason.value
        self._ended(asked, code.name, reason)
        if refusal.reason.kind in (Kind.UNAUTHENTICATED, Kind.FORBIDDEN):
            # Strangers must not be able to grow a ledger: their attempts are logged here.
            self._observer.authentication_failed(reason)
            self._log.refused(asked, reason, context.peer())
        await context.abort(code, refusal.message, details_of(refusal))

    def _ended(self, asked: Asked, code: str, reason: str = "", response: Any = None) -> None:
        self._backlog.ended()
        method, seconds = asked.method, perf_counter() - asked.started
        name = method.removeprefix(OWN) if method.startswith(OWN) else method.lstrip("/")
        self._observer.call_finished(name, code, reason, seconds)
        self._log.ended(asked, code, reason, seconds, response)


def _encoder(encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return a serialiser that lets through what a servicer has serialised already."""
    return lambda message: message if isinstance(message, bytes) else encode(message)


def _each(handle: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that is given no message which could not be read: it ends the stream."""

    async def readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for request in requests:
            if isinstance(request, Refused):
                raise request
            yield request

    return lambda requests, context: handle(readable(requests), context)


async def _within(bound_s: float | None, response: Coroutine[Any, Any, Any]) -> Any:
    """Return the response if it is there in time.

    Who waits for a shorter time than the bound is cancelled by the transport, so most calls have
    none here.
    """
    if bound_s is None:
        return await response
    bound = asyncio.timeout(bound_s)
    try:
        async with bound:
            return await response
    except TimeoutError:
        if not bound.expired():
            raise
    raise Refused(
        Reason.DEADLINE_PASSED,
        f"no answer within {bound_s:g} seconds, the longest that this server works on a call; "
        "ask again with the same request id",
        deadline_max_s=f"{bound_s:g}",
    )


def _text(value: str | bytes | None) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _nothing(request: Any, context: Any) -> bytes:
    del request, context
    return b""
