"""A fair lock between processes on one machine: who lets go does not overtake who is next.

`flock` alone is not fair: who lets go and asks again at once usually wins against a process that
has yet to wake up. Here everybody first passes a turnstile, and a waiter keeps the turnstile until
he has the lock, so who lets go has to queue behind him. Who comes next to the turnstile is up to
the system, which wakes all who wait there: a turn should last longer than it takes to wake up.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FileLock:
    """A lock beside a file, held by this process until `release` or its death."""

    def __init__(self, beside: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._turnstile = os.open(beside.with_name(beside.name + ".next"), flags, 0o600)
        try:
            self._lock = os.open(beside.with_name(beside.name + ".lock"), flags, 0o600)
        except OSError:
            os.close(self._turnstile)
            raise

    def try_acquire(self) -> bool:
        """Take the lock if nobody has it or waits for it; return whether it was taken."""
        try:
            fcntl.flock(self._turnstile, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)
        return True

    def acquire(self) -> None:
        """Take the lock, waiting for it in turn."""
        fcntl.flock(self._turnstile, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)

    def release(self) -> None:
        """Give the lock back."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the lock and its files."""
        os.close(self._lock)
        os.close(self._turnstile)
