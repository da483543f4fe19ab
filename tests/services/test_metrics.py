"""The metrics: well named, bounded, and exact."""

from __future__ import annotations

import re

import pytest
from prometheus_client import CollectorRegistry

from croupier.services.metrics import LEDGERS_MAX, METHODS, Metrics
from croupier.v1 import events_pb2

UNITS = ("seconds", "minor_units", "commands", "events", "position", "ledgers", "tables")
COUNTED = ("calls", "refusals", "failures", "commands", "events", "minor_units")


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
        ends = COUNTED if family.type == "counter" else (*UNITS, "fenced")
        assert name.endswith(ends), name


def test_help_is_a_sentence_that_ends_in_the_labels(registry, metrics):
    for metric in set(registry._names_to_collectors.values()):
        text = metric._documentation
        assert text[0].isupper()
        labels = ", ".join(metric._labelnames)
        assert text.endswith(f", by {labels}." if labels else "."), text


def test_no_table_player_or_round_is_ever_a_label(registry, metrics):
    labels = {
        name for metric in registry._names_to_collectors.values() for name in metric._labelnames
    }
    assert labels == {"method", "code", "reason", "kind", "game", "currency", "ledger"}


def test_series_are_bounded_whatever_is_asked(registry, metrics):
    for number in range(10_000):
        metrics.call_finished(f"PlayService/Guess{number}", "OK", f"REASON_{number}", 0.001)
        metrics.head(f"ledger-{number}", number, 0)
        metrics.fenced(f"ledger-{number}", fenced=False)
        metrics.trial_balance(f"ledger-{number}", "EUR", 0)
    bounded = series(registry)
    for number in range(10_000, 10_100):
        metrics.call_finished(f"PlayService/Guess{number}", "OK", f"REASON_{number}", 0.001)
        metrics.head(f"ledger-{number}", number, 0)
    assert series(registry) == bounded
    heads = families(registry)["croupier_ledger_head_position"].samples
    assert len(heads) == LEDGERS_MAX + 1
    assert {sample.labels["ledger"] for sample in heads} >= {"other"}


def test_unknown_currencies_share_a_label(registry, metrics):
    for number in range(100):
        stored = event("faded")
        stored.postings.add(
            source="player:a", destination="escrow:t1", currency=f"C{number}", amount=1
        )
        metrics.committed([stored], 1, 0.001, lambda stream: "ceelo_bank")
    samples = families(registry)["croupier_stakes_minor_units"].samples
    assert {sample.labels["currency"] for sample in samples} == {"unknown"}


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
        event("rolled"),
    ]
    games = {"tables/t1": "ceelo_bank"}
    metrics.committed(batch, 3, 0.004, games.__getitem__)

    def value(name, **labels):
        return registry.get_sample_value(f"croupier_{name}", labels)

    eur, game = {"currency": "EUR"}, {"game": "ceelo_bank"}
    assert value("deposits_minor_units_total", **eur) == 101
    assert value("withdrawals_minor_units_total", **eur) == 7
    assert value("stakes_minor_units_total", **eur, **game) == 90 + 180 + 33
    assert value("payouts_minor_units_total", **eur, **game) == 33 + 40 + 26
    assert value("winnings_minor_units_total", **eur, **game) == 40 + 26
    assert value("events_total", kind="rolled", **game) == 1
    assert value("commands_total") == 3
    assert value("commit_batch_commands_sum") == 3
    assert value("commit_batch_events_sum") == 6


def test_the_queue_is_the_sum_of_all_ledgers_and_returns_to_nothing(registry, metrics):
    metrics.queue_depth("a", 3)
    metrics.queue_depth("b", 4)
    assert registry.get_sample_value("croupier_queue_commands") == 7
    metrics.queue_depth("a", 0)
    metrics.queue_depth("b", 0)
    assert registry.get_sample_value("croupier_queue_commands") == 0


def test_refusals_and_strangers_are_counted_by_reason(registry, metrics):
    metrics.call_finished("PlayService/Play", "FAILED_PRECONDITION", "NOT_YOUR_TURN", 0.001)
    metrics.authentication_failed("TOKEN_UNKNOWN")
    value = registry.get_sample_value
    assert value("croupier_refusals_total", {"reason": "NOT_YOUR_TURN"}) == 1
    assert value("croupier_authentication_failures_total", {"reason": "TOKEN_UNKNOWN"}) == 1
