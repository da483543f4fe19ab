"""Whether a disk has room, for errors that do not say that it has none."""

from __future__ import annotations

import shutil
from pathlib import Path

LITTLE_BYTES = 1_048_576
"""With less than that a ledger's file cannot be opened and written to."""


def hint(folder: Path) -> str:
    """Return what to add to an error where the disk of a folder is full, else nothing."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""
    return f" (the disk of {folder} has {free} bytes left)" if free < LITTLE_BYTES else ""
