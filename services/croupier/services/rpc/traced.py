"""Calls as spans of traces (OpenTelemetry). Only there where traces are asked for.

A caller's trace goes on where he sends `traceparent` (W3C). Attributes are few and bounded: who,
which request id, which ledger, which position; never what a request or an answer holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from croupier.services.rpc.calllog import about
from croupier.services.rpc.interceptor import OWN
from croupier.services.rpc.permissions import ROLES

_FAULTS = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""How calls end that went wrong here; other refusals are the answer that was due."""

_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}
_PROPAGATOR = TraceContextTextMapPropagator()

Context = grpc.aio.ServicerContext[Any, Any]


class TracingInterceptor(grpc.aio.ServerInterceptor):
    """Stands before the other interceptor, and makes a span of every call of the API."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer
        self._wrapped: dict[str, Any] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Return the handler of a method, wrapped if it is of the API."""
        method = handler_call_details.method
        handler = await continuation(handler_call_details)
        if method not in ROLES or not method.startswith(OWN):
            return handler
        if method not in self._wrapped:
            self._wrapped[method] = self._wrap(method, handler)
        return self._wrapped[method]

    def _wrap(self, method: str, handler: Any) -> Any:
        serializers = (handler.request_deserializer, handler.response_serializer)
        if handler.request_streaming:
            wrapped = self._stream(method, handler.stream_stream)
            return grpc.stream_stream_rpc_method_handler(wrapped, *serializers)
        if handler.response_streaming:
            wrapped = self._stream(method, handler.unary_stream)
            return grpc.unary_stream_rpc_method_handler(wrapped, *serializers)
        unary = self._unary(method, handler.unary_unary)
        return grpc.unary_unary_rpc_method_handler(unary, *serializers)

    def _unary(self, method: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Context) -> Any:
            span, response, code = self._begin(method, context), None, None
            try:
                response = await handle(request, context)
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED
                raise
            finally:
                _end(span, code or _code_of(context), about(method, request, response))
            return response

        return call

    def _stream(self, method: str, handle: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Context) -> AsyncIterator[Any]:
            span, code = self._begin(method, context), None
            try:
                async for response in handle(request, context):
                    yield response
            except (asyncio.CancelledError, GeneratorExit):
                code = grpc.StatusCode.CANCELLED
                raise
            finally:
                _end(span, code or _code_of(context), about(method, request))

        return call

    def _begin(self, method: str, context: Context) -> Span:
        service, _, name = method.removeprefix("/").partition("/")
        sent = dict(context.invocation_metadata() or ())
        carrier = {
            key: value for key in _PROPAGATOR.fields if isinstance(value := sent.get(key), str)
        }
        span = self._tracer.start_span(
            f"{service}/{name}",
            _PROPAGATOR.extract(carrier),
            kind=SpanKind.SERVER,
            attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
        )
        # It is the current one to the end of the task, which serves this call alone.
        contexts.attach(trace.set_span_in_context(span))
        return span


def _end(span: Span, code: grpc.StatusCode, said: Mapping[str, Any]) -> None:
    span.set_attribute("rpc.grpc.status_code", code.value[0])
    for name in ("caller", "ledger", "request_id", "position"):
        if name in said:
            span.set_attribute(f"croupier.{name}", said[name])
    if code in _FAULTS:
        span.set_status(StatusCode.ERROR, code.name)
    span.end()


def _code_of(context: Context) -> grpc.StatusCode:
    """Return how a call ends; the library says so as a number, or not at all where all is well."""
    code: Any = context.code()
    return code if isinstance(code, grpc.StatusCode) else _CODES[code or 0]
