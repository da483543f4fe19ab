"""Refusals as gRPC statuses with details (AIP-193). One table of codes."""

from __future__ import annotations

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from croupier.domain.errors import Kind, Reason, Refused

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

_RETRYABLE = frozenset({Reason.QUEUE_FULL, Reason.STORE_UNAVAILABLE, Reason.CLOCK_BEHIND})

INTERNAL = Refused(
    Reason.INTERNAL, "the service failed; ask again with the same request id and report it"
)


def code_of(refusal: Refused) -> grpc.StatusCode:
    """Return the status code of a refusal."""
    return CODES[refusal.reason.kind]


def details_of(refusal: Refused) -> tuple[tuple[str, bytes], ...]:
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
    if refusal.reason in _RETRYABLE:
        delay = duration_pb2.Duration(nanos=RETRY_DELAY_MS * 1_000_000)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    status = status_pb2.Status(code=code_of(refusal).value[0], message=refusal.message)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return (("grpc-status-details-bin", status.SerializeToString()),)
