"""What operations see and are called for: dashboards, rules and runbooks fit the service."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from prometheus_client import CollectorRegistry, ProcessCollector

from tests.support.watching import (
    DEPLOY,
    OF_PROMETHEUS,
    OF_THE_PROCESS,
    ROOT,
    RULE_TESTS,
    RULES,
    RUNBOOKS,
    alerts,
    dashboards,
    groups,
    names,
    panels,
    recorded,
    rules,
    selectors,
    series,
    shown,
)

KNOWN = series() | OF_THE_PROCESS | OF_PROMETHEUS | recorded()

# --- dashboards -----------------------------------------------------------------------------------


def test_the_committed_dashboards_are_what_their_definition_says():
    module = dashboards()
    committed = {file: file.read_text() for file in module.FOLDER.glob("*.json")}
    assert committed == module.texts(), "run python deploy/grafana/dashboard.py"


def test_there_is_a_page_for_every_question():
    titles = {one.title for one in dashboards().DASHBOARDS}
    pages = ("overview", "throughput and latency", "money", "audit", "games", "engine")
    assert all(any(page in title for title in titles) for page in pages)


def test_every_series_of_the_dashboards_exists():
    for expression in shown():
        assert names(expression), expression
        assert names(expression) <= KNOWN, expression


def test_every_metric_of_the_service_is_on_a_dashboard_or_in_a_rule():
    text = "\n".join([*shown(), *(rule["expr"] for rule in rules())])
    named = {re.sub(r"_(bucket|sum|count)$", "", one) for one in names(text)}
    of_service = {re.sub(r"_(bucket|sum|count)$", "", one) for one in series()}
    assert of_service - named == set()


@pytest.mark.parametrize("one", dashboards().DASHBOARDS, ids=lambda one: one.uid)
def test_panels_do_not_overlap_and_are_numbered_apart(one):
    placed = dashboards().dashboard(one)["panels"]
    assert len({panel["id"] for panel in placed}) == len(placed)
    cells = [
        (x, y)
        for panel in placed
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < dashboards().COLUMNS


def test_every_panel_says_what_it_tells():
    for title, panel in panels().items():
        assert panel["description"].endswith("."), title
        assert panel["fieldConfig"]["defaults"]["unit"], title


def test_a_trial_balance_below_0_is_seen():
    for title in ("croupier: money: Trial balance", "croupier: overview: Books and fences"):
        assert "min" not in panels()[title]["fieldConfig"]["defaults"]
    # The worst of several is the one furthest from 0, on either side.
    overview = panels()["croupier: overview: Books and fences"]["targets"][0]["expr"]
    assert "abs(" in overview


def test_what_is_chosen_is_used_and_what_is_used_can_be_chosen():
    for one in dashboards().DASHBOARDS:
        text = json.dumps(dashboards().dashboard(one)["panels"])
        assert set(re.findall(r"\$(\w+)", text)) == set(one.choices), one.uid
        assert set(one.choices.values()) <= series()


def test_the_dashboards_data_source_is_provisioned():
    config = yaml.safe_load(
        (DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text()
    )
    uids = {source["uid"] for source in config["datasources"]}
    assert {panel["datasource"]["uid"] for panel in panels().values()} == uids


def test_the_client_library_tells_of_the_process_what_is_shown():
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    told = {sample.name for family in registry.collect() for sample in family.samples}
    assert told >= OF_THE_PROCESS


# --- rules ----------------------------------------------------------------------------------------


def test_every_series_of_the_rules_exists():
    for rule in rules():
        assert names(rule["expr"]), rule
        assert names(rule["expr"]) <= KNOWN, rule


def test_rules_record_under_names_with_their_level_and_operation():
    for name in recorded():
        assert re.fullmatch(r"croupier:[a-z_]+:(increase)?\d+[dhm]", name), name


def test_every_alert_says_how_bad_it_is_and_what_is_the_matter():
    for alert in alerts():
        assert re.fullmatch(r"Croupier[A-Z][A-Za-z]+", alert["alert"])
        assert alert["labels"]["severity"] in ("page", "ticket"), alert
        assert len(alert["annotations"]["summary"]) > len("something"), alert
        assert set(alert["annotations"]) == {"summary", "runbook_url"}, alert


def test_alerts_of_one_name_are_told_apart_by_their_labels():
    seen = [(alert["alert"], tuple(sorted(alert["labels"].items()))) for alert in alerts()]
    assert len(set(seen)) == len(seen)


def test_no_alert_names_a_table_a_player_or_a_round():
    for alert in alerts():
        shows = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
        assert shows.isdisjoint({"table", "player", "round"})


def test_prometheus_loads_the_rules_and_scrapes_the_default_port():
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    loaded = {file for one in config["rule_files"] for file in (DEPLOY / "prometheus").glob(one)}
    assert loaded == set(RULES)
    (job,) = config["scrape_configs"]
    jobs = {one for rule in rules() for one in re.findall(r'job="(\w+)"', rule["expr"])} | {
        one for text in shown() for one in re.findall(r'job="(\w+)"', text)
    }
    assert jobs == {job["job_name"]}


def test_the_band_of_a_return_is_the_one_that_is_proved():
    bands = [rule["expr"] for rule in rules() if "band" in rule.get("record", "")]
    assert len(bands) == 2
    for band in bands:
        z = int(re.search(r"(\d+) \* sqrt", band)[1])
        linear = int(re.search(r"(\d+) \* max", band)[1])
        assert (z, linear) == (6, z * z / 3)


# --- their tests and their pages ------------------------------------------------------------------


def tried():
    """Return the alerts that the tests of rules look at, by whether they are to fire."""
    fire, quiet = set(), set()
    for file in RULE_TESTS.glob("*.yml"):
        for test in yaml.safe_load(file.read_text())["tests"]:
            for look in test["alert_rule_test"]:
                (fire if look["exp_alerts"] else quiet).add(look["alertname"])
    return fire, quiet


def test_every_alert_is_tried_where_it_must_fire_and_where_it_must_not():
    fire, quiet = tried()
    assert fire == quiet == {alert["alert"] for alert in alerts()}


def test_every_file_of_rules_has_its_tests():
    assert {file.name for file in RULE_TESTS.glob("*.yml")} == {file.name for file in RULES}


def test_every_alert_has_its_page_and_every_page_its_alert():
    pages = {file.relative_to(ROOT).as_posix() for file in RUNBOOKS.glob("*.md")}
    named = {alert["annotations"]["runbook_url"] for alert in alerts()}
    assert pages - {"docs/runbooks/README.md"} == named


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_a_page_says_what_to_do_about_its_alert(alert):
    text = (ROOT / alert["annotations"]["runbook_url"]).read_text()
    assert f"`{alert['alert']}`" in text
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == ["What it means", "Look at", "Do", "Wake"]
    sections = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    assert all(section.strip() for section in sections)


def test_the_index_lists_every_page_with_how_bad_it_is():
    index = (RUNBOOKS / "README.md").read_text()
    row = r"^\| `(\w+)` \| (\w+) \| \[[^\]]+\]\(([\w-]+\.md)\) \|$"
    listed = re.findall(row, index, re.MULTILINE)
    worst = {alert["alert"]: "ticket" for alert in alerts()}
    worst |= {alert["alert"]: "page" for alert in alerts() if alert["labels"]["severity"] == "page"}
    page = {alert["alert"]: alert["annotations"]["runbook_url"] for alert in alerts()}
    assert {one: (how, f"docs/runbooks/{file}") for one, how, file in listed} == {
        name: (worst[name], page[name]) for name in worst
    }


def test_what_pages_name_exists():
    titles = {title.rpartition(": ")[2] for title in panels()}
    text = "\n".join(file.read_text() for file in RUNBOOKS.glob("*.md"))
    text = re.sub(r"\s+", " ", text)
    named = set(re.findall(r"(?<![*\w])\*([A-Z][^*]+)\*(?!\*)", text))
    assert named <= titles, named - titles
    known = series() | {one.removesuffix("_bucket") for one in series()}
    assert set(re.findall(r"`(croupier_\w+)", text)) <= known


def test_groups_are_called_apart():
    called = [group["name"] for file in RULES for group in groups(file)]
    assert len(set(called)) == len(called)
    assert selectors('rate(up{job="x"}[1m])') == {'up{job="x"}'}
