"""Ratios for people: rounded exactly, whatever their sign."""

from __future__ import annotations

from fractions import Fraction

import pytest

from croupier.services.rpc.odds import decimal


@pytest.mark.parametrize(
    "exact, shown",
    [
        (Fraction(2, 81), "0.024691"),
        (Fraction(-19, 243), "-0.078189"),
        (Fraction(-1, 3_000_000), "0.000000"),
        (Fraction(150), "150.000000"),
        (Fraction(-1), "-1.000000"),
        (Fraction(1_999_999_9, 10_000_000), "2.000000"),
    ],
)
def test_a_ratio_is_shown_with_six_places(exact, shown):
    assert decimal(exact) == shown
