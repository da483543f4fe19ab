"""What is wrong around a command is refused: ids, texts, times, versions, pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2, tables_pb2
from tests.support.refusals import MODULE, Case, Casino, assert_nothing_left
from tests.support.stories import close_table, create_ledger, deposit, fade, open_table, withdraw


def _mutations(**more: Any) -> Iterable[tuple[str, Callable[[], Message]]]:
    """Yield one request of every kind that changes something, else acceptable."""
    for make in (
        lambda: create_ledger("brand-new", **more),
        lambda: open_table("new", **more),
        lambda: close_table("fresh", **more),
        lambda: fade("fading", 1, **more),
        lambda: deposit("player:anna", 1, **more),
        lambda: withdraw("player:anna", 1, **more),
    ):
        yield make().DESCRIPTOR.name, make


def _envelopes() -> Iterator[Case]:
    for name, make in _mutations(request_id=""):
        yield Case(f"{name} without a request id", make, Reason.MISSING_FIELD, "request_id")
    for name, make in _mutations(request_id="é" * 65):
        yield Case(
            f"{name} with a request id of 65 characters",
            make,
            Reason.INVALID_REQUEST_ID,
            "request_id",
        )
    for field in ("actor", "correlation_id"):
        for text in ("x" * 129, "a\0b", "a\nb", "\x1b[31m", "\u202e"):
            for name, make in _mutations(**{field: text}):
                yield Case(f"{name} with {field} {text[:8]!r}", make, Reason.INVALID_TEXT, field)


def _times() -> Iterator[Case]:
    for time_ in (
        Timestamp(seconds=-1),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=2**63 - 1),
        Timestamp(seconds=-(2**63)),
        Timestamp(nanos=-1),
        Timestamp(nanos=10**9),
    ):
        for field in ("occurred_time", "not_after"):
            for name, make in _mutations(**{field: time_}):
                yield Case(
                    f"{name} with {field} of {time_.seconds} s {time_.nanos} ns",
                    make,
                    Reason.INVALID_TIME,
                    field,
                )
        yield Case(
            f"replaying to {time_.seconds} s {time_.nanos} ns",
            lambda time_=time_: audit_pb2.ReplayTableRequest(
                name="ledgers/casino/tables/fading", to_time=time_
            ),
            Reason.INVALID_TIME,
            "to_time",
        )
    times = {
        "1970": Timestamp(),
        "1970 and a second": Timestamp(seconds=1),
        "a minute ago": Timestamp(seconds=int(time.time()) - 60),
    }
    for when, time_ in times.items():
        for name, make in _mutations(not_after=time_):
            yield Case(f"{name} not after {when}", make, Reason.REQUEST_EXPIRED, "not_after")


def _versions() -> Iterator[Case]:
    for name, make in (
        ("CloseTable", lambda version: close_table("fresh", expected_version=version)),
        ("Play", lambda version: fade("fading", 1, expected_version=version)),
        ("Deposit", lambda version: deposit("player:anna", 1, expected_version=version)),
        ("Withdraw", lambda version: withdraw("player:anna", 1, expected_version=version)),
    ):
        for version in (0, 100, 2**63 - 1):
            yield Case(
                f"{name} that expects version {version}",
                lambda make=make, version=version: make(version),
                Reason.VERSION_MISMATCH,
            )
        for version in (-1, -(2**63)):
            yield Case(
                f"{name} that expects version {version}",
                lambda make=make, version=version: make(version),
                Reason.INVALID_POSITION,
                "expected_version",
            )


def _pages() -> Iterator[Case]:
    lists = {
        "ListLedgers": admin_pb2.ListLedgersRequest,
        "ListTables": lambda **more: tables_pb2.ListTablesRequest(parent="ledgers/casino", **more),
        "ListAccounts": lambda **more: accounts_pb2.ListAccountsRequest(
            parent="ledgers/casino", **more
        ),
        "ListEvents": lambda **more: audit_pb2.ListEventsRequest(parent="ledgers/casino", **more),
    }
    for name, make in lists.items():
        for size in (-1, 1001, 2**31 - 1, -(2**31)):
            yield Case(
                f"{name} with {size} on a page",
                lambda make=make, size=size: make(page_size=size),
                Reason.INVALID_PAGE_SIZE,
                "page_size",
            )
        if name == "ListEvents":
            continue
        for token in (
            "garbled",
            "é",
            "A",
            "AAAA",
            "YW5uYQ==",
            "x" * 10_000,
            "\0",
            " ",
            "=",
            "/w==",
        ):
            yield Case(
                f"{name} from the page {token[:12]!r}",
                lambda make=make, token=token: make(page_token=token),
                Reason.INVALID_PAGE_TOKEN,
                "page_token",
            )
    for position in (-1, -(2**63)):
        yield Case(
            f"listing events from position {position}",
            lambda position=position: audit_pb2.ListEventsRequest(
                parent="ledgers/casino", from_position=position
            ),
            Reason.INVALID_POSITION,
            "from_position",
        )
        yield Case(
            f"replaying to version {position}",
            lambda position=position: audit_pb2.ReplayTableRequest(
                name="ledgers/casino/tables/fading", to_version=position
            ),
            Reason.INVALID_POSITION,
            "to_version",
        )


CASES = [*_envelopes(), *_times(), *_versions(), *_pages()]


@MODULE
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_a_bad_envelope_is_refused_and_leaves_nothing_behind(casino: Casino, case: Case):
    await assert_nothing_left(casino, case)
