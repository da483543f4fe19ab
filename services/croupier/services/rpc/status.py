"""Refusals as gRPC statuses with details (AIP-193). One table of codes."""

from __future__ import annotations

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from croupier.domain.errors import Kind, Reason, Refused
from croupier.v1 import errors_pb2

DOMAIN = "croupier"
RETRY_DELAY_MS = 200

CODES: dict[Kind, grpc.StatusCode] = {
    Kind.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Kind.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Kind.FORBIDDEN: grpc.StatusCode.PERMISSION_DENIED,
    Kind.UNIMPLEMENTED: grpc.StatusCode.UNIMPLEMENTED,
    Kind.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Kind.EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    Kind.ILLEGAL: grpc.StatusCode.FAILED_PRECONDITION,
    Kind.CONFLICT: grpc.StatusCode.ABORTED,
    Kind.EXHAUSTED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Kind.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Kind.EXPIRED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Kind.INTERNAL: grpc.StatusCode.INTERNAL,
}

_RETRYABLE = frozenset(
    {
        Reason.QUEUE_FULL,
        Reason.TOO_MANY_STREAMS,
        Reason.STORE_UNAVAILABLE,
        Reason.SERVER_STOPPING,
        Reason.CLOCK_BEHIND,
    }
)

_ASKED_AGAIN = frozenset({Kind.UNAVAILABLE, Kind.EXHAUSTED})
"""Kinds after whose codes clients ask again."""

INTERNAL = Refused(
    Reason.INTERNAL, "the service failed; ask again with the same request id and report it"
)


def code_of(refusal: Refused) -> grpc.StatusCode:
    """Return the status code of a refusal."""
    return CODES[refusal.reason.kind]


def retry_delay(refusal: Refused) -> duration_pb2.Duration | None:
    """Return how long to wait before the same request may be sent again, None if it may not."""
    if refusal.reason not in _RETRYABLE:
        return None
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(int(refusal.metadata.get("retry_ms", RETRY_DELAY_MS)))
    return delay


def refusal_to_wire(refusal: Refused) -> errors_pb2.Refusal:
    """Return the refusal of one command among several as its message."""
    return errors_pb2.Refusal(
        reason=errors_pb2.Reason.Value(f"REASON_{refusal.reason.value}"),
        code=code_of(refusal).value[0],
        message=refusal.message,
        field=refusal.field or "",
        metadata=refusal.metadata,
        retry_delay=retry_delay(refusal),
    )


def details_of(refusal: Refused) -> tuple[tuple[str, str | bytes], ...]:
    """Return the trailing metadata that carries a refusal's details."""
    details: list[Message] = [
        error_details_pb2.ErrorInfo(
            reason=refusal.reason.value, domain=DOMAIN, metadata=refusal.metadata
        )
    ]
    kind = refusal.reason.kind
    if kind is Kind.INVALID and refusal.field:
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=refusal.field, description=refusal.message, reason=refusal.reason.value
        )
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    if kind is Kind.ILLEGAL:
        precondition = error_details_pb2.PreconditionFailure.Violation(
            type=refusal.reason.value, subject=refusal.field or "", description=refusal.message
        )
        details.append(error_details_pb2.PreconditionFailure(violations=[precondition]))
    if delay := retry_delay(refusal):
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    status = status_pb2.Status(code=code_of(refusal).value[0], message=refusal.message)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    trailers: list[tuple[str, str | bytes]] = [
        ("grpc-status-details-bin", status.SerializeToString())
    ]
    if kind in _ASKED_AGAIN:
        # For channels that retry by themselves: when, or that they should not.
        pushback_ms = delay.ToMilliseconds() if delay else -1
        trailers.append(("grpc-retry-pushback-ms", str(pushback_ms)))
    return tuple(trailers)
