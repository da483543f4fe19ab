"""An engine by the text that names it on a command line."""

from __future__ import annotations

from pathlib import Path

from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Engine


class EngineNameError(Exception):
    """A text names no engine."""


def engine_at(place: str, *, make: bool) -> Engine:
    """Return the engine at a place: `sqlite:FOLDER`; what does not exist is made if it is to.

    Raises:
        EngineNameError: the text names no engine, or no folder that exists.
        OSError: the folder cannot be made or written.

    """
    scheme, colon, rest = place.partition(":")
    if scheme == "sqlite" and colon and rest:
        folder = Path(rest)
        if not make and not folder.is_dir():
            raise EngineNameError(f"{rest} is no folder")
        return SQLiteEngine(folder)
    raise EngineNameError(f"{place!r} names no engine: it is sqlite:FOLDER")
