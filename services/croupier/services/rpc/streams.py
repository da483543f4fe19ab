"""The long-lived streams of one server: how many there may be, and that they end when it stops."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from croupier.domain.errors import Reason, Refused


class Streams:
    """Counts streams, and ends them when the server stops."""

    def __init__(self, most: int, changed: Callable[[int], None]) -> None:
        """Allow `most` streams at once, and report to `changed` how many there are."""
        self._most = most
        self._changed = changed
        self._ends: dict[object, Callable[[], object] | None] = {}
        self._of_caller: Counter[str] = Counter()
        self.stopping = asyncio.Event()
        """Set when the server stops: whatever has no end of its own ends."""
        self.elsewhere: Sequence[str] = ()
        """Where callers may go on."""

    @contextmanager
    def one(self, caller: str, end: Callable[[], object] | None = None) -> Iterator[None]:
        """Hold one stream of a caller, whose `end` is called when the server stops.

        When there are as many as there may be, whoever has less than his share of them may have
        another, up to twice as many in all: nobody keeps the others out.

        Raises:
            Refused: there are as many as there may be, or the server stops.

        """
        self.check_serving()
        share = self._most // max(len(self._of_caller | Counter([caller])), 1)
        full = len(self._ends) >= self._most and self._of_caller[caller] >= share
        if full or len(self._ends) >= 2 * self._most:
            raise Refused(
                Reason.TOO_MANY_STREAMS,
                f"this server has {len(self._ends)} streams open and takes {self._most}",
                most=self._most,
            )
        stream = object()
        self._ends[stream] = end
        self._of_caller[caller] += 1
        self._changed(len(self._ends))
        try:
            yield
        finally:
            del self._ends[stream]
            self._of_caller[caller] -= 1
            if not self._of_caller[caller]:
                del self._of_caller[caller]
            self._changed(len(self._ends))

    def stop(self) -> None:
        """Let every stream end after what it has under way, and begin no other."""
        self.stopping.set()
        for end in list(self._ends.values()):
            if end is not None:
                end()

    def check_serving(self, **where: object) -> None:
        """Refuse to go on where the server stops; `where` says how far the stream came."""
        if self.stopping.is_set():
            raise stopping(self.elsewhere, **where)


def stopping(elsewhere: Sequence[str], **where: object) -> Refused:
    """Return what the callers of a server that stops are told."""
    metadata = dict(where)
    if elsewhere:
        metadata["elsewhere"] = ",".join(elsewhere)
    at = f"at {', '.join(elsewhere)}" if elsewhere else "at another"
    message = f"this server stops; go on {at}, or when it is back"
    return Refused(Reason.SERVER_STOPPING, message, field=None, **metadata)
