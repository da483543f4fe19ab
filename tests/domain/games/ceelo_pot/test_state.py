"""What the table shows and holds, and how facts fold into it."""

from croupier.domain.events import (
    Collected,
    PaidOut,
    Rolled,
)
from croupier.domain.games.ceelo_pot import GAME
from croupier.domain.games.protocol import Allowed, Holding
from croupier.domain.settlement import TAKES
from croupier.domain.table import TABLE_CLOSED, fold
from tests.support.play import each
from tests.support.pot import dice, table, throwing


def standings(at):
    return " ".join(f"{seat.player}:{seat.standing}" for seat in at.view.seats)


def test_every_seat_says_how_it_stands():
    at = table(shootout_ante="re_ante")
    at.ante("B")
    assert standings(at) == "A:to_ante B:anted C:to_ante"
    at.all_ante()
    at.throw("225")
    assert standings(at) == "A:thrown B:to_throw C:to_throw"
    at.throw("114 335")
    assert standings(at) == "A:to_ante B:out C:to_ante"
    at.ante("C")
    assert standings(at) == "A:to_ante B:out C:anted"
    at.ante("A")
    assert standings(at) == "A:to_throw B:out C:to_throw"
    at.throw("116 661")
    assert standings(at) == "A:to_ante B:to_ante C:to_ante"


def test_what_is_allowed_has_its_bounds():
    at = table()
    at.ante("B")
    assert at.view.allowed == (
        Allowed("A", "ante", "amount", 100, 100),
        Allowed("C", "ante", "amount", 100, 100),
    )
    at.all_ante()
    assert at.view.allowed == (Allowed("A", "roll", "dice", 3, 3),)


def test_the_details_follow_the_round():
    at = throwing("225 114 335 346")
    assert at.view.details == {
        "ante": 100,
        "pot": 300,
        "throwing": ("A", "C"),
        "readings": (),
        "shoot_outs": 1,
        "last_reading": "meaningless",
        "last_winner": "",
    }
    at.throw("661")
    assert at.view.details["readings"] == ("point_1",)
    at.throw("116")
    assert at.view.details == {
        "ante": 100,
        "pot": 0,
        "throwing": ("A", "B", "C"),
        "readings": (),
        "shoot_outs": 1,
        "last_reading": "point_6",
        "last_winner": "C",
    }
    at.ante("A")
    assert (at.view.details["shoot_outs"], at.view.details["last_reading"]) == (0, "")


def test_each_ante_is_its_players_until_the_winner_is_known():
    at = throwing("225 114")
    assert at.table.holdings == tuple(Holding(player, 100, "ante") for player in "ABC")
    assert [seat.stake for seat in at.view.seats] == [100, 100, 100]


def test_what_is_collected_is_the_winners_at_once():
    at = throwing("225 114")
    at.throw("226")
    seen = {
        type(event): table.holdings
        for event, table in zip(at.events, at.history, strict=True)
        if isinstance(event, Collected | PaidOut)
    }
    assert seen[Collected] == (Holding("C", 100, "ante"), Holding("C", 200, "pot"))
    assert seen[PaidOut] == ()


def test_the_winner_is_owed_all_that_is_in_the_pot():
    at = throwing("225 114")
    before = at.table
    rolled = Rolled(player="C", dice=dice("226"), source=at.events[-1].source, reading="point_6")
    owed = GAME.outcome(fold(before, rolled).state)
    assert [(claim.player, claim.stake) for claim in owed.claims] == [
        ("A", 100),
        ("B", 100),
        ("C", 100),
    ]
    assert [claim.result == TAKES for claim in owed.claims] == [False, False, True]
    assert GAME.outcome(before.state) is None


def test_a_table_that_gives_everything_back_holds_nothing():
    at = throwing("225 335 123", shootout_ante="re_ante")
    at.ante("B")
    held = [(held.player, held.amount) for held in at.table.holdings]
    assert held == [("A", 100), ("B", 200), ("C", 100)]
    at.record(
        [
            PaidOut(player=player, rule=TABLE_CLOSED, stake=amount, returned=amount)
            for player, amount in held[::-1]
        ]
    )
    assert at.table.holdings == ()


def test_a_table_closes_between_rounds_and_holds_nothing():
    at = table()
    at.play_round("225 226 123")
    assert each(at.close(), PaidOut) == []
    assert at.table.closed


def test_facts_of_other_players_and_other_games_fold_into_anything():
    at = throwing("225")
    stranger = Rolled(player="Z", dice=dice("456"), source=at.events[-1].source, reading="storm")
    for seen in at.history:
        GAME.fold(seen.state, stranger)
        GAME.fold(seen.state, PaidOut(player="Z", rule="pot", stake=1, returned=1))
