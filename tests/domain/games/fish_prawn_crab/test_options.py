"""What a table is opened with: bankroll, limits, prices."""

from pathlib import Path

import pytest

from croupier.domain.commands import PlaceBet
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    RoundStarted,
)
from croupier.domain.games import fish_prawn_crab, game_of
from croupier.domain.games.fish_prawn_crab.places import LINES
from croupier.domain.money import AMOUNT_MAX
from croupier.domain.names import HOUSE
from croupier.domain.table import open_table
from tests.support.cup import GAME, table
from tests.support.play import only

CUP = game_of(GAME)


def opening(**more):
    given = {
        "table_id": "t1",
        "game_code": GAME,
        "options": {},
        "seats": ("A", "B"),
        "currency": "EUR",
        "banker": "",
        "bankroll": 1_000,
    }
    return open_table(**given | more)


def test_the_house_banks_whether_it_is_named_or_not():
    assert opening() == opening(banker=HOUSE)
    assert (opening().banker, opening().bankroll) == (HOUSE, 1_000)


@pytest.mark.parametrize(
    "more, reason, field",
    [
        ({"bankroll": 0}, Reason.MISSING_FIELD, "bankroll"),
        ({"bankroll": -1}, Reason.AMOUNT_OUT_OF_RANGE, "bankroll"),
        ({"bankroll": AMOUNT_MAX + 1}, Reason.AMOUNT_OUT_OF_RANGE, "bankroll"),
        ({"banker": "A"}, Reason.INVALID_SEATS, "banker"),
        ({"seats": ("A", HOUSE)}, Reason.INVALID_SEATS, "seats"),
        ({"seats": ()}, Reason.INVALID_SEATS, "seats"),
        ({"options": {"min": 5, "max": 4}}, Reason.INVALID_OPTION, "options.max"),
        ({"options": {"min": 0}}, Reason.INVALID_OPTION, "options.min"),
        ({"options": {"pays_big": 0}}, Reason.INVALID_OPTION, "options.pays_big"),
        ({"options": {"void_bets": "keep"}}, Reason.INVALID_OPTION, "options.void_bets"),
        ({"options": {"withdraw": True}}, Reason.UNKNOWN_OPTION, "options"),
    ],
)
def test_what_opens_no_table(more, reason, field):
    with pytest.raises(Refused) as caught:
        opening(**more)
    assert (caught.value.reason, caught.value.field) == (reason, field)


@pytest.mark.parametrize("bankroll", [1, -1])
def test_where_a_player_banks_there_is_no_bankroll(bankroll):
    with pytest.raises(Refused) as caught:
        opening(game_code="ceelo_bank", banker="A", bankroll=bankroll)
    assert (caught.value.reason, caught.value.field) == (Reason.AMOUNT_OUT_OF_RANGE, "bankroll")


@pytest.mark.parametrize("stake", [10, 11, 50])
def test_stakes_within_the_table_s_limits_are_taken(stake):
    at = table(min=10, max=50).to("BETTING")
    at.bet("A", "big", stake)


@pytest.mark.parametrize(
    "stake, reason, limit",
    [
        (9, Reason.STAKE_BELOW_LIMIT, "10"),
        (51, Reason.STAKE_ABOVE_LIMIT, "50"),
        (AMOUNT_MAX, Reason.STAKE_ABOVE_LIMIT, "50"),
        (0, Reason.AMOUNT_OUT_OF_RANGE, None),
        (-5, Reason.AMOUNT_OUT_OF_RANGE, None),
        (AMOUNT_MAX + 1, Reason.AMOUNT_OUT_OF_RANGE, None),
    ],
)
def test_stakes_beyond_the_table_s_limits_are_refused(stake, reason, limit):
    at = table(min=10, max=50).to("BETTING")
    refusal = at.refused(PlaceBet("A", "big", stake), reason)
    assert (refusal.field, refusal.metadata.get("limit")) == ("place_bet.stake", limit)


def test_every_line_has_a_price_of_its_own_and_its_digest_is_in_each_round():
    digests = set()
    for line in LINES:
        at = table(**{f"pays_{line}": 999})
        at.to("COVERED")
        digests.add(only(at.events, RoundStarted).paytable_digest)
        paytable = CUP.paytable(at.table.opened.options)
        assert [name for name in LINES if paytable.odds(name).profit == 999] == [line]
    assert len(digests) == len(LINES) == 25


def test_a_price_of_the_table_s_own_is_paid():
    at = table(seats="A", pays_total_4=60, pays_three_armies_2=5)
    assert at.net({"A": "total_4 10, three_armies_fish 10"}, "112") == {"A": 650}


def test_every_price_can_be_as_high_as_any_and_still_be_covered():
    prices = {f"pays_{line}": 1000 for line in LINES}
    at = table(seats="A", bankroll=1_000, **prices).to("BETTING")
    at.bet("A", "big", 1)
    at.refused(PlaceBet("A", "big", 1), Reason.STAKE_ABOVE_LIMIT)


def test_the_options_are_the_ones_documented():
    page = (Path(fish_prawn_crab.__path__[0]) / "README.md").read_text()
    for option in CUP.options:
        if not option.name.startswith("pays_"):
            assert f"`{option.name}`" in page, option.name
    for line in LINES:
        assert f"`{line}`" in page, line
