"""Refusals as statuses: every detail that their kind asks for."""

from __future__ import annotations

import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier.domain.errors import Kind, Reason, Refused
from croupier.services.rpc.status import CODES, code_of, details_of

RETRYABLE = {
    Reason.QUEUE_FULL,
    Reason.TOO_MANY_STREAMS,
    Reason.STORE_UNAVAILABLE,
    Reason.SERVER_STOPPING,
    Reason.CLOCK_BEHIND,
}


def details(refusal: Refused) -> tuple[status_pb2.Status, set[str]]:
    """Return the status that goes out, and the kinds of its details."""
    status = status_pb2.Status.FromString(dict(details_of(refusal))["grpc-status-details-bin"])
    return status, {one.type_url.rpartition(".")[2] for one in status.details}


@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("field", [None, "round"])
def test_every_reason_goes_out_with_the_details_of_its_kind(reason: Reason, field: str | None):
    refusal = Refused(reason, "it cannot be", field=field, limit=5)
    status, kinds = details(refusal)
    assert status.code == CODES[reason.kind].value[0] == code_of(refusal).value[0]
    assert status.message == "it cannot be"
    expected = {"ErrorInfo"}
    if reason.kind is Kind.INVALID and field:
        expected.add("BadRequest")
    if reason.kind is Kind.ILLEGAL:
        expected.add("PreconditionFailure")
    if reason in RETRYABLE:
        expected.add("RetryInfo")
    assert kinds == expected
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain, dict(info.metadata)) == (
        reason.value,
        "croupier",
        {"limit": "5"},
    )


@pytest.mark.parametrize("reason", list(Reason))
def test_a_channel_that_retries_is_told_when_or_not_to(reason: Reason):
    refusal = Refused(reason, "it cannot be")
    said = dict(details_of(refusal)).get("grpc-retry-pushback-ms")
    if reason in RETRYABLE:
        assert said == "200"
        waits = Refused(reason, "it cannot be", retry_ms=1234)
        assert dict(details_of(waits))["grpc-retry-pushback-ms"] == "1234"
    elif reason in (Reason.LEDGER_FENCED, Reason.MESSAGE_TOO_LARGE):
        assert said == "-1"  # time does not heal them
    else:
        assert said is None
