"""What a stream has taken and not answered yet: bounded, so that who sends too fast is slowed."""

from __future__ import annotations

import asyncio

from croupier.services.rpc.batches import Pending

MESSAGES = 16
"""Messages of a stream that are taken before the first of them is answered."""

COMMANDS = 1_024
"""Commands of a stream beyond which no further message is taken."""


class Ahead:
    """The messages of one stream that wait for their answers, in order."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[Pending | Exception | None] = asyncio.Queue(MESSAGES)
        self._commands = 0
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until another message may be taken."""
        await self._room.wait()

    async def put(self, message: Pending | Exception | None) -> None:
        """Add a message that was begun, why the stream ends, or None at its end."""
        if isinstance(message, Pending):
            self._commands += len(message.batch)
            if self._commands >= COMMANDS:
                self._room.clear()
        await self._messages.put(message)

    async def get(self) -> Pending | Exception | None:
        """Return the next message."""
        return await self._messages.get()

    def answered(self, commands: int) -> None:
        """Make room for as many commands."""
        self._commands -= commands
        if self._commands < COMMANDS:
            self._room.set()

    def cancel(self) -> None:
        """Give up what was not decided yet."""
        while not self._messages.empty():
            left = self._messages.get_nowait()
            if isinstance(left, Pending):
                left.cancel()
