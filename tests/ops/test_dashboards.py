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
from tests.support.watching import alerts, panels, recorded, rules, selectors, shown
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


def without_data(prometheus, expressions):
    """Return those expressions that have no series, or no series with a number."""
    lacking = []
    for expression in expressions:
        values = [value for _, value in prometheus.query(expression)]
        if not values or all(map(math.isnan, values)):
            lacking.append(expression)
    return lacking


async def wait_for_data(prometheus, wanted, load):
    """Wait until every expression has had data once, as long as the load goes on."""
    try:
        async with asyncio.timeout(DATA_TIMEOUT_S):
            while wanted := await asyncio.to_thread(without_data, prometheus, wanted):
                if load.done():
                    load.result()
                await asyncio.sleep(0.2)
    except TimeoutError:
        pytest.fail(f"no data for {wanted}")


def check_rules(prometheus):
    """Check that every rule was evaluated, and that in health no alert would fire."""
    groups = prometheus.api("rules")["groups"]
    states = {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}
    assert set(states) == {rule.get("record") or rule["alert"] for rule in rules()}
    assert set(states.values()) == {"ok"}
    for rule in alerts():
        # What else fills this machine's disk meanwhile, nobody here knows.
        if rule["alert"] != "CroupierDiskFilling":
            assert prometheus.query(rule["expr"]) == [], rule["alert"]


def check_that_nothing_is_found_that_is_not_there(prometheus):
    """Check the check: what does not parse is refused, what does not exist has no data."""
    with pytest.raises(HTTPError, match="400"):
        prometheus.query("sum by (ledger (croupier_ledger_fenced)")
    assert without_data(prometheus, ["croupier_no_such_series"]) == ["croupier_no_such_series"]


async def test_every_panel_and_every_alert_has_its_data(tmp_path):
    optional = {
        target["expr"] for title in ONLY_WHEN_ASKED for target in panels()[title]["targets"]
    }
    wanted = [one for one in shown() if one not in optional]
    # In health no alert fires, so it is what it looks at that has to be there.
    wanted += sorted({one for rule in alerts() for one in selectors(rule["expr"])})
    wanted += sorted(recorded())
    with Workers(tmp_path / "ledgers", 2) as service:
        targets = [f"127.0.0.1:{service.metrics_port + number}" for number in range(2)]
        clients = [Client(address) for address in service.addresses]
        with Prometheus(tmp_path / "prometheus", targets) as prometheus:
            load = asyncio.create_task(play_on(clients))
            try:
                await wait_for_data(prometheus, wanted, load)
            finally:
                load.cancel()
                await asyncio.gather(load, return_exceptions=True)
                for client in clients:
                    await client.channel.close()
            await asyncio.to_thread(check_rules, prometheus)
            await asyncio.to_thread(check_that_nothing_is_found_that_is_not_there, prometheus)
            for one in optional:
                await asyncio.to_thread(prometheus.query, one)
