"""Pages and their tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.domain.errors import Reason, Refused
from croupier.services.rpc import views
from croupier.v1 import values_pb2

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)


@given(WORDS, WORDS)
def test_a_page_token_leads_to_the_item_it_was_made_of(one: str, other: str):
    assert views.after_page("things", views.page_token("things", one)) == [one]
    token = views.page_token("pairs", one, other)
    assert views.after_page("pairs", token, parts=2) == [one, other]


def test_the_first_page_has_no_token():
    assert views.after_page("things", "") == [""]
    assert views.after_page("pairs", "", parts=2) == ["", ""]


@given(WORDS)
def test_the_token_of_another_list_is_refused(one: str):
    for collection, parts in (("others", 1), ("things", 2)):
        with pytest.raises(Refused) as refused:
            views.after_page(collection, views.page_token("things", one), parts)
        assert refused.value.reason is Reason.INVALID_PAGE_TOKEN


def test_a_page_has_a_hundred_items_unless_asked_otherwise():
    assert [views.page_size(asked) for asked in (0, 1, 1000)] == [100, 1, 1000]


def test_a_page_bounded_in_bytes_has_at_least_one_item():
    large = values_pb2.Value(string_value="x" * (views.PAGE_BYTES_MAX + 1))
    half = values_pb2.Value(string_value="x" * (views.PAGE_BYTES_MAX // 2 - 100))
    assert views.bounded([large, half]) == [large]
    assert views.bounded([half, half, half]) == [half, half]
    assert views.bounded([]) == []
