"""The gauges of ledgers: where many share a label, the worst of them shows."""

from __future__ import annotations

import pytest

from croupier.domain.money import CURRENCIES
from croupier.services.metrics import LEDGERS_MAX, OTHER, UNKNOWN
from croupier.services.metrics.labels import CURRENCIES_MAX

BALANCE = "ledger_trial_balance_minor_units"


@pytest.fixture
def crowded(metrics):
    """Return metrics that know as many ledgers as they name."""
    for number in range(LEDGERS_MAX):
        metrics.head(f"known-{number}", 1, 0)
    return metrics


def test_a_ledger_out_of_balance_shows_among_the_many(watched, crowded):
    def shown():
        return watched.value(BALANCE, ledger=OTHER, currency="EUR")

    crowded.trial_balance("wrong", "EUR", -5)
    crowded.trial_balance("right", "EUR", 0)
    assert shown() == -5
    crowded.trial_balance("worse", "EUR", 9)
    assert shown() == 9
    crowded.trial_balance("worse", "EUR", 0)
    crowded.trial_balance("wrong", "EUR", 0)
    assert shown() == 0


def test_a_currency_out_of_balance_shows_among_the_many(watched, metrics):
    several = list(CURRENCIES)[: CURRENCIES_MAX + 3]
    for currency in several:
        metrics.trial_balance("main", currency, 0)
    metrics.trial_balance("main", several[-2], 7)
    for currency in several[:-2] + several[-1:]:
        metrics.trial_balance("main", currency, 0)
    assert watched.shown(BALANCE) == {("main", OTHER): 7}
    metrics.trial_balance("main", several[-2], 0)
    assert watched.shown(BALANCE) == {}


def test_currencies_are_named_in_the_order_in_which_they_come(watched, metrics):
    several = list(CURRENCIES)[: CURRENCIES_MAX + 3]
    for currency in several:
        metrics.trial_balance("main", currency, 1)
    named = {currency for _, currency in watched.shown(BALANCE)}
    assert named == {*several[:CURRENCIES_MAX], OTHER}


def test_a_currency_that_is_none_shows_as_unknown(watched, metrics):
    metrics.trial_balance("main", "XYZ1", 4)
    metrics.trial_balance("main", "XYZ2", 0)
    assert watched.shown(BALANCE) == {("main", UNKNOWN): 4}


def test_a_fenced_ledger_shows_among_the_many(watched, crowded):
    crowded.fenced("fenced", fenced=True)
    crowded.head("served", 3, 0)
    crowded.fenced("served", fenced=False)
    assert watched.value("ledger_fenced", ledger=OTHER) == 1


def test_the_ledger_with_most_unchecked_events_shows_among_the_many(watched, crowded):
    crowded.unchecked("checked", 0)
    crowded.unchecked("long", 900)
    crowded.unchecked("short", 4)
    assert watched.value("ledger_unchecked_events", ledger=OTHER) == 900
    crowded.unchecked("long", 0)
    assert watched.value("ledger_unchecked_events", ledger=OTHER) == 4


def test_the_ledger_with_the_oldest_round_shows_among_the_many(watched, crowded):
    crowded.open_rounds("old", 1, 900.5)
    crowded.open_rounds("busy", 40, 2.0)
    assert watched.value("ledger_oldest_round_age_seconds", ledger=OTHER) == 900.5
    assert watched.value("ledger_open_rounds", ledger=OTHER) == 40
    crowded.open_rounds("old", 0, 0)
    assert watched.value("ledger_oldest_round_age_seconds", ledger=OTHER) == 2.0


def test_of_the_many_the_furthest_head_shows(watched, crowded):
    crowded.head("long", 900, 50.0)
    crowded.head("short", 4, 60.0)
    assert watched.value("ledger_head_position", ledger=OTHER) == 900
    assert watched.value("ledger_head_time_seconds", ledger=OTHER) == 60


def test_a_ledger_is_shown_as_served_from_its_first_head_and_as_fenced_after(watched, metrics):
    metrics.head("main", 1, 0)
    assert watched.value("ledger_fenced", ledger="main") == 0
    metrics.fenced("main", fenced=True)
    metrics.head("main", 2, 0)
    assert watched.value("ledger_fenced", ledger="main") == 1


def test_snapshots_are_counted_by_kind_and_reason_of_closed_sets(watched, metrics):
    metrics.snapshots_saved("table", 3)
    metrics.snapshots_saved("another", 1)
    metrics.snapshot_dropped("book", "stamp")
    metrics.snapshot_dropped("book", "another")
    metrics.snapshot_rechecked("book", same=True)
    metrics.snapshot_rechecked("table", same=False)
    assert watched.shown("saved_snapshots_total") == {("table",): 3, (UNKNOWN,): 1}
    dropped = {("book", "stamp"): 1, ("book", UNKNOWN): 1}
    assert watched.shown("dropped_snapshots_total") == dropped
    rechecked = {("book", "same"): 1, ("table", "different"): 1}
    assert watched.shown("rechecked_snapshots_total") == rechecked
