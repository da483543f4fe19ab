"""What makes a dataclass an event: frozen, with a permanent name that the log stores.

The name in `@event(...)` never changes and never refers to a module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Value = int | str | bool
T = TypeVar("T")

EVENTS: dict[str, type] = {}
"""Every kind of event by its permanent name."""

NAMES: dict[type, str] = {}
"""The permanent name of every kind of event."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(name: str) -> Callable[[type[T]], type[T]]:
    """Make a frozen event that the log knows as `name`."""

    def register(cls: type[T]) -> type[T]:
        frozen = dataclass(frozen=True, kw_only=True)(cls)
        if name in EVENTS:
            msg = f"two events are called {name}"
            raise ValueError(msg)
        EVENTS[name] = frozen
        NAMES[frozen] = name
        return frozen

    return register
