"""A codec between frozen values and the bytes of a snapshot, and the stamp of what wrote them.

How a value is written follows from its type hints: a class is the list of its fields, by their
order. The text does not describe itself: it is read only by whoever has the same stamp, which
covers the fields, their types and the rules that folded them.
"""

from __future__ import annotations

import json
import secrets
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import croupier.domain
from croupier.domain.games import GAMES, game_of
from croupier.domain.table import Table
from croupier.services.store import mapper

FORMAT = 1
"""The format of this codec."""

Convert = Callable[[Any], Any]
Codec = tuple[Convert, Convert]

_PLAIN = (int, str, bool, type(None))


def rules_digest() -> bytes:
    """Return the SHA-256 over all source that folds a table.

    That is the domain, and the mapper that reads records into facts. Where the source cannot be
    read, nobody else's digest is the same.
    """
    root = Path(croupier.domain.__path__[0])
    digest = sha256()
    try:
        found = sorted(root.rglob("*.py"))
        for path in (*found, Path(mapper.__file__)):
            name, source = path.name, path.read_bytes()
            if path != Path(mapper.__file__):
                name = path.relative_to(root).as_posix()
            digest.update(f"{name}:{len(source)}:".encode())
            digest.update(source)
    except OSError:
        found = []
    return digest.digest() if found else secrets.token_bytes()


# Taken now: what lies in the files when it is first needed may be a later version than what runs.
_RULES = rules_digest()


# --- values ---------------------------------------------------------------------------------------


def _failed(hint: Any, value: object) -> ValueError:
    return ValueError(f"{type(value).__name__} where {hint} was expected")


def _plain(kinds: tuple[Any, ...]) -> Codec:
    def check(value: Any) -> Any:
        if type(value) not in kinds:
            raise _failed(kinds, value)
        return value

    return check, check


def _bytes() -> Codec:
    def encode(value: Any) -> Any:
        if type(value) is not bytes:
            raise _failed(bytes, value)
        return value.hex()

    return encode, bytes.fromhex


def _tuple(hint: Any) -> Codec:
    args = get_args(hint)
    many = len(args) == 2 and args[1] is Ellipsis
    codecs = [codec_of(arg) for arg in (args[:1] if many else args)]

    def converted(kind: type[list[Any] | tuple[Any, ...]], at: int) -> Convert:
        converts = [codec[at] for codec in codecs]

        def convert(value: Any) -> list[Any]:
            if not isinstance(value, kind):
                raise _failed(hint, value)
            if many:
                return list(map(converts[0], value))
            return [one(item) for one, item in zip(converts, value, strict=True)]

        return convert

    decode = converted(list, 1)
    return converted(tuple, 0), lambda value: tuple(decode(value))


def _mapping(hint: Any) -> Codec:
    key, value_hint = get_args(hint)
    if key is not str:
        raise TypeError(f"{hint} has keys that are no strings")
    encode, decode = codec_of(value_hint)

    def convert(each: Convert) -> Convert:
        def converted(value: Any) -> dict[str, Any]:
            if not isinstance(value, Mapping) or not all(type(name) is str for name in value):
                raise _failed(hint, value)
            return {name: each(item) for name, item in value.items()}

        return converted

    return convert(encode), convert(decode)


def _dataclass(cls: Any) -> Codec:
    hints = get_type_hints(cls)
    plan = [(field.name, *codec_of(hints[field.name])) for field in fields(cls)]

    def encode(value: Any) -> list[Any]:
        if type(value) is not cls:
            raise _failed(cls, value)
        return [convert(getattr(value, name)) for name, convert, _ in plan]

    def decode(values: Any) -> Any:
        if type(values) is not list:
            raise _failed(cls, values)
        pairs = zip(plan, values, strict=True)
        return cls(**{name: convert(value) for (name, _, convert), value in pairs})

    return encode, decode


def _optional(hint: Any) -> Codec:
    """X | None for one X; a union of plain types needs nothing more than their check."""
    inner = [arg for arg in get_args(hint) if arg is not type(None)]
    if set(get_args(hint)) <= set(_PLAIN):
        return _plain(get_args(hint))
    if len(inner) != 1 or len(get_args(hint)) != 2:
        raise TypeError(f"{hint}: the bytes would not tell which of these it was")
    encode, decode = codec_of(inner[0])
    return (
        lambda value: None if value is None else encode(value),
        lambda value: None if value is None else decode(value),
    )


@cache
def codec_of(hint: Any) -> Codec:
    """Return the two ways of a type: from a value to what JSON has, and back.

    Both raise `ValueError` or `TypeError` where a value is not of the type.

    Raises:
        TypeError: there is no way back from JSON to this type.

    """
    if hint in _PLAIN or hint is None:
        return _plain((type(None) if hint is None else hint,))
    if hint is bytes:
        return _bytes()
    if get_origin(hint) in (Union, types.UnionType):
        return _optional(hint)
    if get_origin(hint) is tuple:
        return _tuple(hint)
    if get_origin(hint) is Mapping:
        return _mapping(hint)
    if is_dataclass(hint):
        return _dataclass(hint)
    raise TypeError(f"a snapshot holds no {hint}")


# --- tables ---------------------------------------------------------------------------------------


def _table_plan(game: Any) -> list[tuple[str, Codec]]:
    hints = get_type_hints(Table)
    hints["state"] = game.state_type
    return [(one.name, codec_of(hints[one.name])) for one in fields(Table) if one.name != "game"]


def table_to_json(table: Table) -> list[Any]:
    """Return a table as what JSON has.

    Raises:
        TypeError: its game has a state of a type that no snapshot holds.
        ValueError: a value of it is not of its field's type.

    """
    plan = _table_plan(table.game)
    return [table.game.code, *(encode(getattr(table, name)) for name, (encode, _) in plan)]


def table_from_json(values: Any) -> Table:
    """Return the table of such values.

    Raises:
        Exception: the values are not those of a table; which one depends on what they are.

    """
    code, *rest = values
    game = game_of(code)
    decoded = {
        name: decode(value)
        for (name, (_, decode)), value in zip(_table_plan(game), rest, strict=True)
    }
    return Table(game=game, **decoded)


def schema(hint: Any) -> str:
    """Return the names and types of all that a type holds, as text."""
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        inner = ",".join(f"{one.name}:{schema(hints[one.name])}" for one in fields(hint))
        name = hint.__qualname__ if isinstance(hint, type) else type(hint).__qualname__
        return f"{name}({inner})"
    args = ",".join(schema(arg) for arg in get_args(hint))
    return f"{get_origin(hint)}[{args}]" if args else str(hint)


@cache
def table_stamp() -> str:
    """Return the stamp of tables: the codec's format, every field, and the rules' source."""
    digest = sha256(_RULES)
    hints = get_type_hints(Table)
    for one in fields(Table):
        if one.name != "game":
            digest.update(f"{one.name}:{schema(hints[one.name])};".encode())
    for code, game in sorted(GAMES.items()):
        digest.update(f"{code}:{schema(game.state_type)};".encode())
    return f"table {FORMAT} {digest.hexdigest()}"


def to_bytes(values: Any) -> bytes:
    """Return what JSON has as bytes."""
    return json.dumps(values, separators=(",", ":")).encode()


def from_bytes(state: bytes) -> Any:
    """Return what such bytes hold; raises `ValueError` where they are none."""
    return json.loads(state)
