"""docs/scale.md says what the simulation says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from statistics import mean

import pytest

from tests.simulation import costs
from tests.simulation.__main__ import TABLES, put
from tests.simulation.tables import markdown

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/scale.md").read_text()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_page_has_the_table_that_the_program_prints(table):
    assert f"\n\n{markdown(table)}\n\n" in PAGE, "python -m tests.simulation docs/scale.md"


def test_a_table_is_put_in_place_of_the_one_with_its_head():
    page = "before\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nafter\n"
    table = "| a | b |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |"
    assert put(page, table) == f"before\n\n{table}\n\nafter\n"


def test_a_record_of_the_golden_log_is_about_as_large_as_planned():
    lines = (ROOT / "tests/golden/log.jsonl").read_text().splitlines()
    size = mean(len(base64.b64decode(json.loads(line)["state"])) for line in lines)
    assert size == pytest.approx(costs.RECORD_BYTES, rel=0.15)
