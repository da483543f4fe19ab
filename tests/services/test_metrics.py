"""The metrics: well named, bounded, and exact."""

from __future__ import annotations

import re
from importlib.metadata import version
from urllib.error import URLError
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client import CollectorRegistry

from croupier.domain.errors import Reason
from croupier.domain.games import GAMES
from croupier.domain.money import CURRENCIES
from croupier.services.metrics import LEDGERS_MAX, METHODS, OTHER, UNKNOWN, Metrics, serve
from croupier.v1 import events_pb2

UNITS = ("seconds", "minor_units", "commands", "events", "position", "ledgers", "tables")
COUNTED = (
    "calls",
    "conflicts",
    "refusals",
    "failures",
    "commands",
    "events",
    "minor_units",
    "snapshots",
)


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def metrics(registry):
    return Metrics(registry)


def families(registry):
    return {family.name: family for family in registry.collect()}


def series(registry):
    return sum(len(family.samples) for family in registry.collect())


def event(kind, *postings, **fields):
    stored = events_pb2.Event(stream="tables/t1", **{kind: fields})
    for source, destination, amount in postings:
        stored.postings.add(source=source, destination=destination, currency="EUR", amount=amount)
    return stored


def test_names_have_the_services_prefix_and_a_unit(registry, metrics):
    for name, family in families(registry).items():
        assert re.fullmatch(r"croupier_[a-z_]+", name)
        ends = (
            COUNTED if family.type == "counter" else (*UNITS, "calls", "streams", "fenced", "info")
        )
        assert name.endswith(ends), name


def test_no_name_has_a_unit_that_is_not_a_base_unit(registry, metrics):
    words = {word for name in families(registry) for word in name.split("_")}
    assert words.isdisjoint(
        {"ms", "us", "ns", "millis", "milliseconds", "minutes", "kb", "percent"}
    )


def test_counters_end_in_total_and_nothing_else_does(registry, metrics):
    for metric in set(registry._names_to_collectors.values()):
        names = {name for name, one in registry._names_to_collectors.items() if one is metric}
        is_counter = metric._type == "counter"
        assert any(name.endswith("_total") for name in names) == is_counter, names


def test_help_is_a_sentence_that_ends_in_the_labels(registry, metrics):
    for metric in set(registry._names_to_collectors.values()):
        text = metric._documentation
        assert text[0].isupper()
        assert " " in text
        labels = ", ".join(metric._labelnames)
        assert text.endswith(f", by {labels}." if labels else "."), text
        assert text.count(".") == 1, text


def test_no_table_player_or_round_is_ever_a_label(registry, metrics):
    labels = {
        name for metric in registry._names_to_collectors.values() for name in metric._labelnames
    }
    closed = {"method", "code", "reason", "kind", "game", "currency", "ledger"}
    assert labels == closed | {"version", "python"}


def test_only_gauges_are_labelled_by_ledger(registry, metrics):
    by_ledger = {
        metric._name: metric._type
        for metric in registry._names_to_collectors.values()
        if "ledger" in metric._labelnames
    }
    assert set(by_ledger.values()) == {"gauge"}
    assert all(name.startswith("croupier_ledger_") for name in by_ledger)


def test_series_are_bounded_whatever_is_asked(registry, metrics):
    for number in range(10_000):
        metrics.call_finished(f"PlayService/Guess{number}", "OK", f"REASON_{number}", 0.001)
        metrics.head(f"ledger-{number}", number, 0)
        metrics.fenced(f"ledger-{number}", fenced=False)
        metrics.trial_balance(f"ledger-{number}", f"C{number}", 0)
        metrics.queue_depth(f"ledger-{number}", 1)
        metrics.authentication_failed(f"REASON_{number}")
    bounded = series(registry)
    for number in range(10_000, 10_100):
        metrics.call_finished(f"PlayService/Guess{number}", "OK", f"REASON_{number}", 0.001)
        metrics.head(f"ledger-{number}", number, 0)
        metrics.trial_balance(f"ledger-{number}", f"C{number}", 0)
        metrics.authentication_failed(f"REASON_{number}")
    assert series(registry) == bounded < 1_000
    heads = families(registry)["croupier_ledger_head_position"].samples
    assert len(heads) == LEDGERS_MAX + 1
    assert {sample.labels["ledger"] for sample in heads} >= {OTHER}


@pytest.fixture
def crowded(metrics):
    """Return metrics that know as many ledgers as they name."""
    for number in range(LEDGERS_MAX):
        metrics.head(f"known-{number}", 1, 0)
    return metrics


def test_a_ledger_out_of_balance_shows_among_the_many(registry, crowded):
    labels = {"ledger": OTHER, "currency": "EUR"}

    def shown():
        return registry.get_sample_value("croupier_ledger_trial_balance_minor_units", labels)

    crowded.trial_balance("wrong", "EUR", -5)
    crowded.trial_balance("right", "EUR", 0)
    assert shown() == -5
    crowded.trial_balance("worse", "EUR", 9)
    assert shown() == 9
    crowded.trial_balance("worse", "EUR", 0)
    crowded.trial_balance("wrong", "EUR", 0)
    assert shown() == 0


def test_a_fenced_ledger_shows_among_the_many(registry, crowded):
    crowded.fenced("fenced", fenced=True)
    crowded.head("served", 3, 0)
    crowded.fenced("served", fenced=False)
    assert registry.get_sample_value("croupier_ledger_fenced", {"ledger": OTHER}) == 1


def test_the_ledger_with_most_unchecked_events_shows_among_the_many(registry, crowded):
    def shown():
        return registry.get_sample_value("croupier_ledger_unchecked_events", {"ledger": OTHER})

    crowded.unchecked("checked", 0)
    crowded.unchecked("long", 900)
    crowded.unchecked("short", 4)
    assert shown() == 900
    crowded.unchecked("long", 0)
    assert shown() == 4


def test_snapshots_are_counted_by_kind_and_reason_of_closed_sets(registry, metrics):
    metrics.snapshots_saved("table", 3)
    metrics.snapshots_saved("another", 1)
    metrics.snapshot_dropped("book", "stamp")
    metrics.snapshot_dropped("book", "another")
    value = registry.get_sample_value
    assert value("croupier_saved_snapshots_total", {"kind": "table"}) == 3
    assert value("croupier_saved_snapshots_total", {"kind": UNKNOWN}) == 1
    for reason in ("stamp", UNKNOWN):
        labels = {"kind": "book", "reason": reason}
        assert value("croupier_dropped_snapshots_total", labels) == 1


def test_of_the_many_the_furthest_head_shows(registry, crowded):
    crowded.head("long", 900, 50.0)
    crowded.head("short", 4, 60.0)
    value = registry.get_sample_value
    assert value("croupier_ledger_head_position", {"ledger": OTHER}) == 900
    assert value("croupier_ledger_head_time_seconds", {"ledger": OTHER}) == 60


def test_a_ledger_is_shown_as_served_from_its_first_head_and_as_fenced_after(registry, metrics):
    metrics.head("main", 1, 0)
    assert registry.get_sample_value("croupier_ledger_fenced", {"ledger": "main"}) == 0
    metrics.fenced("main", fenced=True)
    metrics.head("main", 2, 0)
    assert registry.get_sample_value("croupier_ledger_fenced", {"ledger": "main"}) == 1


def test_unknown_currencies_share_a_label(registry, metrics):
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
        metrics.committed([stored], 1, 0.001, lambda stream: "ceelo_bank")
    for name in ("stakes", "payouts", "deposits", "withdrawals", "winnings"):
        samples = families(registry)[f"croupier_{name}_minor_units"].samples
        counted = {s.labels["currency"]: s.value for s in samples if s.name.endswith("_total")}
        assert counted == {UNKNOWN: 10_000}, name


def test_every_currency_of_the_table_has_its_own_label(registry, metrics):
    for currency in CURRENCIES:
        metrics.trial_balance("main", currency, 0)
    samples = families(registry)["croupier_ledger_trial_balance_minor_units"].samples
    assert {sample.labels["currency"] for sample in samples} == set(CURRENCIES)


def test_codes_that_are_none_share_a_label(registry, metrics):
    for number in range(10_000):
        metrics.call_finished("PlayService/Play", f"CODE_{number}", "", 0.001)
    labels = {"method": "PlayService/Play", "code": UNKNOWN}
    assert registry.get_sample_value("croupier_calls_total", labels) == 10_000


def test_every_status_of_grpc_is_counted_as_itself(registry, metrics):
    for status in grpc.StatusCode:
        metrics.call_finished("PlayService/Play", status.name, "", 0.001)
    for status in grpc.StatusCode:
        labels = {"method": "PlayService/Play", "code": status.name}
        assert registry.get_sample_value("croupier_calls_total", labels) == 1, status


def test_games_that_are_none_share_a_label(registry, metrics):
    stored = event("faded", ("player:a", "escrow:t1", 2))
    for number in range(10_000):
        metrics.committed([stored], 1, 0.001, lambda stream, number=number: f"game-{number}")
    value = registry.get_sample_value
    assert value("croupier_events_total", {"kind": "faded", "game": UNKNOWN}) == 10_000
    staked = {"game": UNKNOWN, "currency": "EUR"}
    assert value("croupier_stakes_minor_units_total", staked) == 20_000


def test_every_game_is_counted_as_itself(registry, metrics):
    for game in GAMES:
        metrics.committed([event("rolled")], 1, 0.001, lambda stream, game=game: game)
    for game in GAMES:
        labels = {"kind": "rolled", "game": game}
        assert registry.get_sample_value("croupier_events_total", labels) == 1, game


def test_an_event_of_no_known_kind_is_counted_and_raises_nothing(registry, metrics):
    metrics.committed([events_pb2.Event()], 1, 0.001, lambda stream: "")
    labels = {"kind": UNKNOWN, "game": ""}
    assert registry.get_sample_value("croupier_events_total", labels) == 1


def test_every_kind_of_event_is_counted_as_itself(registry, metrics):
    kinds = [field.name for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields]
    for kind in kinds:
        stored = events_pb2.Event(stream="ledger")
        getattr(stored, kind).SetInParent()
        metrics.committed([stored], 1, 0.001, lambda stream: "")
    for kind in kinds:
        labels = {"kind": kind, "game": ""}
        assert registry.get_sample_value("croupier_events_total", labels) == 1, kind


def test_methods_are_those_of_the_service():
    assert "PlayService/Play" in METHODS
    assert not any(method.startswith("/") for method in METHODS)


def test_money_is_counted_to_the_minor_unit(registry, metrics):
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
    games = {"tables/t1": "ceelo_bank", "accounts/player:a": ""}
    metrics.committed(batch, 3, 0.004, games.__getitem__)

    def value(name, **labels):
        return registry.get_sample_value(f"croupier_{name}", labels)

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


def test_the_queue_is_the_sum_of_all_ledgers_and_returns_to_nothing(registry, metrics):
    metrics.queue_depth("a", 3)
    metrics.queue_depth("b", 9)
    metrics.queue_depth("b", 4)
    assert registry.get_sample_value("croupier_queue_commands") == 7
    metrics.queue_depth("a", 0)
    metrics.queue_depth("b", 0)
    assert registry.get_sample_value("croupier_queue_commands") == 0


def test_refusals_and_strangers_are_counted_by_reason(registry, metrics):
    metrics.call_finished("PlayService/Play", "FAILED_PRECONDITION", "NOT_YOUR_TURN", 0.001)
    metrics.authentication_failed("ROLE_NOT_ALLOWED")
    value = registry.get_sample_value
    assert value("croupier_refusals_total", {"reason": "NOT_YOUR_TURN"}) == 1
    assert value("croupier_authentication_failures_total", {"reason": "ROLE_NOT_ALLOWED"}) == 1


def test_every_reason_of_a_refusal_is_counted_as_itself(registry, metrics):
    for reason in Reason:
        metrics.call_finished("PlayService/Play", "INTERNAL", reason.value, 0.001)
    for reason in Reason:
        assert registry.get_sample_value("croupier_refusals_total", {"reason": reason.value}) == 1


def test_a_call_that_was_not_refused_raises_no_counter_of_refusals(registry, metrics):
    metrics.call_finished("PlayService/Play", "OK", "", 0.001)
    assert families(registry)["croupier_refusals"].samples == []
    labels = {"method": "PlayService/Play", "code": "OK"}
    assert registry.get_sample_value("croupier_calls_total", labels) == 1


def test_what_runs_is_told(registry, metrics):
    (sample,) = families(registry)["croupier_build_info"].samples
    assert sample.labels["version"] == version("croupier")
    assert sample.value == 1


def test_the_port_answers_until_it_is_closed(registry, metrics):
    server = serve(0, "127.0.0.1", registry)
    url = f"http://127.0.0.1:{server.port}/metrics"
    with urlopen(url) as response:
        assert b"croupier_build_info" in response.read()
    server.close()
    with pytest.raises(URLError, match="refused"):
        urlopen(url)
