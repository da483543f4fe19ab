"""A frozen value with some fields changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")
Set = Callable[[Any, Any], None]


@cache
def _plan(cls: Any) -> tuple[Mapping[str, Set], tuple[Set, ...], Callable[[Any], tuple[Any, ...]]]:
    names = [field.name for field in fields(cls)]
    setters = {name: getattr(cls, name).__set__ for name in names}
    return setters, tuple(setters.values()), attrgetter(*names)


def evolve(value: T, **changes: Any) -> T:
    """Return a frozen dataclass with slots, two fields or more and no `__post_init__`, changed.

    `dataclasses.replace` says the same in twice the time, and folding an event is mostly this.
    """
    cls: Any = type(value)
    by_name, setters, fields_of = _plan(cls)
    new: T = object.__new__(cls)
    for put, old in zip(setters, fields_of(value), strict=True):
        put(new, old)
    for name, changed in changes.items():
        by_name[name](new, changed)
    return new
