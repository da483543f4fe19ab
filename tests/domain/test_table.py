"""The aggregate: a table opens, counts its rounds, closes; what it refuses leaves it as it was."""

from dataclasses import replace

import pytest

from croupier.domain.commands import Fade, PostBank
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    FadeDeclined,
    PaidOut,
    RoundSettled,
    RoundStarted,
    TableClosed,
)
from croupier.domain.games import GAMES, game_of
from croupier.domain.table import SEATS_MAX, TABLE_CLOSED, fold, open_table, play
from tests.support.ceelo import table
from tests.support.play import each, only

OPENING = {
    "table_id": "t1",
    "game_code": "ceelo_bank",
    "options": {},
    "seats": ("A", "B"),
    "currency": "EUR",
    "banker": "A",
}


def opening(**changed):
    return open_table(**{**OPENING, **changed})


def refusal_of(act, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    return caught.value


# --- opening ---


def test_opening_writes_out_everything_that_the_game_rests_on():
    opened = opening(options={"preset": "german"})
    game = GAMES["ceelo_bank"]
    assert (opened.table, opened.game, opened.edition) == ("t1", "ceelo_bank", game.edition)
    assert (opened.seats, opened.currency, opened.banker) == (("A", "B"), "EUR", "A")
    assert set(opened.options) == {"preset", *(option.name for option in game.options)}
    assert opened.paytable_digest == game.paytable(opened.options).digest()


@pytest.mark.parametrize(
    "changed, reason, field",
    [
        ({"table_id": "t 1"}, "INVALID_ID", None),
        ({"table_id": ""}, "INVALID_ID", None),
        ({"game_code": "craps"}, "UNKNOWN_GAME", "game"),
        ({"currency": "XXX"}, "UNKNOWN_CURRENCY", "currency"),
        ({"seats": ()}, "INVALID_SEATS", "seats"),
        ({"seats": ("A",)}, "INVALID_SEATS", "seats"),
        ({"seats": ("A", "B", "A")}, "INVALID_SEATS", "seats"),
        ({"seats": ("A", "B", "house")}, "INVALID_SEATS", "seats"),
        ({"seats": ("A", "b b")}, "INVALID_ID", "seats"),
        (
            {"seats": ("A", *(f"p{n}" for n in range(SEATS_MAX)))},
            "INVALID_SEATS",
            "seats",
        ),
        ({"banker": "C"}, "INVALID_SEATS", "banker"),
        ({"options": {"payout": "much"}}, "INVALID_OPTION", "options.payout"),
        ({"options": {"colour": 1}}, "UNKNOWN_OPTION", "options"),
    ],
)
def test_a_table_that_cannot_be_is_not_opened(changed, reason, field):
    refusal = refusal_of(opening, **changed)
    assert (refusal.reason, refusal.field) == (Reason[reason], field)


def test_an_unknown_game_is_refused_with_those_there_are():
    refusal = refusal_of(game_of, "x" * 5000)
    assert refusal.metadata["games"] == ",".join(GAMES)
    assert len(refusal.message) < 300


# --- rounds and versions ---


def test_every_event_is_a_version():
    at = table()
    at.play_round(100, "B 100", "456")
    at.resign("A")
    assert [seen.version for seen in at.history] == list(range(1, len(at.events) + 1))


def test_a_round_starts_with_its_first_stake_and_settles_when_nothing_is_owed_from_it():
    at = table()
    played = at.play_round(100, "B 60, C 40", "224", "B 225, C 223")
    first, second, *_, last = played.events
    assert first == RoundStarted(round=1, paytable_digest=at.table.paytable.digest())
    assert type(second).__name__ == "BankPosted"
    assert last == RoundSettled(round=1, carried=80)
    assert [len(each(played.events, kind)) for kind in (RoundStarted, RoundSettled)] == [1, 1]
    assert (at.table.round, at.table.in_round, at.table.at_risk) == (2, False, 80)


def test_rounds_count_up():
    at = table()
    started = [
        only(at.play_round(10, "", "").events, RoundStarted).round,
        only(at.play_round(10, "B 10", "123").events, RoundStarted).round,
        only(at.play_round(10, "C 10", "456").events, RoundStarted).round,
    ]
    assert started == [1, 2, 3]


@pytest.mark.parametrize("number", [-1, 0, 1, 3])
def test_a_command_for_another_round_is_refused_with_the_round_there_is(number):
    at = table()
    at.play_round(10, "B 10", "456")
    refusal = at.refuses(PostBank("A", 1), round_number=number)
    assert (refusal.reason, refusal.field) == (Reason.ROUND_MISMATCH, "round")
    assert refusal.metadata == {"round": "2", "asked": str(number)}
    at.do(PostBank("A", 1), round_number=2)


def test_who_has_no_seat_plays_nothing():
    refusal = table().refuses(Fade("stranger", 1))
    assert (refusal.reason, refusal.field) == (Reason.NOT_SEATED, "player")


# --- closing ---


def test_a_table_closes_between_rounds_and_pays_out_what_it_still_holds():
    at = table()
    at.play_round(100, "B 60", "456")
    assert at.close() == (
        PaidOut(player="A", rule=TABLE_CLOSED, stake=120, returned=120),
        TableClosed(table="t1"),
    )
    assert (at.table.closed, at.table.at_risk) == (True, 0)
    assert sum(at.purse_of(seat) for seat in at.seats) == 4_000_000


@pytest.mark.parametrize("preset", ["finnish", "german"])
def test_a_table_that_holds_nothing_closes_without_a_payout(preset):
    fresh = table(preset=preset)
    assert fresh.close() == (TableClosed(table="t1"),)
    broken = table(preset=preset)
    broken.play_round(10, "B 10", "123")
    assert broken.close() == (TableClosed(table="t1"),)


def test_a_table_does_not_close_while_a_round_is_open():
    at = table()
    at.post(100)
    for go_on in (
        lambda: at.fade("B", 60),
        lambda: at.fade("C", 40),
        lambda: at.roll("A", "224"),
        lambda: at.roll("B", "225"),
    ):
        before = at.snapshot()
        assert refusal_of(at.close).reason is Reason.ROUND_OPEN
        assert at.snapshot() == before
        go_on()
    at.roll("C", "224")
    at.close()


def test_nothing_happens_at_a_closed_table():
    at = table()
    at.close()
    assert at.refuses(PostBank("A", 1)).reason is Reason.TABLE_CLOSED
    assert at.refuses(PostBank("stranger", 1), round_number=9).reason is Reason.TABLE_CLOSED
    assert refusal_of(at.close).reason is Reason.TABLE_CLOSED


# --- streams ---


def test_a_stream_begins_with_its_opening():
    with pytest.raises(ValueError, match="begins with TableOpened"):
        fold(None, TableClosed(table="t1"))


def test_a_stream_of_an_edition_that_is_not_known_is_not_read():
    opened = opening()
    with pytest.raises(ValueError, match="edition 2 was recorded, 1 is known"):
        fold(None, replace(opened, edition=opened.edition + 1))


def test_deciding_changes_nothing_until_the_events_are_folded():
    at = table()
    before = at.snapshot()
    assert play(at.table, PostBank("A", 1), 1) == play(at.table, PostBank("A", 1), 1)
    assert at.snapshot() == before


def test_a_game_that_does_not_come_to_rest_is_a_fault_and_no_endless_loop(monkeypatch):
    at = table()
    again = FadeDeclined(player="B")
    monkeypatch.setattr(type(at.table.game), "follow", lambda game, state: (again,))
    with pytest.raises(AssertionError, match="does not come to rest"):
        at.do(PostBank("A", 1))
