"""A real Prometheus scrapes a real service under load: every panel and every alert has its data."""

from __future__ import annotations

import asyncio
import itertools
import math
from urllib.error import HTTPError

import pytest

from croupier.v1 import admin_pb2
from croupier.v1.tables_pb2 import OpenTableRequest
from tests.long_play import BANKROLL, HOUSE, PURSE, SEATS, Player
from tests.support.prometheus import Prometheus
from tests.support.serving import Client, refused
from tests.support.stories import create_ledger, deposit, withdraw
from tests.support.watching import alerts, panels, rules, selectors, shown
from tests.support.workers import Workers

DATA_TIMEOUT_S = 120
ROUNDS = 3

ONLY_WHEN_ASKED = {
    "croupier: engine and processes: Waiting for another process",
}
"""Panels that divide by what may not have happened: they may show that there is no number."""


class Either:
    """A caller whose requests go to one process and the other in turn; `table` is what he opens."""

    def __init__(self, clients):
        self._clients = itertools.cycle(clients)
        self.table = ""

    async def ask(self, request):
        if isinstance(request, OpenTableRequest):
            request.table_id = self.table
        return await next(self._clients).ask(request)


async def play_on(clients):
    """Play every game over and over, with a few requests that are refused, until cancelled."""
    either = Either(clients)
    await either.ask(create_ledger())
    for seat in SEATS:
        await either.ask(deposit(f"player:{seat}", PURSE))
    games = (await either.ask(admin_pb2.GetServerInfoRequest())).games
    for number in itertools.count():
        await either.ask(deposit(HOUSE, BANKROLL))
        await either.ask(withdraw(f"player:{SEATS[0]}", 1))
        await refused(either.ask(withdraw("player:nobody", 1)))
        for game in games:
            player = Player(either, game.code, seed=number)
            either.table = f"{game.code}-{number}"
            player.table = f"ledgers/casino/tables/{either.table}"
            await player.play(ROUNDS)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Workers(tmp_path_factory.mktemp("ledgers"), 2) as workers:
        yield workers


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory, service):
    targets = [f"127.0.0.1:{service.metrics_port + number}" for number in range(2)]
    with Prometheus(tmp_path_factory.mktemp("prometheus"), targets) as started:
        yield started


def without_data(prometheus, expressions):
    """Return those expressions that have no series, or no series with a number."""
    lacking = []
    for expression in expressions:
        values = [value for _, value in prometheus.query(expression)]
        if not values or all(map(math.isnan, values)):
            lacking.append(expression)
    return lacking


async def test_every_panel_and_every_alert_has_its_data(service, prometheus):
    clients = [Client(address) for address in service.addresses]
    load = asyncio.create_task(play_on(clients))
    optional = {
        target["expr"] for title in ONLY_WHEN_ASKED for target in panels()[title]["targets"]
    }
    wanted = [one for one in shown() if one not in optional]
    # In health no alert fires, so it is what it looks at that has to be there.
    wanted += sorted({one for rule in alerts() for one in selectors(rule["expr"])})
    wanted += [rule["record"] for rule in rules() if "record" in rule]
    try:
        async with asyncio.timeout(DATA_TIMEOUT_S):
            while wanted := await asyncio.to_thread(without_data, prometheus, wanted):
                if load.done():
                    load.result()
                await asyncio.sleep(0.5)
    except TimeoutError:
        pytest.fail(f"no data for {wanted}")
    finally:
        load.cancel()
        await asyncio.gather(load, return_exceptions=True)
        for client in clients:
            await client.channel.close()
    for one in optional:
        await asyncio.to_thread(prometheus.query, one)


def test_every_expression_of_an_alert_parses_and_none_fires_in_health(service, prometheus):
    for rule in alerts():
        assert prometheus.query(rule["expr"]) == [], rule["alert"]


def test_every_rule_is_evaluated_without_an_error(prometheus):
    groups = prometheus.api("rules")["groups"]
    states = {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}
    assert set(states) == {rule.get("record") or rule["alert"] for rule in rules()}
    assert set(states.values()) == {"ok"}


def test_an_expression_that_is_none_would_be_found(prometheus):
    with pytest.raises(HTTPError, match="400"):
        prometheus.query("sum by (ledger (croupier_ledger_fenced)")
    assert without_data(prometheus, ["croupier_no_such_series"]) == ["croupier_no_such_series"]
