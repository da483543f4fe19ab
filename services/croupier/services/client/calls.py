"""Calls over one channel: request ids, retries with the same id, refusals with their details."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast
from uuid import uuid4

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from croupier.services.client import policy

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)

DETAILS = "grpc-status-details-bin"

# With CANCELLED a server that stops turns away whom it has not taken yet; whoever gives up a call
# himself gets `asyncio.CancelledError`. A channel cannot retry the others: it does not know how
# long to wait, and its deadline is that of the whole call.
RETRIED = policy.RETRIED_CODES | {
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}
"""After these the same request may be sent again; whether it was recorded is then found out."""

NOT_HEALED = frozenset({"MESSAGE_TOO_LARGE", "LEDGER_FENCED"})
"""Reasons among them that time alone does not heal."""

_random = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call is tried. All in seconds.

    An attempt is given up after `attempt_s` and the whole call after `deadline_s`. Between attempts
    there is a random pause, up to `pause_s` at first and twice as much each time, up to
    `pause_max_s`; where the server says how long to wait, it is at least that.
    """

    deadline_s: float = policy.TIMEOUT_S
    attempt_s: float = 5.0
    pause_s: float = policy.PAUSE_S
    pause_max_s: float = policy.PAUSE_MAX_S

    def pauses(self) -> Iterator[float]:
        """Yield the pauses between attempts, without end."""
        most = self.pause_s
        while True:
            yield _random.uniform(0, most)
            most = min(policy.PAUSE_FACTOR * most, self.pause_max_s)


class CallRefused(Exception):
    """A call did not succeed; `reason` is a name of `croupier.v1.Reason`, for programs to read.

    `field` is the path of the request's field at fault, None where there is none. `metadata` has
    every value that the message mentions. After UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, UNKNOWN
    and INTERNAL the command may have been recorded all the same: send the same request with the
    same `request_id` and the answer tells.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        field: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{reason or code.name}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.field = field
        self.metadata = dict(metadata or {})
        self.request_id = ""
        self.retry_delay_s = 0.0

    @property
    def retryable(self) -> bool:
        """Return whether the same request may succeed without anybody changing anything."""
        return self.code in RETRIED and self.reason not in NOT_HEALED


def refusal_of(error: grpc.aio.AioRpcError) -> CallRefused:
    """Return what a failed call says: its details where the server sent them, else its status."""
    refused = CallRefused(error.code(), "", error.details() or "no message")
    delay_s = 0.0
    for detail in _details(error):
        info = error_details_pb2.ErrorInfo()
        invalid = error_details_pb2.BadRequest()
        illegal = error_details_pb2.PreconditionFailure()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            refused = CallRefused(
                refused.code, info.reason, refused.message, refused.field, info.metadata
            )
        elif detail.Unpack(invalid) and invalid.field_violations:
            refused.field = invalid.field_violations[0].field or None
        elif detail.Unpack(illegal) and illegal.violations:
            refused.field = illegal.violations[0].subject or None
        elif detail.Unpack(retry):
            delay_s = retry.retry_delay.ToTimedelta().total_seconds()
    refused.retry_delay_s = delay_s
    return refused


def _details(error: grpc.aio.AioRpcError) -> list[Any]:
    packed = dict(error.trailing_metadata() or ()).get(DETAILS, b"")
    try:
        return list(status_pb2.Status.FromString(packed).details)
    except DecodeError:  # whatever stands between us and the server wrote it
        return []


@dataclass(slots=True)
class Calls:
    """Makes calls as one caller, patiently."""

    patience: Patience
    metadata: tuple[tuple[str, str], ...] = field(default=())

    def unhurried(self) -> Calls:
        """Return the same, with all the time for one attempt."""
        return Calls(replace(self.patience, attempt_s=self.patience.deadline_s), self.metadata)

    async def ask(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Q, R], request: Q, *, once: bool = False
    ) -> R:
        """Return the answer to a request, which is retried unless it is to be sent `once`.

        Raises:
            CallRefused: it is refused, or the deadline passed before it could be answered.

        """
        request_id = mint(request)
        until = now() + self.patience.deadline_s
        for pause_s in self.patience.pauses():
            try:
                return await method(request, timeout=self._timeout(until), metadata=self.metadata)
            except grpc.aio.AioRpcError as error:
                refused = refusal_of(error)
                refused.request_id = request_id
                if once:
                    raise refused from error
                await _pause(refused, pause_s, until)
        raise AssertionError  # there is always another pause

    async def stream(
        self, method: grpc.aio.UnaryStreamMultiCallable[Q, R], request: Q
    ) -> AsyncIterator[R]:
        """Yield the answers to a request for a stream that only ever grows.

        A broken stream is asked for again, and what was yielded already is passed over.

        Raises:
            CallRefused: it is refused, or the deadline passed without another answer.

        """
        seen = 0
        until = now() + self.patience.deadline_s
        for pause_s in self.patience.pauses():
            call = method(request, metadata=self.metadata)
            count = 0
            try:
                while (answer := await self._read(call)) is not None:
                    count += 1
                    if count > seen:
                        seen = count
                        until = now() + self.patience.deadline_s
                        yield answer
                return
            except grpc.aio.AioRpcError as error:
                await _pause(refusal_of(error), pause_s, until)
            finally:
                call.cancel()

    async def _read(self, call: grpc.aio.UnaryStreamCall[Q, R]) -> R | None:
        """Return the next answer of a stream, None at its end."""
        deadline_s = self.patience.deadline_s
        try:
            answer = await asyncio.wait_for(call.read(), deadline_s)
        except TimeoutError:
            message = f"nothing came for {deadline_s} seconds"
            raise CallRefused(grpc.StatusCode.DEADLINE_EXCEEDED, "", message) from None
        return None if answer is grpc.aio.EOF else cast("R", answer)

    def _timeout(self, until: float) -> float:
        return max(0.0, min(self.patience.attempt_s, until - now()))


def mint(request: Message) -> str:
    """Return a request's id, made now if it has none; "" where it changes nothing."""
    if "request_id" not in request.DESCRIPTOR.fields_by_name:
        return ""
    request_id: str = getattr(request, "request_id") or uuid4().hex  # noqa: B009  # it has one
    setattr(request, "request_id", request_id)  # noqa: B010
    return request_id


class Attempts:
    """How often a stream is opened again, from the first failure on."""

    def __init__(self, patience: Patience) -> None:
        self._pauses = patience.pauses()
        self._until = now() + patience.deadline_s

    async def pause(self, refused: CallRefused) -> None:
        """Wait before the next attempt, or raise where none may follow."""
        await _pause(refused, next(self._pauses), self._until)


async def _pause(refused: CallRefused, pause_s: float, until: float) -> None:
    """Wait before the next attempt, or raise where none may follow."""
    pause_s = max(pause_s, refused.retry_delay_s)
    if not refused.retryable or now() + pause_s >= until:
        raise refused
    await asyncio.sleep(pause_s)


def now() -> float:
    """Return the running loop's time, seconds."""
    return asyncio.get_running_loop().time()
