"""How many series one process can have, whatever it is asked: a budget, and a hostile caller."""

from __future__ import annotations

from math import prod

from croupier.domain.errors import Reason
from croupier.domain.games import GAMES
from croupier.domain.games.theory import odds_based
from croupier.domain.money import CURRENCIES
from croupier.services.ledger.observer import Outcome
from croupier.services.ledger.snapshots import Drop
from croupier.services.metrics import LEDGERS_MAX, METHODS, OTHER
from croupier.services.metrics.declaring import SECONDS, SIZES
from croupier.services.metrics.labels import (
    BETS_MAX,
    CODES,
    CURRENCIES_MAX,
    DENIED,
    KINDS,
    PAYTABLES_MAX,
)
from tests.support.metrics import event, opened

BUDGET = 12_000
"""Series of one process at the very most. A common Prometheus holds some millions."""

BY_ODDS = [game for game in GAMES.values() if odds_based(game)]
PRESETS_MAX = max(len(game.presets) for game in GAMES.values())
BETS = BETS_MAX + len(BY_ODDS)
"""Of game, paytable and currency."""

# Each has one more than its set for what is unknown, or beyond a limit.
SIZE = {
    "method": len(METHODS) + 1,
    "code": len(CODES) + 1,
    "reason": len(Reason) + 1,
    "kind": len(KINDS) + 1,
    "game": len(GAMES) + 2,
    "currency": CURRENCIES_MAX + 2,
    "ledger": LEDGERS_MAX + 1,
    "outcome": len(Outcome),
    "result": 3,
    "bound": 2,
    "engine": 1,
    "durability": 1,
    "version": 1,
    "python": 1,
}
LESS = {
    "croupier_authentication_failures_total": len(DENIED) + 1,
    "croupier_dropped_snapshots_total": 3 * (len(Drop) + 1),
    "croupier_saved_snapshots_total": 3,
    "croupier_rechecked_snapshots_total": 3 * 2,
    "croupier_theory_return_ratio": len(BY_ODDS) * (PRESETS_MAX + PAYTABLES_MAX + 1) * 2,
}


def most(one):
    """Return how many series a metric can have."""
    if one.name in LESS:
        return LESS[one.name]
    if "paytable" in one.labels:
        return BETS * prod(SIZE[label] for label in one.labels[3:])
    each = {"histogram": len(SECONDS if one.name.endswith("seconds") else SIZES) + 3}
    return each.get(one.type, 1) * prod(SIZE[label] for label in one.labels)


def test_all_series_that_there_can_be_are_within_the_budget(metrics):
    by_name = {one.name: most(one) for one in metrics.declared}
    assert sum(by_name.values()) < BUDGET, by_name


def hostile(watched, number):
    """Tell metrics what no other has told them."""
    metrics, currencies = watched.metrics, list(CURRENCIES)
    currency = currencies[number // 50 % len(currencies)]
    metrics.call_finished(f"PlayService/Guess{number}", f"CODE{number}", f"REASON_{number}", 0.001)
    metrics.command_refused(f"REASON_{number}")
    metrics.authentication_failed(f"REASON_{number}")
    metrics.head(f"ledger-{number}", number, 0)
    metrics.fenced(f"ledger-{number}", fenced=False)
    metrics.trial_balance(f"ledger-{number}", f"C{number}", 0)
    metrics.trial_balance(f"ledger-{number}", currency, 0)
    metrics.open_rounds(f"ledger-{number}", 1, number)
    metrics.queue_depth(f"ledger-{number}", 1)
    metrics.snapshot_dropped(f"kind-{number}", f"reason-{number}")
    watched.commit([event("faded", ("player:a", "escrow:t", 1))], opened(f"game-{number}"))
    settled = event(
        "paid_out",
        ("escrow:t", "player:a", 2),
        currency=currency,
        stake=1,
        odds={"profit": 1, "per": 1},
        owed=1,
        rule="small",
    )
    cup = opened("fish_prawn_crab", currency, pays_small=1 + number % 50)
    watched.commit([settled, event("round_settled")], cup)


def test_series_stay_within_the_budget_whatever_is_asked(watched):
    for number in range(3_000):
        hostile(watched, number)
    bounded = watched.series()
    for number in range(3_000, 3_100):
        hostile(watched, number)
    assert watched.series() == bounded < BUDGET
    heads = watched.families()["croupier_ledger_head_position"].samples
    assert len(heads) == LEDGERS_MAX + 1
    assert {sample.labels["ledger"] for sample in heads} >= {OTHER}
    bets = watched.shown("bet_stakes_minor_units_total")
    assert sum(bets.values()) == 3_100
    assert len(bets) <= BETS
    assert ("fish_prawn_crab", OTHER, OTHER) in bets
