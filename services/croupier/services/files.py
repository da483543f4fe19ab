"""The files and folders that settings name: what is wrong with one is said in a person's words."""

from __future__ import annotations

import tempfile
from pathlib import Path


def read(path: Path, setting: str) -> bytes:
    """Return what is in the file that a setting names.

    Raises:
        OSError: it cannot be read; the message says which setting, which file and why.

    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise OSError(f"{setting}: {path} cannot be read: {error.strerror}") from error


def writable_folder(path: Path, setting: str) -> Path:
    """Return the folder that a setting names, made where there is none, once it takes files.

    Raises:
        OSError: it cannot be made or written; the message says which setting, which folder and why.

    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise OSError(f"{setting}: {path} is no folder") from error
    except OSError as error:
        raise OSError(f"{setting}: the folder {path} cannot be made: {error.strerror}") from error
    try:
        # Rights alone do not tell: the disk may be full, or mounted to be read only.
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OSError(
            f"{setting}: the folder {path} cannot be written by the user who serves: "
            f"{error.strerror}"
        ) from error
    return path
