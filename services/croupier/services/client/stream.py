"""A stream of commands that survives cuts: what was not answered is sent again, ids unchanged."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import grpc

from croupier.services.client.calls import Attempts, CallRefused, Calls, mint, refusal_of
from croupier.v1.errors_pb2 import Reason, Refusal
from croupier.v1.play_pb2 import PlayRequest, PlayStreamRequest
from croupier.v1.receipts_pb2 import CommandResult, Receipt

Result = Receipt | CallRefused
"""What became of one command among several: its receipt, or why it was refused."""

AHEAD = 16
"""Messages that are sent before the first of them is answered."""


def results_of(results: Sequence[CommandResult]) -> list[Result]:
    """Return what became of each command."""
    return [
        one.receipt if one.WhichOneof("result") == "receipt" else _refused(one.refusal)
        for one in results
    ]


def _refused(refusal: Refusal) -> CallRefused:
    known = {code.value[0]: code for code in grpc.StatusCode}
    code = known.get(refusal.code, grpc.StatusCode.UNKNOWN)
    # A newer server may know more reasons; the code says what to do about them.
    named = refusal.reason in Reason.values()
    reason = Reason.Name(refusal.reason).removeprefix("REASON_") if named else ""
    refused = CallRefused(
        code, reason, refusal.message, refusal.field or None, dict(refusal.metadata)
    )
    refused.retry_delay_s = refusal.retry_delay.ToTimedelta().total_seconds()
    return refused


def _ending(error: grpc.aio.AioRpcError) -> CallRefused:
    """Return how a stream ended; where a write came too late, the library has lost the status."""
    refused = refusal_of(error)
    lost = error.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.CANCELLED)
    if lost and not refused.reason:
        return CallRefused(grpc.StatusCode.UNAVAILABLE, "", refused.message)
    return refused


@dataclass(slots=True, eq=False)
class _Message:
    request: PlayStreamRequest
    answer: asyncio.Future[list[Result]]


@dataclass(slots=True)
class PlayStream:
    """Commands to one ledger over one stream, answered in order. Use it as a context.

    A cut is mended: the stream is opened again and what was not answered is sent again.
    """

    _calls: Calls
    _open: Any
    _parent: str
    _unanswered: deque[_Message] = field(default_factory=deque)
    _sent: int = 0
    _answered: bool = False
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AHEAD))
    _running: asyncio.Task[None] | None = None

    async def send(self, *commands: PlayRequest, atomic: bool = False) -> list[Result]:
        """Return what became of commands that go as one message; with `atomic` all or none.

        Raises:
            CallRefused: the message as a whole is refused, or nobody answered in time. Whether its
                commands were recorded, their request ids will tell.

        """
        return await (await self.push(*commands, atomic=atomic))

    async def push(
        self, *commands: PlayRequest, atomic: bool = False
    ) -> asyncio.Future[list[Result]]:
        """Send commands as one message, and return what will become of them.

        Waits where `AHEAD` messages are not answered yet.
        """
        if self._running is None or self._running.done():
            raise RuntimeError("a stream is used inside `async with`")
        for command in commands:
            mint(command)
        await self._room.acquire()
        request = PlayStreamRequest(parent=self._parent, commands=commands, atomic=atomic)
        message = _Message(request, asyncio.get_running_loop().create_future())
        message.answer.add_done_callback(lambda _: self._room.release())
        self._unanswered.append(message)
        self._more.set()
        return message.answer

    async def __aenter__(self) -> Self:
        """Begin; the stream is opened with the first message."""
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        """End the stream; what was not answered will not be."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        self._abandon()  # also where it was cancelled before it began

    async def _run(self) -> None:
        """Keep a stream open while there is something to send, whatever happens to it."""
        try:
            await self._keep_open()
        finally:
            self._abandon()

    def _abandon(self) -> None:
        """Leave nobody waiting: whatever the reason, no answer comes any more."""
        while self._unanswered:
            self._unanswered.popleft().answer.cancel()

    async def _keep_open(self) -> None:
        attempts: Attempts | None = None
        while True:
            if not self._unanswered:
                await self._more.wait()
            self._answered = False
            try:
                await self._talk()
            except grpc.aio.AioRpcError as error:
                if attempts is None or self._answered:
                    attempts = Attempts(self._calls.patience)
                try:
                    await attempts.pause(_ending(error))
                except CallRefused as refused:
                    self._give_up(refused)
                    attempts = None

    def _give_up(self, refused: CallRefused) -> None:
        """Tell whoever sent the message that ended the stream; those after it go on without it."""
        if self._unanswered:
            message = self._unanswered.popleft()
            if not message.answer.done():
                message.answer.set_exception(refused)

    async def _talk(self) -> None:
        """Open a stream, send and read until it breaks."""
        call = self._open(metadata=self._calls.metadata)
        self._sent = 0
        self._more.set()
        sending = asyncio.create_task(self._send(call))
        try:
            while True:
                response = await call.read()
                if response is grpc.aio.EOF:
                    return
                message = self._unanswered.popleft()
                self._sent -= 1
                self._answered = True
                if not message.answer.done():
                    message.answer.set_result(results_of(response.results))
        finally:
            sending.cancel()
            call.cancel()

    async def _send(self, call: Any) -> None:
        """Write every message that this call has not been given yet."""
        # Who reads is told how the call ended; writing to one that has ended says nothing new.
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while True:
                while self._sent < len(self._unanswered):
                    message = self._unanswered[self._sent]
                    self._sent += 1
                    await call.write(message.request)
                self._more.clear()
                await self._more.wait()
