"""The options of banked cee-lo, its presets, and who may sit down."""

import pytest

from croupier.domain.errors import Reason, Refused
from croupier.domain.games import GAMES
from croupier.domain.games.ceelo_bank import GAME
from croupier.domain.games.options import resolve
from tests.support.ceelo import table

FINNISH = {
    "preset": "finnish",
    "payout": "even",
    "factor_456": 2,
    "factor_triples": 3,
    "factor_111": 5,
    "payout_applies_to": "winning_players",
    "over_bank_liability": "prefunded",
    "roll_rules": "standard",
    "reversed_inherits": True,
    "triples_lose": False,
    "bank_carry": "stand_or_add",
    "bank_precedence": "broken_first",
    "auto_loss_bank": "pass_left",
    "zero_fade": "banker_keeps",
    "resign": "allowed",
}
GERMAN = {
    **FINNISH,
    "preset": "german",
    "bank_carry": "fresh",
    "bank_precedence": "hot_first",
    "auto_loss_bank": "banker_choice",
}


def resolved(options):
    return resolve(GAME.options, GAME.presets, options)


def test_the_game_is_found_by_its_folder():
    assert GAMES["ceelo_bank"] is GAME
    assert (GAME.code, GAME.edition) == ("ceelo_bank", 1)


@pytest.mark.parametrize(
    "given, everything",
    [({}, FINNISH), ({"preset": "finnish"}, FINNISH), ({"preset": "german"}, GERMAN)],
    ids=["nothing", "finnish", "german"],
)
def test_every_option_is_written_out_when_a_table_opens(given, everything):
    assert resolved(given) == everything
    assert dict(table(**given).table.opened.options) == everything


@pytest.mark.parametrize("preset", ["finnish", "german"])
@pytest.mark.parametrize("option", GAME.options, ids=lambda option: option.name)
def test_every_option_can_be_set_to_each_of_its_values_over_a_preset(option, preset):
    values = option.choices or (
        (True, False) if isinstance(option.default, bool) else (option.least, option.most)
    )
    for value in values:
        options = resolved({"preset": preset, option.name: value})
        assert options[option.name] == value
        others = {name: v for name, v in options.items() if name != option.name}
        assert others.items() <= (GERMAN if preset == "german" else FINNISH).items()
        assert table(preset=preset, **{option.name: value}).view.phase == "BANK_OPEN"


@pytest.mark.parametrize(
    "given, reason, field",
    [
        ({"preset": "swedish"}, "INVALID_OPTION", "options.preset"),
        ({"payout": "double"}, "INVALID_OPTION", "options.payout"),
        ({"payout": True}, "INVALID_OPTION", "options.payout"),
        ({"factor_111": 0}, "INVALID_OPTION", "options.factor_111"),
        ({"factor_111": 1001}, "INVALID_OPTION", "options.factor_111"),
        ({"factor_111": "5"}, "INVALID_OPTION", "options.factor_111"),
        ({"factor_111": True}, "INVALID_OPTION", "options.factor_111"),
        ({"triples_lose": 1}, "INVALID_OPTION", "options.triples_lose"),
        ({"triples_lose": "true"}, "INVALID_OPTION", "options.triples_lose"),
        ({"off_table": "rethrow"}, "UNKNOWN_OPTION", "options"),
        ({"Payout": "even"}, "UNKNOWN_OPTION", "options"),
    ],
)
def test_what_is_no_option_is_refused(given, reason, field):
    with pytest.raises(Refused) as caught:
        table(**given)
    assert (caught.value.reason, caught.value.field) == (Reason[reason], field)


@pytest.mark.parametrize(
    "seats, banker, field",
    [
        ("A", "A", "seats"),
        ("AB", "C", "banker"),
        ("AB", "", "banker"),
        ("AA", "A", "seats"),
    ],
)
def test_two_players_or_more_sit_down_and_one_of_them_banks(seats, banker, field):
    with pytest.raises(Refused) as caught:
        table(seats=seats, banker=banker)
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEATS, field)


def test_a_table_may_be_as_long_as_a_table_can_be():
    at = table(seats=[f"p{number}" for number in range(64)], banker="p63")
    at.post(63)
    for number in range(63):
        at.fade(f"p{number}", 1)
    at.roll("p63", "123")
    assert at.state.last_rule == "broken"
    assert at.state.banker == "p0"
