"""What tests of metrics share."""

from __future__ import annotations

import pytest

from tests.support.metrics import Watched


@pytest.fixture
def watched():
    """Return metrics of a registry of their own."""
    return Watched()


@pytest.fixture
def metrics(watched):
    """Return those metrics alone."""
    return watched.metrics
