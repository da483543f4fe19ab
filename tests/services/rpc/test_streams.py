"""Long-lived streams: so many and no more, and nobody keeps the others out."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.services.rpc.streams import Streams


@pytest.fixture
def counted():
    return []


@pytest.fixture
def streams(counted):
    return Streams(4, counted.append)


def reason(streams, caller):
    with pytest.raises(Refused) as caught, streams.one(caller):
        pass
    return caught.value.reason


def test_one_caller_alone_may_have_them_all_and_no_more(streams, counted):
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(streams.one("desk"))
        assert reason(streams, "desk") is Reason.TOO_MANY_STREAMS
    assert counted == [1, 2, 3, 4, 3, 2, 1, 0]


def test_whoever_has_less_than_his_share_is_let_in_when_another_has_taken_all(streams):
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(streams.one("flood"))
        for _ in range(2):
            held.enter_context(streams.one("desk"))
        assert reason(streams, "desk") is Reason.TOO_MANY_STREAMS
        assert reason(streams, "flood") is Reason.TOO_MANY_STREAMS
    with streams.one("flood"):
        pass


def test_however_many_callers_come_there_are_never_twice_as_many(streams):
    opened = 0
    with ExitStack() as held:
        for number in range(20):
            try:
                held.enter_context(streams.one(str(number)))
            except Refused:
                continue
            opened += 1
    assert 4 <= opened <= 8


def test_when_the_server_stops_every_stream_is_told_and_none_begins(streams):
    told = []
    with streams.one("desk", lambda: told.append("desk")), streams.one("screen"):
        streams.stop()
        assert told == ["desk"]
        assert reason(streams, "desk") is Reason.SERVER_STOPPING
