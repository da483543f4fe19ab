"""A frozen value with some fields changed is what the standard library would make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.domain.evolve import evolve


@dataclass(frozen=True, slots=True)
class Bet:
    player: str
    stake: int = 0
    result: str = ""


@given(st.text(), st.integers(), st.fixed_dictionaries({}, optional={"stake": st.integers()}))
def test_it_is_the_same_as_replace(player, stake, changes):
    bet = Bet(player, stake, "won")
    assert evolve(bet, **changes) == replace(bet, **changes)
    assert bet == Bet(player, stake, "won")
    assert hash(evolve(bet, **changes)) == hash(replace(bet, **changes))


def test_what_is_no_field_cannot_be_changed():
    with pytest.raises(KeyError):
        evolve(Bet("anna"), stakes=1)


def test_what_comes_out_is_frozen_too():
    with pytest.raises(AttributeError):
        evolve(Bet("anna"), stake=1).stake = 2
