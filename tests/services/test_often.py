"""What happens with every call is a line a second, which says how often it was."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import OperationalError
from structlog.testing import capture_logs

from croupier.domain.errors import Reason
from croupier.services.often import EVERY_S, Often
from tests.support.ledgers import LEDGER, House, refused


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def test_the_first_is_said_at_once_and_the_next_a_second_later_with_those_between(clock):
    often = Often(clock)
    assert often.due("main") == 1
    assert [often.due("main") for _ in range(3)] == [0, 0, 0]
    clock.now_s += EVERY_S
    assert often.due("main") == 4
    assert often.due("main") == 0
    clock.now_s += 2 * EVERY_S
    assert often.due("main") == 2
    clock.now_s += EVERY_S
    assert often.due("main") == 1


def test_what_it_is_about_is_counted_apart(clock):
    often = Often(clock)
    assert often.due("main") == often.due("vip") == 1
    assert often.due("main") == 0


async def test_a_store_that_is_away_for_a_thousand_calls_is_a_line_and_not_a_thousand(tmp_path):
    class Away:
        def __init__(self, store):
            self._store = store
            self.is_away = False

        def __getattr__(self, name):
            return getattr(self._store, name)

        def look(self, keys):
            if self.is_away:
                raise OperationalError("no answer")
            return self._store.look(keys)

    stores = []

    def wrap(store):
        stores.append(Away(store))
        return stores[-1]

    house = House(tmp_path, wrap=wrap)
    await house.create()
    stores[0].is_away = True
    with capture_logs() as lines:
        for _ in range(1000):
            await refused(house.deposit("anna", 1), Reason.STORE_UNAVAILABLE)
    said = [line for line in lines if line["event"] == "store unavailable"]
    assert 1 <= len(said) < 100
    assert said[0] | {"ledger": LEDGER, "error": "no answer", "times": 1} == said[0]
    house.close()
