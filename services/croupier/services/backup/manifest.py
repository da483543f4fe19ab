"""The manifest of a copy: what is in it, and how to know that it is still the same."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any, Self

from croupier.domain.names import is_id

FORMAT = 1
SUFFIX = ".manifest.json"


class BackupError(Exception):
    """A copy cannot be made, or is not what its manifest says; nothing was left behind."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a copy of a ledger holds. Times are UTC.

    The copy is a file of SQLite whatever `engine` the ledger was in.
    `position` and `root` (hexadecimal) are the log's size and tree; `recorded_time` is when its
    last event was recorded: what was acknowledged later is not in the copy. `bytes` and `sha256`
    are the file's.
    """

    format: int
    ledger: str
    engine: str
    file: str
    position: int
    root: str
    recorded_time: str
    format_version: int
    bytes: int
    sha256: str
    program: str
    made_time: str

    def save(self, folder: Path) -> Path:
        """Write the manifest into a folder, on disk when this returns, and return its path."""
        path = folder / f"{self.ledger}{SUFFIX}"
        text = json.dumps(asdict(self), indent=2) + "\n"
        write_whole(path, text.encode())
        return path

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the manifest in a file.

        Raises:
            BackupError: it cannot be read, or is none that this program understands.

        """
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BackupError(f"{path}: not a manifest: {error}") from error
        if not isinstance(said, dict):
            raise BackupError(f"{path}: not a manifest: no object")
        if (found := said.get("format")) != FORMAT:
            raise BackupError(f"{path}: format {found!r}, and this program reads {FORMAT}")
        return cls(**_checked(path, said))


def _checked(path: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    types = {
        name: {"int": int, "str": str}[str(of)] for name, of in Manifest.__annotations__.items()
    }
    if said.keys() != types.keys():
        odd = ", ".join(sorted(said.keys() ^ types.keys()))
        raise BackupError(f"{path}: missing or unknown: {odd}")
    for name, of in types.items():
        if type(said[name]) is not of:
            raise BackupError(f"{path}: {name} is {said[name]!r}")
    if not is_id(said["ledger"]) or said["file"] != Path(said["file"]).name:
        # Names become paths: none may lead out of its folder.
        raise BackupError(f"{path}: no ledger of that name, or no file of that name, can be")
    return dict(said)


def time_text(time_us: int) -> str:
    """Return microseconds since 1970 as text, UTC."""
    return datetime.fromtimestamp(time_us / 1_000_000, UTC).isoformat(timespec="microseconds")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, for its owner only, on disk on return."""
    beside = path.with_name(path.name + ".new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Wait until a file's content is on disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until a folder's names are on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
