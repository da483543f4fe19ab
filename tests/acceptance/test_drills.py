"""Failure drills on real Redis servers: nothing that was promised is lost, and it is soon over."""

from __future__ import annotations

import pytest

from tests.drills.crowd import CALLERS
from tests.drills.every import DRILLS

SOON_S = 30
AWAY = {"STORE_UNAVAILABLE"}


@pytest.mark.parametrize("name", ["kill", "stop", "cut", "full", "cluster"])
async def test_a_server_that_fails_and_comes_back_costs_time_and_nothing_else(tmp_path, name):
    report = await DRILLS[name](tmp_path)
    assert report.lost == 0
    assert report.ended == "by itself"
    assert report.reasons <= AWAY
    assert report.durability == {"fsync"}
    assert report.recovery_s < SOON_S


@pytest.mark.parametrize(
    "name, durability",
    [("failover", "fsync+replicas:1"), ("failover-disk", "fsync+replicas_fsync:1")],
)
async def test_a_failover_keeps_what_replicas_had_acknowledged(tmp_path, name, durability):
    """Whether the ledger is fenced depends on what was under way: nobody was told of that.

    A replica that does not answer in time is said to have not; such an acknowledgement may be lost.
    """
    report = await DRILLS[name](tmp_path)
    assert durability in report.durability
    assert report.durability <= {durability, "fsync"}
    assert durability not in report.lost_durability
    assert report.reasons <= AWAY | {"LEDGER_FENCED"}
    assert report.recovery_s < SOON_S


async def test_a_failover_that_nobody_waited_for_is_at_least_noticed(tmp_path):
    """How much is lost is up to the network: mostly nothing here, where it takes no time."""
    report = await DRILLS["failover-async"](tmp_path)
    assert report.durability == {"fsync"}
    assert report.lost == 0 or report.ended == "by unfence"


async def test_a_failover_to_a_replica_that_lags_is_noticed_and_said_to_the_request(tmp_path):
    report = await DRILLS["failover-lag"](tmp_path)
    # 200 were acknowledged after the link was cut, but for those under way as it was.
    assert report.lost > 200 - 2 * CALLERS
    assert report.ended == "by unfence"
    assert "LEDGER_FENCED" in report.reasons
    assert report.durability == {"fsync"}
