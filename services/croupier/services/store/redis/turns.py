"""Writers of one ledger in several processes take turns, once they have met.

Nothing rests on it: what keeps the log right is the comparison of the head. But where somebody
else is always faster, a long turn would never be recorded, and each one in vain costs what it took.
So who lost a race asks to be next: for a limited time the server refuses the commits of all others,
who queue. A commit hands over to whoever waits longest. A writer that dies keeps the others waiting
for the rest of its time, and no longer.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from time import monotonic, sleep

from croupier.services.store.redis import scripts
from croupier.services.store.redis.keys import Keys
from croupier.services.store.redis.servers import Servers

CAREFUL = 64
"""For so many turns after a commit in vain a writer asks to be next, before it decides."""

LEAST_S, MOST_S = 0.25, 2.0
"""For how long a writer asks to be next: four times its last turn, within these bounds."""

NOTICE_S = 0.25
"""How long whoever waited has to notice that it is his turn."""

POLL_S = 0.002
"""How long a writer that waits does not ask, seconds; each time somewhat more or less."""

PATIENCE_S = 10.0
"""After so long it goes on, next or not: the server decides whose commit it takes."""


class Turns:
    """The turns of one writer."""

    def __init__(self, keys: Keys) -> None:
        self.name = secrets.token_hex(8)
        self._keys = (keys.head, keys.queue)
        self._careful = 0
        self._is_next = False
        self._began = 0.0
        self._took_s = 0.0

    @property
    def notice_ms(self) -> int:
        """Return how long the next one has to notice that he is, milliseconds."""
        return round(1000 * NOTICE_S)

    def lost(self) -> None:
        """Take note that a commit was in vain, since there are others."""
        self._careful = CAREFUL
        self._is_next = False

    def recorded(self) -> None:
        """Take note of a commit: with it the server has handed over."""
        if self._is_next:
            self._took_s = monotonic() - self._began
            self._is_next = False

    def begin(self, servers: Servers) -> bool:
        """Begin a turn, unless it is another writer's.

        Raises:
            PersistenceError: the server does not say whose it is.

        """
        if not self._careful:
            return True
        for_ms = round(1000 * min(max(4 * self._took_s, LEAST_S), MOST_S))
        self._began = monotonic()
        self._is_next = bool(
            servers.run(scripts.NEXT, self._keys, (self.name, for_ms, self.notice_ms))
        )
        self._careful -= self._is_next
        return self._is_next

    def wait(self, servers: Callable[[], Servers]) -> None:
        """Wait until a turn can begin. It blocks, for `PATIENCE_S` at most.

        Raises:
            PersistenceError: the server does not say whose turn it is.

        """
        until = monotonic() + PATIENCE_S
        while not self.begin(servers()) and monotonic() < until:
            sleep(POLL_S * random.uniform(0.5, 1.5))  # noqa: S311  # no secret

    def end(self, servers: Servers) -> None:
        """End a turn that recorded nothing.

        Raises:
            PersistenceError: the server does not answer; others wait for the rest of its time.

        """
        if self._is_next:
            self._is_next = False
            servers.run(scripts.RELEASE, self._keys, (self.name, self.notice_ms))
