"""Several commands in one message: parsed one by one, decided together, answered one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from croupier.domain.errors import Kind, Reason, Refused
from croupier.services.ledger.ledger import Ledger
from croupier.services.ledger.requests import Request
from croupier.services.ledger.turn import Answer, undone
from croupier.services.rpc.bulk import Bulk

BATCH_MAX = 1_000
"""Commands in one message."""

SLICE = 64
"""Commands that wait for a turn as one job, unless they are all or nothing: a long batch leaves
room for others in between."""

T = TypeVar("T")
Parse = Callable[[T], tuple[str, Request]]
"""Returns where inside the message the command stands, and the request; or refuses."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The commands of one message of a caller, in order; what could not be parsed is a refusal."""

    items: tuple[Request | Refused, ...]
    paths: tuple[str, ...]
    """Where inside its message each command stands, "" where it is the message."""
    atomic: bool

    @classmethod
    async def parse(
        cls, bulk: Bulk, field: str, messages: Sequence[T], parse: Parse[T], *, atomic: bool
    ) -> Batch:
        """Return the batch of the messages in `field`.

        Raises:
            Refused: there are none, or too many.

        """
        if not 1 <= len(messages) <= BATCH_MAX:
            raise Refused(
                Reason.INVALID_BATCH,
                f"a batch has 1 to {BATCH_MAX} commands, not {len(messages)}",
                field=field,
                most=BATCH_MAX,
                count=len(messages),
            )
        parsed = await bulk.each(lambda some: [_parsed(one, parse) for one in some], messages)
        return cls(tuple(item for _, item in parsed), tuple(path for path, _ in parsed), atomic)

    def __len__(self) -> int:
        """Return how many commands there are."""
        return len(self.items)

    def begin(self, ledger: Ledger) -> Pending:
        """Let the commands wait for their turn, in order, and return what they wait for."""
        if self.atomic:
            return self._begin_together(ledger)
        requests = [item for item in self.items if isinstance(item, Request)]
        waits: list[asyncio.Future[list[Answer]] | list[Answer]] = []
        for start in range(0, len(requests), SLICE):
            some = requests[start : start + SLICE]
            try:
                waits.append(ledger.enqueue(some, atomic=False))
            except Refused as refusal:
                # What comes later may rest on what was refused here: it is not let in either.
                waits.append([refusal] * (len(requests) - start))
                break
        return Pending(ledger, self, waits)

    def _begin_together(self, ledger: Ledger) -> Pending:
        requests = [item for item in self.items if isinstance(item, Request)]
        if len(requests) == len(self.items):
            try:
                return Pending(ledger, self, [ledger.enqueue(requests, atomic=True)])
            except Refused as refusal:
                return Pending(ledger, self, [[refusal] * len(requests)])
        first = next(at for at, item in enumerate(self.items) if isinstance(item, Refused))
        return Pending(ledger, self, [[undone(first)] * len(requests)])


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that waits for its answers."""

    ledger: Ledger
    batch: Batch
    waits: Sequence[asyncio.Future[list[Answer]] | list[Answer]]

    async def answers(self) -> list[Answer]:
        """Return the answers of the batch's commands, in order."""
        decided: list[Answer] = []
        for wait in self.waits:
            decided += wait if isinstance(wait, list) else await wait
        each = iter(decided)
        answers = [item if isinstance(item, Refused) else next(each) for item in self.batch.items]
        return [
            answer.inside(path) if path and isinstance(answer, Refused) and answer.field else answer
            for path, answer in zip(self.batch.paths, answers, strict=True)
        ]

    def cancel(self) -> None:
        """Give up: what was not decided yet will not be."""
        for wait in self.waits:
            if not isinstance(wait, list):
                wait.cancel()


async def finish(pending: Pending, field: str) -> list[Answer]:
    """Return the answers of a batch that is a call of its own; `field` is where its commands are.

    Raises:
        Refused: nothing was done: the ledger cannot take it now, or a command of an atomic batch
            was refused.

    """
    try:
        answers = await pending.answers()
    except asyncio.CancelledError:
        pending.cancel()
        raise
    if not_now := _not_now(answers):
        raise not_now
    if pending.batch.atomic and (refused := _cause(answers)):
        at, error = refused
        if not isinstance(error, Refused):
            raise error
        named = error.inside(f"{field}[{at}]")
        raise Refused(
            named.reason, named.message, field=named.field, **(named.metadata | {"item": at})
        )
    return answers


def _cause(answers: Iterable[Answer]) -> tuple[int, Exception] | None:
    """Return which command of an atomic batch was refused, and why; None if none was."""
    for at, answer in enumerate(answers):
        if isinstance(answer, Refused) and answer.reason is Reason.BATCH_REFUSED:
            continue
        if isinstance(answer, Exception):
            return at, answer
    return None


def _not_now(answers: Sequence[Answer]) -> Exception | None:
    """Return why nothing of a batch was even looked at, None where something was."""
    first = answers[0]
    if isinstance(first, Refused) and first.reason.kind in _LATER:
        return first if all(answer is first for answer in answers) else None
    return None


_LATER = frozenset({Kind.EXHAUSTED, Kind.UNAVAILABLE})


def _parsed(message: T, parse: Parse[T]) -> tuple[str, Request | Refused]:
    try:
        return parse(message)
    except Refused as refusal:
        return "", refusal
