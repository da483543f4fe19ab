"""The library's errors in place of the driver's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import (
    DataError,
    InterfaceError,
    InternalError,
    OperationalError,
    PersistenceError,
    ProgrammingError,
)
from redis import exceptions as theirs
from redis.sentinel import MasterNotFoundError

_PASSING = ("MISCONF", "NOREPLICAS", "BUSY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "UNBLOCKED")
"""Answers of a server that cannot do what is asked for now, but may be able to later."""


class UnansweredError(OperationalError):
    """No answer came: whether the server did what it was asked, nobody knows."""


def said(error: Exception) -> str:
    """Return an error in words, without what the driver tells of itself."""
    if isinstance(error, MasterNotFoundError):
        return "none of the Sentinels says where the master is"
    return str(error) or type(error).__name__


def translation(error: theirs.RedisError) -> PersistenceError:
    """Return the library's error for one of the driver's."""
    text = said(error)
    if isinstance(error, theirs.ConnectionError | theirs.TimeoutError):
        return UnansweredError(text)
    if isinstance(
        error,
        theirs.TryAgainError
        | theirs.ClusterDownError
        | theirs.SlotNotCoveredError
        | theirs.OutOfMemoryError
        | theirs.ReadOnlyError
        | theirs.MasterDownError,
    ) or text.startswith(_PASSING):
        return OperationalError(text)
    if isinstance(error, theirs.NoPermissionError):
        return InterfaceError(text)
    if "WRONGTYPE" in text:
        return DataError(f"a key of the ledger was replaced by another: {text}")
    if isinstance(error, theirs.DataError):
        return ProgrammingError(text)
    return InternalError(text)


@contextmanager
def translated() -> Iterator[None]:
    """Raise the library's errors in place of the driver's."""
    try:
        yield
    except theirs.RedisError as error:
        raise translation(error) from error
