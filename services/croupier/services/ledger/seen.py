"""How far each ledger's log was seen to reach, kept in files of this machine, apart from the logs.

A log that is restored or fails over may end earlier than it did, and says nothing about it. What is
written here now and then lets a process that starts afterwards notice. It is a net: what cannot be
read is as if nothing had been seen, and what cannot be written is written the next time.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from croupier.services.audit.tree import Frontier
from croupier.services.store.store import Head

logger = structlog.get_logger()

_NOTHING = Head()
_SUFFIX = ".json"


class Seen:
    """The furthest head of each ledger. Many processes may keep theirs in the same folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in `folder`, made if it does not exist; None remembers only.

        Raises:
            OSError: the folder cannot be made.

        """
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._noted: dict[str, Head] = {}

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers of which something was seen."""
        if self._folder is None:
            return list(self._noted)
        return [path.name.removesuffix(_SUFFIX) for path in self._folder.glob("*" + _SUFFIX)]

    def get(self, ledger: str) -> Head:
        """Return the furthest head of a ledger; an empty one if none was seen."""
        noted = self._noted.get(ledger, _NOTHING)
        return max(noted, self._read(ledger), key=lambda head: head.position)

    def note(self, ledger: str, head: Head) -> None:
        """Remember that a log was seen to reach a head, unless it was seen to reach further."""
        if head.position <= self._noted.get(ledger, _NOTHING).position:
            return
        with self._locked() as locked:
            if locked and (
                self._read(ledger).position >= head.position or self._write(ledger, head)
            ):
                self._noted[ledger] = head

    def accept(self, ledger: str, head: Head) -> None:
        """Remember this head in place of any that was further."""
        self._noted[ledger] = head
        with self._locked():
            self._write(ledger, head)

    # --- files -----------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Keep other processes from writing meanwhile; nobody waits for a lock here."""
        if self._folder is None:
            yield True
            return
        try:
            lock = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            logger.warning("heads that were seen cannot be kept", error=str(error))
            yield False
            return
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked = True
            except OSError:  # somebody has it, or the folder knows no locks
                locked = False
            yield locked
        finally:
            os.close(lock)

    def _path(self, folder: Path, ledger: str) -> Path:
        return folder / (ledger + _SUFFIX)

    def _read(self, ledger: str) -> Head:
        if self._folder is None:
            return _NOTHING
        path = self._path(self._folder, ledger)
        try:
            said = json.loads(path.read_bytes())
            frontier = Frontier.from_bytes(said["position"], bytes.fromhex(said["frontier"]))
            return Head(frontier, int(said["recorded_us"]))
        except FileNotFoundError:
            return _NOTHING
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            logger.error("a head that was seen cannot be read", file=str(path), error=str(error))  # noqa: TRY400  # a broken file has no traceback to learn from
            return _NOTHING

    def _write(self, ledger: str, head: Head) -> bool:
        """Put a head in its file, whole or not at all; return whether it is there."""
        if self._folder is None:
            return True
        path = self._path(self._folder, ledger)
        said = {
            "position": head.position,
            "root": head.frontier.root.hex(),  # for people: it follows from the frontier
            "recorded_us": head.recorded_us,
            "frontier": head.frontier.to_bytes().hex(),
        }
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            part.touch(0o600)
            part.write_text(json.dumps(said) + "\n")
            part.replace(path)
        except OSError as error:
            logger.warning("a head that was seen cannot be kept", ledger=ledger, error=str(error))
            return False
        return True
