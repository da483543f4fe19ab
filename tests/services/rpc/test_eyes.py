"""Whose hands a caller sees, by all its roles together."""

from __future__ import annotations

from itertools import combinations

import pytest

from croupier.domain.games.protocol import NOBODYS
from croupier.services.rpc.callers import LOCAL, Caller, Role

ANNA = frozenset({"anna"})
SEES_ALL = {Role.OPERATOR, Role.DEALER}


@pytest.mark.parametrize(
    "roles",
    [set(some) for count in range(len(Role) + 1) for some in combinations(Role, count)],
    ids=lambda roles: "+".join(sorted(roles)) or "none",
)
def test_dealers_and_operators_see_every_hand_terminals_their_own_and_all_others_none(roles):
    eyes = Caller("desk", frozenset(roles), players=ANNA).eyes
    if roles & SEES_ALL:
        assert eyes is None
    else:
        assert eyes == (ANNA if Role.PLAYER in roles else NOBODYS)


def test_without_a_token_file_everybody_sees_every_hand():
    assert LOCAL.eyes is None
    assert Caller("nobody", frozenset()).eyes == NOBODYS
