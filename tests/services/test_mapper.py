"""The domain's events and their messages say the same, field by field."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.dice import Source
from croupier.domain.event import (
    EVENTS,
    NAMES,
)
from croupier.domain.money import Odds
from croupier.domain.postings import Posting
from croupier.services.store.mapper import (
    UnknownEventError,
    kind_of,
    payload_from_wire,
    payload_to_wire,
    posting_from_wire,
    posting_to_wire,
    value_from_wire,
    value_to_wire,
)
from croupier.v1 import events_pb2, values_pb2

INT64 = st.integers(-(2**63), 2**63 - 1).filter(bool)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
"""Never a field's default, so that a field which is lost is seen to be lost."""

BY_TYPE = {
    int: INT64,
    str: TEXT,
    bool: st.just(True),
    bytes: st.binary(min_size=1),
    Odds: st.builds(Odds, st.integers(1, 2**63 - 1), st.integers(1, 2**63 - 1)),
    Source: st.builds(Source, TEXT, TEXT),
    tuple[str, ...]: st.lists(TEXT, min_size=1).map(tuple),
    tuple[int, ...]: st.lists(st.integers(1, 6), min_size=1).map(tuple),
}
VALUE = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.text())


def set_to_anything(hint: Any) -> st.SearchStrategy[Any]:
    """Return values of a field's type, none of them its default."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (arg for arg in get_args(hint) if arg is not type(None))
    if get_origin(hint) is Mapping:
        return st.dictionaries(TEXT, VALUE, min_size=1)
    if hint in BY_TYPE:
        return BY_TYPE[hint]
    if get_origin(hint) is tuple:
        return st.lists(set_to_anything(get_args(hint)[0]), min_size=1, max_size=3).map(tuple)
    return all_fields_set(hint)


def all_fields_set(cls: type) -> st.SearchStrategy[Any]:
    """Return events or values inside events, each of them with every field set."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{name: set_to_anything(hint) for name, hint in hints.items()})


def events() -> st.SearchStrategy[Any]:
    """Return events of every kind, each of them with every field set."""
    return st.one_of(map(all_fields_set, EVENTS.values()))


def stored(event: Any) -> events_pb2.Event:
    """Return an event as it comes back from storage."""
    field, name, payload = payload_to_wire(event)
    message = events_pb2.Event(position=1, type=name, **{field: payload})
    return events_pb2.Event.FromString(message.SerializeToString())


@settings(deadline=None)  # the first of a kind builds its encoder
@given(events())
def test_every_event_comes_back_as_it_was(event: Any):
    assert payload_from_wire(stored(event)) == event


@pytest.mark.parametrize("cls", EVENTS.values(), ids=lambda cls: cls.__name__)
def test_every_field_of_an_event_is_written(cls: type):
    @settings(deadline=None, max_examples=20)
    @given(st.builds(cls, **{k: set_to_anything(h) for k, h in get_type_hints(cls).items()}))
    def check(event: Any) -> None:
        _, name, payload = payload_to_wire(event)
        assert name == NAMES[cls]
        assert {one.name for one, _ in payload.ListFields()} == {f.name for f in fields(cls)}
        assert payload_from_wire(stored(event)) == event

    check()


def test_what_is_optional_may_be_absent():
    paid = EVENTS["croupier.v1.PaidOut"](player="anna", rule="bank_left", stake=1, returned=1)
    message = stored(paid)
    assert not message.paid_out.HasField("odds")
    assert payload_from_wire(message) == paid


def assert_same_fields(cls: Any, descriptor: Descriptor) -> None:
    """Check that a domain type and a message have the same fields, and so has all inside them."""
    hints = get_type_hints(cls)
    assert {field.name for field in fields(cls)} == set(descriptor.fields_by_name), cls.__name__
    for name, hint in hints.items():
        if get_origin(hint) in (Union, types.UnionType):
            (hint,) = (arg for arg in get_args(hint) if arg is not type(None))  # noqa: PLW2901
        if is_dataclass(hint):
            assert_same_fields(hint, descriptor.fields_by_name[name].message_type)


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_has_the_fields_of_its_message_and_no_other(name: str):
    assert_same_fields(EVENTS[name], events_pb2.DESCRIPTOR.pool.FindMessageTypeByName(name))


def test_every_payload_of_the_record_is_an_event_of_the_domain():
    payloads = events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields
    assert {field.message_type.full_name for field in payloads} == set(EVENTS)
    assert len(payloads) == len(EVENTS)


def test_a_posting_has_the_fields_of_its_message():
    assert_same_fields(Posting, events_pb2.Posting.DESCRIPTOR)


@given(TEXT, TEXT, TEXT, st.integers(1, 2**63 - 1))
def test_a_posting_comes_back_as_it_was(source: str, destination: str, currency: str, amount: int):
    posting = Posting(source, destination + source, currency, amount)
    wire = events_pb2.Posting.FromString(posting_to_wire(posting).SerializeToString())
    assert posting_from_wire(wire) == posting


@given(VALUE)
def test_a_value_comes_back_as_it_was_and_of_its_type(value: bool | int | str):
    back = value_from_wire(value_to_wire(value))
    assert back == value
    assert type(back) is type(value)


def test_no_option_is_a_list_or_nothing():
    assert value_from_wire(values_pb2.Value()) is None
    assert value_from_wire(value_to_wire((1, "two"))) is None


def test_an_event_of_a_later_program_is_not_taken_for_another():
    later = events_pb2.Event(position=7, type="croupier.v1.Invented")
    for read in (kind_of, payload_from_wire):
        with pytest.raises(UnknownEventError, match=r"position 7 .*Invented"):
            read(later)
