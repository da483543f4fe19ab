"""Waiting for something to be so, in a test that is not a coroutine."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic

LONGEST_S = 30.0


def until(holds: Callable[[], object], longest_s: float = LONGEST_S) -> None:
    """Return as soon as something holds; fail if it does not in time."""
    deadline = monotonic() + longest_s
    while not holds():
        assert monotonic() < deadline, "it never came to be so"
        Event().wait(0.005)
