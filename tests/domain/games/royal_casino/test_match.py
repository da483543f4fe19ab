"""A match from antes to pot: sweeps and leftovers in play, overtime, who is paid what."""

import random

import pytest

from croupier.domain.card_events import HandScored, LeftoversTaken, MatchWon, TableSwept
from croupier.domain.cards import PACK
from croupier.domain.events import Anted, Collected, PaidOut, RoundSettled, RoundStarted
from croupier.domain.games.royal_casino.state import ANTE, DEAL
from tests.support.play import each, only
from tests.support.royal import RoyalTable, last_card, turn

REST = [card for card in PACK if card not in ("KC", "10D", "2S")]


def ended(seats="AB", *, score, mine="10D 2S", **options):
    """Return a table after the last card of a hand, its events, and what everybody had before."""
    sides = 2 if seats == "ABCD" else len(seats)
    gone = {*mine.split(), "KC"}
    rest = [card for card in PACK if card not in gone]
    piles = [mine.split(), *(rest[side :: sides - 1] for side in range(sides - 1))]
    at = last_card(piles, "KC", seats=seats, score=score, **options)
    return at, at.play("trail KC")


# --- antes and the pot --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seats, score, nets",
    [
        ("AB", (19, 0), {"A": 70, "B": -70}),
        ("ABC", (19, 0, 0), {"A": 140, "B": -70, "C": -70}),
        ("ABC", (0, 0, 19), {"A": -70, "B": -70, "C": 140}),
        # Partners share four antes: each gets two back, one of them his own.
        ("ABCD", (19, 0), {"A": 70, "B": -70, "C": 70, "D": -70}),
        ("ABCD", (0, 19), {"A": -70, "B": 70, "C": -70, "D": 70}),
    ],
)
def test_the_winning_side_takes_the_pot_and_partners_share_it_equally(seats, score, nets):
    winner = score.index(19)
    sides = len(score)
    piles = [[card for card in PACK[:-2] if card != "10D"][side::sides] for side in range(sides)]
    piles[winner] = [*piles[winner], "10D"]
    at = last_card(piles, "KD", "QD", seats=seats, score=score, ante=70)
    before = at.worths()
    events = at.play("trail KD")
    assert {who: worth - before[who] for who, worth in at.worths().items()} == nets
    assert at.table.at_risk == 0
    assert only(events, MatchWon).players == at.state.players_of(winner)
    assert {one.player for one in each(events, Collected)} == {w for w in nets if nets[w] < 0}
    assert {one.rule for one in each(events, Collected)} == {"ante_lost"}
    for one in each(events, PaidOut):
        assert (one.rule, one.stake, one.returned) == ("big_casino", 70, 70)
        assert one.winnings == one.owed == nets[one.player]
    assert events[-1] == RoundSettled(round=1, carried=0)


def test_while_it_is_paid_the_pot_is_held_for_those_winners_who_are_not_paid_yet():
    at, _ = ended("ABCD", score=(19, 0), ante=70)
    held = []
    for table in at.history[-6:]:
        of = {}
        for one in table.holdings:
            of.setdefault(one.player, []).append(one.amount)
        held.append(of)
    # Won; the antes of B and D collected; A paid, then C; settled.
    assert held == [
        {"A": [70], "B": [70], "C": [70], "D": [70]},
        {"A": [70, 35], "C": [70, 35], "D": [70]},
        {"A": [70, 70], "C": [70, 70]},
        {"C": [70, 70]},
        {},
        {},
    ]


def test_antes_are_paid_in_any_order_and_with_the_last_one_the_deal_is_waited_for():
    at = RoyalTable(seats="ABC", ante=25)
    assert [one.player for one in at.view.allowed] == ["A", "B", "C", "C"]
    started, anted = at.ante("C")
    assert (type(started), anted) == (RoundStarted, Anted(player="C", amount=25))
    at.ante("A")
    assert (at.state.phase, at.view.to_act) == (ANTE, ("B",))
    at.ante("B")
    assert (at.state.phase, at.view.to_act, at.table.at_risk) == (DEAL, ("C",), 75)


def test_no_money_moves_on_captures_nor_on_hands():
    at = RoyalTable(seats="ABC")
    at.ante()
    while at.state.played < 2 and at.table.in_round:
        at.deal()
        at.play_out(random.Random(11))
    assert not each(at.events, PaidOut)
    assert not each(at.events, Collected)
    assert at.table.at_risk == 300
    assert set(at.worths().values()) == {1_000_000}


def test_a_void_match_returns_every_ante_wherever_it_was():
    at = RoyalTable(seats="ABCD")
    at.ante()
    at.deal()
    events = at.void("the wrong pack")
    assert [(one.player, one.returned) for one in each(events, PaidOut)] == [
        (seat, 100) for seat in "ABCD"
    ]
    assert at.table.at_risk == 0


def test_a_match_stays_to_be_seen_until_the_next_ante():
    at, events = ended(score=(19, 4))
    scores = only(events, HandScored).scores
    assert at.view.phase == ANTE
    assert at.view.details["points"] == tuple(one.after for one in scores)
    assert at.view.details["winners"] == ("A",)
    assert at.view.details["win_rule"] == "big_casino"
    assert [one.standing for one in at.view.seats] == ["won", "lost"]
    at.ante("B")
    assert at.view.details["points"] == (0, 0)
    assert at.view.details["winners"] == ()
    assert [one.standing for one in at.view.seats] == ["not_anted", "anted"]


# --- sweeps and leftovers in play ---------------------------------------------------------------


def test_the_last_capturer_takes_what_is_left_and_that_is_no_sweep():
    at = last_card([REST, ["10D"]], "KC", "2S").arrange(capturer="B")
    events = at.play("trail KC")
    assert only(events, LeftoversTaken) == LeftoversTaken(player="B", cards=("2S", "KC"))
    assert not each(events, TableSwept)
    assert at.board.piles[1] == ("10D", "2S", "KC")


def test_where_nothing_is_left_nobody_takes_anything():
    at = last_card([REST[1:], ["10D", "2S"]], "KC", REST[0]).arrange(loose=("KD",))
    assert not each(at.play("capture KC KD"), LeftoversTaken)


def test_a_sweep_with_the_last_card_of_the_pack_counts_unless_agreed_otherwise():
    piles = [[card for card in REST if card != "KD"], ["10D", "2S"]]
    events = last_card(piles, "KC", "KD").play("capture KC KD")
    assert only(events, TableSwept) == TableSwept(player="A", card="KC")
    assert only(events, HandScored).scores[0].sweeps == 1
    events = last_card(piles, "KC", "KD", final_sweep=False).play("capture KC KD")
    assert not each(events, TableSwept)
    assert only(events, HandScored).scores[0].sweeps == 0


def test_a_sweep_with_the_last_card_of_a_deal_but_not_of_the_pack_always_counts():
    at = turn("8S", "8D", last=True, final_sweep=False).arrange(stock=PACK[:8])
    assert only(at.play("capture 8S 8D"), TableSwept)


def test_after_a_sweep_the_next_player_can_only_trail():
    at = turn("8S 2C", "8D")
    at.play("capture 8S 8D")
    assert {type(one).__name__ for one in at.moves()} == {"Trail"}
    assert at.view.expects == ("trail",)


def test_partners_sweeps_are_added_and_not_cancelled():
    at = turn("8S 2C", "8D", seats="ABCD").arrange(sweeps=(1, 1))
    at.play("capture 8S 8D")
    assert at.board.sweeps == (2, 1)
    at.arrange(mover="C", loose=("9D",), hands=((), (), ("9S",), ("2H",)))
    at.play("capture 9S 9D")
    assert at.board.sweeps == (3, 1)


# --- the end of a match -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score, mine, rule",
    [
        ((18, 0), " ".join(REST[:30]), "most_cards"),
        ((19, 0), "10D", "big_casino"),
        ((20, 0), "2S", "little_casino"),
        ((17, 0), "10D AS AC", "target"),
    ],
)
def test_a_match_is_won_by_a_rule_that_is_named(score, mine, rule):
    at, events = ended(score=score, mine=mine)
    assert only(events, MatchWon) == MatchWon(side=0, players=("A",), rule=rule)
    assert at.state.win_rule == rule


def test_a_match_that_nobody_has_won_goes_on_with_the_next_deal():
    at, events = ended(score=(3, 3))
    assert not each(events, MatchWon)
    assert (at.state.phase, at.table.in_round) == (DEAL, True)
    assert at.view.expects == ("shuffle", "deal")


def test_equal_totals_lead_into_overtime_and_out_of_it():
    # 18 wins by most cards, 19 by Big Casino: both do, so it goes on.
    at, events = ended(score=(19, 18), mine="10D")
    assert only(events, HandScored).overtime
    assert not each(events, MatchWon)
    assert at.view.details["overtime"]
    assert at.view.details["conditions"] == ("", "")
    # A side alone ahead wins, by no condition.
    at.arrange(
        mover="A",
        number=at.state.hand,
        hands=(("KC",), ()),
        loose=(),
        stock=(),
        piles=(("10D",), ("3H",)),
        sweeps=(0, 0),
    )
    events = at.play("trail KC")
    assert only(events, MatchWon).rule == "overtime"


@pytest.mark.parametrize("seats", ["AB", "ABC", "ABCD"])
@pytest.mark.parametrize("drawn", [False, True])
def test_matches_follow_one_another(seats, drawn):
    at = RoyalTable(seats=seats)
    chance = random.Random(f"{seats}{drawn}")
    for number in range(1, 4):
        events = at.play_match(chance, drawn=drawn)
        assert only(events, MatchWon).players == at.state.winners
        assert (at.table.round, at.table.in_round, at.table.at_risk) == (number + 1, False, 0)
    at.close()
    assert sum(at.balances.values()) == at.money
