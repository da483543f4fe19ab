"""Options of a game: declared as data, resolved once when a table opens, stored whole with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.event import (
    Value,
)

PRESET = "preset"
"""The option that names a preset; the other options given override it one by one."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its default, and either the `choices` or the bounds (`least`, `most`) of it.

    A boolean option has neither: its default is True or False.
    """

    name: str
    default: Value
    meaning: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0

    @property
    def values(self) -> tuple[Value, ...]:
        """Return what it can be, nothing for a number, which has bounds."""
        return (True, False) if isinstance(self.default, bool) else self.choices

    def check(self, value: Value) -> Value:
        """Return `value`, or refuse one that this option cannot have."""
        if isinstance(self.default, bool):
            fits, wanted = isinstance(value, bool), "true or false"
        elif isinstance(self.default, int):
            fits = type(value) is int and self.least <= value <= self.most
            wanted = f"a whole number from {self.least} to {self.most}"
        else:
            fits, wanted = value in self.choices, "one of " + ", ".join(self.choices)
        if not fits:
            raise Refused(
                Reason.INVALID_OPTION,
                f"option {self.name} is {wanted}, not {shown(str(value))}",
                field=f"options.{self.name}",
                option=self.name,
            )
        return value


def resolve(
    options: Sequence[Option],
    presets: Mapping[str, Mapping[str, Value]],
    given: Mapping[str, Value],
) -> dict[str, Value]:
    """Return every option's value: the default, overridden by the preset, overridden by `given`."""
    known = {option.name: option for option in options}
    for name in given:
        if name != PRESET and name not in known:
            raise Refused(
                Reason.UNKNOWN_OPTION,
                f"the game has no option {shown(name)}",
                field="options",
                option=name[:64],
            )
    first = next(iter(presets))
    preset = Option(PRESET, first, "a named set of options", choices=tuple(presets))
    chosen = str(preset.check(given.get(PRESET, first)))
    merged: dict[str, Value] = {PRESET: chosen}
    for name, option in known.items():
        value = given.get(name, presets[chosen].get(name, option.default))
        merged[name] = option.check(value)
    return merged
