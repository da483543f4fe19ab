"""Names, units and help are as operations expect them; labels come from closed sets."""

from __future__ import annotations

import re

import pytest

BASE_UNITS = ("seconds", "bytes", "ratio", "minor_units")
THINGS = {
    "gauge": {"calls", "streams", "commands", "position", "events", "rounds", "ledgers", "tables"},
    "counter": {
        "bets",
        "calls",
        "commands",
        "conflicts",
        "events",
        "failures",
        "refusals",
        "requests",
        "settled",
        "snapshots",
        "started",
        "turns",
        "voided",
    },
    "histogram": {"commands", "events"},
}
"""What is counted in itself, and has no unit beside it."""

NO_UNIT = {"croupier_ledger_fenced", "croupier_engine_not_as_required"}
"""1 or 0."""

NOT_BASE = {
    *("ms", "us", "ns", "millis", "milliseconds", "microseconds", "minutes", "hours", "days"),
    *("kb", "mb", "kilobytes", "megabytes", "percent", "cents", "euros"),
}

CLOSED = {
    "bound",
    "code",
    "currency",
    "durability",
    "engine",
    "game",
    "kind",
    "ledger",
    "method",
    "outcome",
    "paytable",
    "python",
    "reason",
    "result",
    "version",
}


@pytest.fixture
def declared(metrics):
    return metrics.declared


def test_what_is_declared_is_what_is_shown(watched, declared):
    shown = {(family.name, family.type) for family in watched.registry.collect()}
    assert shown == {(one.name.removesuffix("_total"), one.type) for one in declared}


def test_names_have_the_services_prefix(declared):
    for one in declared:
        assert re.fullmatch(r"croupier_[a-z]+(_[a-z]+)*", one.name), one.name


def test_names_end_in_a_base_unit_or_in_what_is_counted(declared):
    for one in declared:
        name = one.name.removesuffix("_total")
        counted = name.rpartition("_")[2] in THINGS[one.type]
        known = name.endswith(BASE_UNITS) or name in NO_UNIT or name.endswith("_info")
        assert counted or known, name


def test_no_name_has_a_unit_that_is_not_a_base_unit(declared):
    for one in declared:
        assert NOT_BASE.isdisjoint(one.name.split("_")), one.name


def test_counters_end_in_total_and_nothing_else_does(declared):
    for one in declared:
        assert one.name.endswith("_total") == (one.type == "counter"), one.name


def test_no_name_ends_as_a_part_of_a_histogram_does(declared):
    for one in declared:
        assert not re.search(r"_(bucket|count|sum|created)$", one.name), one.name


def test_no_name_repeats_what_a_label_says(declared):
    for one in declared:
        # Gauges of a ledger, and of what an engine is, say so.
        words = set(one.name.split("_")) - {"ledger", "engine"}
        assert words.isdisjoint(one.labels), one.name


def test_help_is_a_sentence_that_ends_in_the_labels(watched, declared):
    families = watched.families()
    for one in declared:
        text = families[one.name.removesuffix("_total")].documentation
        assert text[0].isupper()
        assert " " in text
        labels = ", ".join(one.labels)
        assert text.endswith(f", by {labels}." if labels else "."), text
        assert text.count(".") == 1, text


def test_every_metric_stands_in_a_section(declared):
    assert all(one.section for one in declared)


def test_no_table_player_or_round_is_ever_a_label(declared):
    assert {label for one in declared for label in one.labels} == CLOSED


def test_only_gauges_are_labelled_by_ledger(declared):
    by_ledger = {one.name: one.type for one in declared if "ledger" in one.labels}
    assert set(by_ledger.values()) == {"gauge"}
    assert all(name.startswith("croupier_ledger_") for name in by_ledger)
