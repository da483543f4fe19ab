"""Counters and gauges are exact, whatever they are told."""

from __future__ import annotations

from importlib.metadata import version

import grpc
import pytest

from croupier.domain.errors import Reason
from croupier.domain.games import GAMES
from croupier.services.ledger.observer import Outcome, TurnEnd
from croupier.services.metrics import METHODS, UNKNOWN
from croupier.v1 import events_pb2
from tests.support.metrics import event, opened


def test_unknown_currencies_share_a_label(watched, metrics):
    moves = (
        ("stakes", "player:a", "escrow:t1"),
        ("payouts", "escrow:t1", "player:a"),
        ("deposits", "external", "player:a"),
        ("withdrawals", "player:a", "external"),
    )
    for number in range(10_000):
        stored = event("paid_out", winnings=1)
        for _, source, destination in moves:
            stored.postings.add(
                source=source, destination=destination, currency=f"C{number}", amount=1
            )
        watched.commit([stored], opened("ceelo_bank"))
    for name in ("stakes", "payouts", "deposits", "withdrawals", "winnings"):
        shown = watched.shown(f"{name}_minor_units_total")
        assert {labels[-1]: value for labels, value in shown.items()} == {UNKNOWN: 10_000}, name


def test_codes_that_are_none_share_a_label(watched, metrics):
    for number in range(10_000):
        metrics.call_finished("PlayService/Play", f"CODE_{number}", "", 0.001)
    labels = {"method": "PlayService/Play", "code": UNKNOWN}
    assert watched.value("calls_total", **labels) == 10_000


def test_every_status_of_grpc_is_counted_as_itself(watched, metrics):
    for status in grpc.StatusCode:
        metrics.call_finished("PlayService/Play", status.name, "", 0.001)
    for status in grpc.StatusCode:
        labels = {"method": "PlayService/Play", "code": status.name}
        assert watched.value("calls_total", **labels) == 1, status


def test_games_that_are_none_share_a_label(watched, metrics):
    stored = event("faded", ("player:a", "escrow:t1", 2))
    for number in range(10_000):
        watched.commit([stored], opened(f"game-{number}"))
    assert watched.value("events_total", kind="faded", game=UNKNOWN) == 10_000
    assert watched.value("stakes_minor_units_total", game=UNKNOWN, currency="EUR") == 20_000


def test_every_game_is_counted_as_itself(watched, metrics):
    for game in GAMES:
        watched.commit([event("rolled")], opened(game))
    for game in GAMES:
        labels = {"kind": "rolled", "game": game}
        assert watched.value("events_total", **labels) == 1, game


def test_an_event_of_no_known_kind_is_counted_and_raises_nothing(watched, metrics):
    watched.commit([events_pb2.Event()])
    labels = {"kind": UNKNOWN, "game": ""}
    assert watched.value("events_total", **labels) == 1


def test_every_kind_of_event_is_counted_as_itself(watched, metrics):
    kinds = [field.name for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields]
    for kind in kinds:
        stored = events_pb2.Event(stream="ledger")
        getattr(stored, kind).SetInParent()
        watched.commit([stored])
    for kind in kinds:
        labels = {"kind": kind, "game": ""}
        assert watched.value("events_total", **labels) == 1, kind


def test_methods_are_those_of_the_service():
    assert "PlayService/Play" in METHODS
    assert not any(method.startswith("/") for method in METHODS)


def test_money_is_counted_to_the_minor_unit(watched, metrics):
    batch = [
        event("deposited", ("external", "player:a", 101)),
        event("withdrawn", ("player:a", "external", 7)),
        event("bank_posted", ("player:a", "escrow:t1", 90), ("player:a", "escrow:t1", 180)),
        event("faded", ("player:b", "escrow:t1", 33)),
        event(
            "paid_out",
            ("escrow:t1", "player:b", 33),
            ("escrow:t1", "player:b", 40),
            ("escrow:t1", "player:b", 26),
            returned=33,
            winnings=40,
            top_up=26,
        ),
        # His own money returned is no win, and a collected stake never leaves escrow.
        event("paid_out", ("escrow:t1", "player:a", 60), returned=60),
        event("collected", amount=33),
        event("rolled"),
        event("rolled"),
    ]
    batch[0].stream = batch[1].stream = "accounts/player:a"
    tables = {"tables/t1": opened("ceelo_bank"), "accounts/player:a": None}
    metrics.committed(batch, 3, 0.004, tables.__getitem__)
    value = watched.value
    eur, game = {"currency": "EUR"}, {"game": "ceelo_bank"}
    assert value("deposits_minor_units_total", **eur) == 101
    assert value("withdrawals_minor_units_total", **eur) == 7
    assert value("stakes_minor_units_total", **eur, **game) == 90 + 180 + 33
    assert value("payouts_minor_units_total", **eur, **game) == 33 + 40 + 26 + 60
    assert value("winnings_minor_units_total", **eur, **game) == 40 + 26
    assert value("events_total", kind="rolled", **game) == 2
    assert value("events_total", kind="paid_out", **game) == 2
    assert value("events_total", kind="deposited", game="") == 1
    assert value("events_total", kind="deposited", **game) is None
    assert value("commands_total") == 3
    assert value("commit_batch_commands_sum") == 3
    assert value("commit_batch_events_sum") == len(batch)
    assert value("commit_seconds_sum") == 0.004


def test_the_queue_is_the_sum_of_all_ledgers_and_returns_to_nothing(watched, metrics):
    metrics.queue_depth("a", 3)
    metrics.queue_depth("b", 9)
    metrics.queue_depth("b", 4)
    assert watched.value("queue_commands") == 7
    metrics.queue_depth("a", 0)
    metrics.queue_depth("b", 0)
    assert watched.value("queue_commands") == 0


def test_refusals_and_strangers_are_counted_by_reason(watched, metrics):
    metrics.call_finished("PlayService/Play", "FAILED_PRECONDITION", "NOT_YOUR_TURN", 0.001)
    metrics.authentication_failed("ROLE_NOT_ALLOWED")
    assert watched.shown("refusals_total") == {("NOT_YOUR_TURN",): 1}
    assert watched.shown("authentication_failures_total") == {("ROLE_NOT_ALLOWED",): 1}


def test_every_reason_of_a_refusal_is_counted_as_itself(watched, metrics):
    for reason in Reason:
        metrics.call_finished("PlayService/Play", "INTERNAL", reason.value, 0.001)
    for reason in Reason:
        assert watched.value("refusals_total", reason=reason.value) == 1


def test_a_call_that_was_not_refused_raises_no_counter_of_refusals(watched, metrics):
    metrics.call_finished("PlayService/Play", "OK", "", 0.001)
    assert watched.shown("refusals_total") == {}
    labels = {"method": "PlayService/Play", "code": "OK"}
    assert watched.value("calls_total", **labels) == 1


def test_what_runs_is_told(watched, metrics):
    (sample,) = watched.families()["croupier_build_info"].samples
    assert sample.labels["version"] == version("croupier")
    assert sample.value == 1


def test_what_an_acknowledgement_means_is_told(watched, metrics):
    metrics.engines([("sqlite", "fsync", True)])
    metrics.queue_limit(10_000)
    assert watched.shown("engine_info") == {("sqlite", "fsync"): 1}
    assert watched.value("queue_limit_commands") == 10_000


def test_a_lost_race_is_counted(watched, metrics):
    metrics.commit_conflicted()
    assert watched.value("commit_conflicts_total") == 1


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_turn_is_counted_by_what_became_of_it(watched, metrics, outcome):
    metrics.turn_ended(TurnEnd(7, outcome, seconds=0.5, commit_s=0.25))
    assert watched.shown("turns_total") == {(outcome.value,): 1}
    assert watched.value("turn_seconds_total") == 0.5
    assert watched.value("turn_requests_total") == 7
    # What the engine took is known of what it committed.
    recorded = outcome is Outcome.RECORDED
    assert watched.value("store_commit_seconds_sum") == (0.25 if recorded else 0)
    assert watched.value("store_commit_seconds_count") == recorded


def test_what_other_processes_let_a_turn_wait_is_measured(watched, metrics):
    metrics.lock_waited(0.2)
    assert watched.value("lock_wait_seconds_sum") == 0.2


def test_the_room_that_is_left_is_told(watched, metrics):
    metrics.volume(3, 10)
    assert watched.value("data_free_bytes") == 3
    assert watched.value("data_size_bytes") == 10


def test_rounds_are_counted_as_begun_settled_and_void(watched):
    kinds = ["round_started"] * 3 + ["round_settled"] * 2 + ["round_voided"]
    watched.commit([event(kind) for kind in kinds], opened("ceelo_pot"))
    for name, count in (("started", 3), ("settled", 2), ("voided", 1)):
        assert watched.shown(f"rounds_{name}_total") == {("ceelo_pot",): count}


def test_what_may_page_somebody_is_there_from_the_start_so_that_its_first_rise_is_seen(watched):
    assert watched.value("refusals_total", reason="STORE_UNAVAILABLE") == 0
    assert watched.value("calls_total", method="PlayService/Play", code="INTERNAL") == 0
    assert watched.value("authentication_failures_total", reason="TOKEN_UNKNOWN") == 0
    assert watched.value("turns_total", outcome="failed") == 0
    assert watched.value("rechecked_snapshots_total", kind="book", result="different") == 0
    assert watched.value("dropped_snapshots_total", kind="table", reason="changed") == 0
    for game in GAMES:
        assert watched.value("rounds_voided_total", game=game) == 0
