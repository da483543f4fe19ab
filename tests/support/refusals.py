"""What a refusal has to say, and a casino in which bad requests are tried."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from google.protobuf.message import Message

from croupier.domain.errors import Kind, Reason
from tests.support.serving import Client, Refusal, serving
from tests.support.stories import (
    close_table,
    create_ledger,
    deposit,
    fade,
    furnish,
    open_table,
    post_bank,
    roll,
)

MODULE = pytest.mark.asyncio(loop_scope="module")


STATUS = {
    Kind.INVALID: "INVALID_ARGUMENT",
    Kind.UNAUTHENTICATED: "UNAUTHENTICATED",
    Kind.FORBIDDEN: "PERMISSION_DENIED",
    Kind.UNIMPLEMENTED: "UNIMPLEMENTED",
    Kind.NOT_FOUND: "NOT_FOUND",
    Kind.EXISTS: "ALREADY_EXISTS",
    Kind.ILLEGAL: "FAILED_PRECONDITION",
    Kind.CONFLICT: "ABORTED",
    Kind.EXHAUSTED: "RESOURCE_EXHAUSTED",
    Kind.UNAVAILABLE: "UNAVAILABLE",
    Kind.EXPIRED: "DEADLINE_EXCEEDED",
    Kind.INTERNAL: "INTERNAL",
}
"""The contract with callers: what they may do about a refusal is in its status code."""


LEDGERS = ("casino", "full")


def assert_refused(refusal: Refusal, reason: Reason, field: str | None = None) -> None:
    """Check what a refusal says against what it has to say; `field` where it matters."""
    assert (refusal.reason, refusal.domain) == (reason.value, "croupier"), refusal
    assert refusal.code.name == STATUS[reason.kind]
    assert refusal.message
    if reason.kind is not Kind.INVALID:
        assert refusal.fields == (), refusal
    elif field is not None:
        assert refusal.fields == (field,), refusal
    if reason.kind is not Kind.ILLEGAL:
        assert refusal.subjects == (), refusal
    elif field is not None:
        assert refusal.subjects == (field,), refusal


def assert_has_field(message: Message, path: str) -> None:
    """Check that a path of a violation leads to a field (or a choice) of the request."""
    descriptor = message.DESCRIPTOR
    names = path.split(".")
    while names:
        name = names.pop(0)
        if not names and name in descriptor.oneofs_by_name:
            return
        assert name in descriptor.fields_by_name, f"{path} is not in {message.DESCRIPTOR.name}"
        field = descriptor.fields_by_name[name]
        if field.message_type is None:
            assert not names, path
            return
        if field.message_type.GetOptions().map_entry:
            return  # what follows is a key
        descriptor = field.message_type


@dataclass(slots=True)
class Casino:
    """A server on which many refusals are tried, and what can be seen of it."""

    client: Client
    data: Path

    async def evidence(self) -> list[Any]:
        files = sorted(path.name for path in self.data.iterdir())
        return [files, *await self.client.evidence(*LEDGERS)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def casino(tmp_path_factory: pytest.TempPathFactory, engine: str) -> AsyncIterator[Casino]:
    data = tmp_path_factory.mktemp("refusals") / "data"
    async with serving(data) as served:
        client = await served.client()
        await furnish(client)
        tables = {
            "fresh": {},
            "fading": {},
            "throwing": {},
            "pointed": {},
            "choosing": {"preset": "german"},
            "strict": {"resign": "not_allowed"},
            "closed": {},
            "dear": {"payout": "multiplied", "factor_111": 1000},
        }
        for name, options in tables.items():
            await client.ask(open_table(name, options=options))
        for request in (
            open_table("poor", seats=["pia", "bela"], banker="pia"),
            post_bank("fading", 1000),
            post_bank("throwing", 1000),
            fade("throwing", 1000),
            post_bank("pointed", 1000),
            fade("pointed", 1000),
            roll("pointed", "anna", 3, 3, 4),
            post_bank("choosing", 1000),
            fade("choosing", 1000),
            roll("choosing", "anna", 1, 2, 3),
            close_table("closed"),
            create_ledger("full"),
            deposit("house", 10**15, "full"),
        ):
            await client.ask(request)
        yield Casino(client, data)


@dataclass(frozen=True, slots=True)
class Case:
    """A request that is refused in the casino above. `make` gives it, with a fresh request id."""

    name: str
    make: Callable[[], Message]
    reason: Reason
    field: str = ""


async def assert_nothing_left(casino: Casino, case: Case) -> None:
    """Check that a case is refused as it should be, and that the casino is what it was before."""
    before = await casino.evidence()
    request = case.make()
    refusal = await casino.client.refusal(request)
    assert_refused(refusal, case.reason, case.field)
    for path in (*refusal.fields, *filter(None, refusal.subjects)):
        assert_has_field(request, path)
    assert len(refusal.message) < 600
    assert await casino.evidence() == before
