"""The reference of metrics is written from them."""

from __future__ import annotations

from pathlib import Path

from croupier.services.metrics import reference

PAGE = Path(__file__).parents[3] / "docs/metrics.md"


def test_the_committed_page_is_what_the_program_declares():
    assert PAGE.read_text() == reference.text(), "run python -m croupier.services.metrics.reference"


def test_the_page_has_every_metric_once(metrics):
    for one in metrics.declared:
        assert reference.text().count(f"| `{one.name}` | {one.type} |") == 1
