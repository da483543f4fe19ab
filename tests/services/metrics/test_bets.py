"""Bets and their theory: what was settled, and what the exact odds said of it beforehand."""

from __future__ import annotations

from fractions import Fraction

from croupier.domain.games import GAMES
from croupier.domain.games.theory import Bet
from croupier.services.metrics import OTHER, bets
from croupier.services.metrics.labels import PAYTABLES_MAX
from tests.support.metrics import event, opened

CUP, BANK = opened("fish_prawn_crab"), opened("ceelo_bank")
MACAU = ("fish_prawn_crab", "macau", "EUR")
BANKED = ("ceelo_bank", "finnish/german", "EUR")


def won(rule, stake, profit, round_number=1):
    """Return the payout of a bet that won `profit` to 1."""
    paid = event(
        "paid_out",
        ("escrow:t1", "player:a", stake),
        stake=stake,
        rule=rule,
        returned=stake,
        winnings=profit * stake,
        owed=profit * stake,
        odds={"profit": profit, "per": 1},
    )
    paid.round = round_number
    return paid


def lost(rule, stake, round_number=1):
    """Return the collection of a bet that lost."""
    gone = event("collected", stake=stake, amount=stake, rule=rule, odds={"profit": 1, "per": 1})
    gone.round = round_number
    return gone


def pushed(rule, stake):
    """Return what gives a stake back."""
    back = ("escrow:t1", "player:a", stake)
    return event("paid_out", back, rule=rule, stake=stake, returned=stake)


def money(watched, key):
    """Return stakes, wins and losses."""
    names = ("stakes", "wins", "losses")
    return tuple(watched.shown(f"bet_{name}_minor_units_total").get(key, 0) for name in names)


def theory(watched, key):
    """Return the expected wins and losses, and the variance."""
    names = ("expected_wins_minor", "expected_losses_minor", "variance_square_minor")
    return tuple(watched.shown(f"bet_{name}_units_total").get(key, 0) for name in names)


def test_bets_are_counted_by_how_they_ended(watched):
    watched.commit([lost("small", 7), won("big", 5, 1), won("triple_fish", 2, 150)], CUP)
    assert watched.shown("bets_total") == {(*MACAU, "won"): 2, (*MACAU, "lost"): 1}
    assert money(watched, MACAU) == (14, 305, 7)


def test_the_theory_is_that_of_all_bets_of_a_round_together(watched):
    watched.commit([lost("small", 7), won("big", 5, 1)], CUP)
    game = GAMES["fish_prawn_crab"]
    moments = game.moments(CUP.options, [Bet("small", 7), Bet("big", 5)])
    expected = (moments.won, moments.lost, moments.variance)
    assert theory(watched, MACAU) == tuple(map(float, expected))
    furthest = watched.shown("bet_furthest_deviation_minor_units")
    assert furthest == {MACAU: float(moments.furthest)}


def test_rounds_of_one_commit_are_thrown_apart(watched):
    one = Bet("small", 9)
    watched.commit([lost("small", 9, 1), won("small", 9, 1, 2)], CUP)
    moments = GAMES["fish_prawn_crab"].moments(CUP.options, [one])
    assert theory(watched, MACAU)[2] == 2 * float(moments.variance)
    together = GAMES["fish_prawn_crab"].moments(CUP.options, [one, one])
    assert together.variance == 4 * moments.variance


def test_a_push_is_a_bet_and_what_is_merely_handed_back_is_none(watched):
    handed_back = [
        pushed(rule, 5)
        for rule in ("uncovered_returned", "round_voided", "table_closed", "reserve_returned")
    ]
    watched.commit([pushed("equal_point", 40), *handed_back], BANK)
    assert watched.shown("bets_total") == {(*BANKED, "pushed"): 1}
    assert money(watched, BANKED) == (40, 0, 0)


def test_a_void_throw_decides_no_bet(watched):
    refunds = opened("fish_prawn_crab", void_bets="refund")
    watched.commit([pushed("throw_voided", 40), event("throw_voided")], refunds)
    assert watched.shown("bets_total") == {}


def test_a_win_counts_as_the_odds_say_also_where_the_bank_could_not_pay_it(watched):
    capped = won("triples", 10, 3)
    capped.paid_out.winnings = 12
    watched.commit([capped], opened("ceelo_bank", payout="multiplied"))
    assert list(watched.shown("bet_wins_minor_units_total").values()) == [30]
    assert list(watched.shown("winnings_minor_units_total").values()) == [12]


def test_a_loss_may_be_more_than_the_stake(watched):
    terms = opened("ceelo_bank", payout="multiplied", payout_applies_to="both_sides")
    gone = lost("banker_automatic_win", 10)
    gone.collected.amount = 50
    watched.commit([gone], terms)
    assert list(watched.shown("bet_losses_minor_units_total").values()) == [50]


def test_players_who_play_for_a_pot_bet_on_no_odds(watched):
    taken = event("paid_out", ("escrow:t1", "player:a", 30), rule="takes", winnings=30, owed=30)
    for game in ("ceelo_pot", "twelve_high"):
        watched.commit([taken, event("round_settled")], opened(game))
    assert watched.shown("bets_total") == {}
    assert watched.shown("payouts_minor_units_total") == {
        ("ceelo_pot", "EUR"): 30,
        ("twelve_high", "EUR"): 30,
    }


def test_a_fault_in_a_theory_hides_nothing_else(watched, monkeypatch):
    def broken(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(bets, "_moments_of", broken)
    watched.commit([lost("small", 7), event("round_settled")], CUP)
    assert watched.shown("rounds_settled_total") == {("fish_prawn_crab",): 1}
    assert watched.value("commands_total") == 1


def test_a_paytable_is_called_as_its_presets_or_by_its_digest(watched):
    own = opened("fish_prawn_crab", pays_small=2)
    for terms in (CUP, own, opened("fish_prawn_crab", min=5)):
        watched.commit([lost("small", 1)], terms)
    shown = watched.shown("bet_stakes_minor_units_total")
    assert shown == {
        MACAU: 2,
        ("fish_prawn_crab", own.paytable_digest.hex()[:8], "EUR"): 1,
    }


def test_paytables_beyond_the_limit_share_a_label(watched):
    for price in range(2, 2 + PAYTABLES_MAX + 5):
        watched.commit([lost("small", 1)], opened("fish_prawn_crab", pays_small=price))
    shown = watched.shown("bet_stakes_minor_units_total")
    assert len(shown) == PAYTABLES_MAX + 1
    assert shown["fish_prawn_crab", OTHER, "EUR"] == 5


def test_the_theory_of_a_table_is_what_its_places_return_by_the_exact_odds(watched, metrics):
    watched.commit([lost("lower_point", 5)], BANK)
    watched.commit([lost("small", 5)], CUP)
    assert watched.shown("theory_return_ratio") == {}  # it takes long, so it is not done there
    for _ in range(3):
        metrics.quote()
    places = [1 - quote.edge for quote in GAMES["fish_prawn_crab"].quotes(CUP.options)]
    fade = float(1 - Fraction(2, 81))
    assert watched.shown("theory_return_ratio") == {
        (*BANKED[:2], "least"): fade,
        (*BANKED[:2], "most"): fade,
        (*MACAU[:2], "least"): float(min(places)),
        (*MACAU[:2], "most"): float(max(places)),
    }


def test_tables_of_one_paytable_with_other_rules_widen_what_it_returns(watched, metrics):
    for lose in (False, True):
        watched.commit([lost("lower_point", 5)], opened("ceelo_bank", triples_lose=lose))
        metrics.quote()
    shown = watched.shown("theory_return_ratio")
    assert shown[*BANKED[:2], "least"] < shown[*BANKED[:2], "most"]
