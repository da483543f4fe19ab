"""The service config that clients in every language are given: complete, and what our own does."""

from __future__ import annotations

import json

import grpc

from croupier.services.client import Patience, policy
from croupier.services.client.calls import RETRIED
from croupier.services.config import Settings
from croupier.services.rpc.permissions import ROLES
from tests.support.serving import METHODS

CONFIG = json.loads(policy.SERVICE_CONFIG)


def policy_of(path):
    """Return what gRPC takes for a method: the config that names it, else its service's."""
    _, service, method = path.split("/")
    for name in ({"service": service, "method": method}, {"service": service}):
        for one in CONFIG["methodConfig"]:
            if name in one["name"]:
                return one
    return None


def test_every_method_of_the_api_is_retried_where_no_server_could_be_asked():
    assert {one.path for one in METHODS.values()} <= set(ROLES)
    for one in METHODS.values():
        found = policy_of(one.path)
        assert found["waitForReady"] is True, one.path
        assert found["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE", "CANCELLED"]
        assert found["retryPolicy"]["maxAttempts"] == 5  # the library takes no more


def test_every_call_has_a_deadline_and_no_stream_that_goes_on_for_ever_has_one():
    endless = {"WatchEvents", "PlayStream", "ReplayTable"}
    for one in METHODS.values():
        has = "timeout" in policy_of(one.path)
        assert has == (one.path.rpartition("/")[2] not in endless), one.path


def test_nothing_is_hedged():
    assert "hedgingPolicy" not in policy.SERVICE_CONFIG


def test_our_own_client_goes_by_it():
    patience = Patience()
    assert patience.deadline_s == policy.TIMEOUT_S == 30.0
    assert (patience.pause_s, patience.pause_max_s) == (0.1, 2.0)
    assert {
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    } == RETRIED - policy.RETRIED_CODES


def test_no_server_gives_up_before_a_client_does():
    assert Settings().deadline_max_s >= policy.TIMEOUT_S


def test_pauses_grow_as_the_config_says():
    class Longest:
        @staticmethod
        def uniform(low, high):
            return high

    pauses = []
    for pause_s in _longest(Longest):
        pauses.append(pause_s)
        if len(pauses) == 7:
            break
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]


def _longest(random):
    from croupier.services.client import calls  # noqa: PLC0415

    before, calls._random = calls._random, random
    try:
        yield from Patience().pauses()
    finally:
        calls._random = before
