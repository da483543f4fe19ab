"""One mapper between the domain's events and their messages, by field name.

Both sides are declared once, in `domain/events.py` and `events.proto`; how each field converts
follows from its type. A test walks every kind of event and fails where the two differ.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from google.protobuf.message import Message

from croupier.domain.event import (
    EVENTS,
    NAMES,
    Value,
)
from croupier.domain.events import (
    Event,
)
from croupier.domain.postings import Posting
from croupier.v1 import events_pb2, values_pb2

Convert = Callable[[Any], Any]

_FIELD_OF_TYPE: dict[str, str] = {
    field.message_type.full_name: field.name
    for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields
    if field.message_type is not None
}


class UnknownEventError(Exception):
    """A record holds a kind of event that this program does not know: a newer one wrote it."""


def kind_of(event: events_pb2.Event) -> str:
    """Return the kind of a stored event, as its field is called: "rolled", "paid_out", ..."""
    kind = event.WhichOneof("payload")
    if kind is None:
        msg = f"position {event.position} holds {event.type!r}, which this program does not know"
        raise UnknownEventError(msg)
    return kind


def payload_to_wire(event: Event) -> tuple[str, str, Message]:
    """Return the field, the permanent name and the message of a domain event."""
    kind: Any = type(event)
    name = NAMES[kind]
    return _FIELD_OF_TYPE[name], name, _encoder(kind)(event)


def payload_from_wire(event: events_pb2.Event) -> Event:
    """Return the domain event that a stored event holds.

    Raises:
        UnknownEventError: the program does not know this kind.

    """
    message = getattr(event, kind_of(event))
    decoded: Event = _decoder(EVENTS[message.DESCRIPTOR.full_name])(message)
    return decoded


def posting_to_wire(posting: Posting) -> events_pb2.Posting:
    """Return a posting as its message."""
    return events_pb2.Posting(
        source=posting.source,
        destination=posting.destination,
        currency=posting.currency,
        amount=posting.amount,
    )


def posting_from_wire(message: events_pb2.Posting) -> Posting:
    """Return the posting of a message."""
    return Posting(message.source, message.destination, message.currency, message.amount)


def value_to_wire(value: Value | tuple[int | str, ...]) -> values_pb2.Value:
    """Return a value of an option or of a game's state as its message."""
    if isinstance(value, bool):
        return values_pb2.Value(bool_value=value)
    if isinstance(value, int):
        return values_pb2.Value(int_value=value)
    if isinstance(value, str):
        return values_pb2.Value(string_value=value)
    listed = [value_to_wire(item) for item in value]
    return values_pb2.Value(list_value=values_pb2.ListValue(values=listed))


def value_from_wire(message: values_pb2.Value) -> Value | None:
    """Return the value of a message, None if it is empty or a list, which no option is."""
    kind = message.WhichOneof("kind")
    if kind is None or kind == "list_value":
        return None
    value: Value = getattr(message, kind)
    return value


def _same(value: Any) -> Any:
    return value


def _message_class(cls: type) -> type[Message]:
    """Return the message of an event or of a value inside one: they have the same name."""
    for module in (events_pb2, values_pb2):
        if found := getattr(module, cls.__name__, None):
            message: type[Message] = found
            return message
    msg = f"{cls.__name__} has no message"
    raise TypeError(msg)


def _is_nested(hint: Any) -> bool:
    return is_dataclass(hint)


def _nested_item(hint: Any) -> Any:
    """Return X where a field's type is `tuple[X, ...]` of messages, else None."""
    if get_origin(hint) is tuple and _is_nested(item := get_args(hint)[0]):
        return item
    return None


def _optional(hint: Any) -> Any:
    """Return X where a field's type is `X | None`, else None."""
    if get_origin(hint) not in (Union, types.UnionType):
        return None
    rest = [arg for arg in get_args(hint) if arg is not type(None)]
    return rest[0] if len(rest) == 1 else None


@cache
def _encoder(cls: Any) -> Convert:
    message_class = _message_class(cls)
    hints = get_type_hints(cls)
    plan = [(field.name, _encode_field(hints[field.name])) for field in fields(cls)]

    def encode(event: Any) -> Message:
        return message_class(**{name: convert(getattr(event, name)) for name, convert in plan})

    return encode


def _encode_field(hint: Any) -> Convert:
    if inner := _optional(hint):
        encode = _encoder(inner)
        return lambda value: None if value is None else encode(value)
    if get_origin(hint) is Mapping:
        return lambda value: {key: value_to_wire(item) for key, item in value.items()}
    if item := _nested_item(hint):
        each = _encoder(item)
        return lambda value: [each(one) for one in value]
    return _encoder(hint) if _is_nested(hint) else _same


@cache
def _decoder(cls: Any) -> Convert:
    hints = get_type_hints(cls)
    plan = [(field.name, _decode_field(field.name, hints[field.name])) for field in fields(cls)]

    def decode(message: Any) -> Any:
        return cls(**{name: convert(message) for name, convert in plan})

    return decode


def _decode_field(name: str, hint: Any) -> Convert:
    if inner := _optional(hint):
        decode = _decoder(inner)
        return lambda message: decode(getattr(message, name)) if message.HasField(name) else None
    if get_origin(hint) is Mapping:
        return lambda message: {
            key: value_from_wire(item) for key, item in getattr(message, name).items()
        }
    if item := _nested_item(hint):
        each = _decoder(item)
        return lambda message: tuple(map(each, getattr(message, name)))
    if get_origin(hint) is tuple:
        return lambda message: tuple(getattr(message, name))
    if _is_nested(hint):
        decode = _decoder(hint)
        return lambda message: decode(getattr(message, name))
    return lambda message: getattr(message, name)
