"""Checks of the played tables against the record. Each returns in words what disagrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from croupier.services.store.mapper import kind_of
from croupier.v1.accounts_pb2 import GetTrialBalanceResponse
from croupier.v1.audit_pb2 import ReplayTableResponse
from croupier.v1.events_pb2 import Event
from croupier.v1.tables_pb2 import Table

Series = tuple[str, tuple[str, ...]]
"""The name of a counter and the values of its labels."""

EVENTS = "croupier_events_total"
PAYOUTS = "croupier_payouts_minor_units_total"
LABELS = {EVENTS: ("kind", "game"), PAYOUTS: ("game", "currency")}


def check_replay(
    steps: Sequence[ReplayTableResponse],
    shown: Table,
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> list[str]:
    """Compare a replayed table with the one that is served, and its postings with the balances.

    `before` and `after` are the balances of its players around all that happened at it.
    """
    wrong = [
        f"version {step.event.version}: {finding}" for step in steps for finding in step.findings
    ]
    if not steps:
        return ["nothing was replayed"]
    if steps[-1].table != shown:
        wrong.append("the state replayed is not the state served")
    moved: Counter[str] = Counter()
    for posting in (posting for step in steps for posting in step.event.postings):
        moved[posting.source] -= posting.amount
        moved[posting.destination] += posting.amount
    for player in before:
        change = after[player] - before[player]
        if change != (posted := moved[f"player:{player}"]):
            wrong.append(f"the balance of {player} changed by {change}, his postings by {posted}")
    held = sum(change for account, change in moved.items() if account.startswith("escrow:"))
    if held != shown.at_risk:
        wrong.append(f"escrow holds {held}, at risk is {shown.at_risk}")
    bankroll = sum(change for account, change in moved.items() if account.startswith("bankroll:"))
    if bankroll != shown.bankroll:
        wrong.append(f"the bankroll has {bankroll}, the table says {shown.bankroll}")
    return wrong


def check_trial_balance(balance: GetTrialBalanceResponse) -> list[str]:
    """Check that the balances of every currency sum to 0."""
    return [
        f"the balances in {one.currency} sum to {one.sum}, not to 0"
        for one in balance.currencies
        if one.sum
    ]


def count(events: Iterable[Event], games: Mapping[str, str]) -> Counter[Series]:
    """Return what the counters must have reached by events; `games` gives the game of a stream."""
    counted: Counter[Series] = Counter()
    for event in events:
        game = games.get(event.stream, "")
        counted[EVENTS, (kind_of(event), game)] += 1
        for posting in event.postings:
            paid = posting.source.startswith(("escrow:", "bankroll:"))
            if paid and posting.destination.startswith("player:"):
                counted[PAYOUTS, (game, posting.currency)] += posting.amount
    return counted


def check_metrics(counted: Mapping[Series, int], scraped: Mapping[Series, int]) -> list[str]:
    """Compare what the log counts with what the counters say."""
    return [
        f"{name} of {', '.join(filter(None, labels))} is {scraped.get((name, labels), 0)}, "
        f"the log has {counted.get((name, labels), 0)}"
        for name, labels in sorted({*counted, *scraped})
        if counted.get((name, labels), 0) != scraped.get((name, labels), 0)
    ]
