"""Matches of Royal Casino for the golden log, of two, three and four; one with drawn decks.

`royal_casino.json` has decks and moves card by card, so the log does not depend on the order in
which moves are listed.
"""

from __future__ import annotations

import json
from pathlib import Path

from croupier.domain.card_commands import Deal, Shuffle
from croupier.domain.commands import Ante
from croupier.domain.dice import DRAWN, Source
from croupier.domain.draws import seal
from croupier.services.ledger.requests import OpenTable, Play, VoidRound
from tests.support.royal import move

MATCHES = json.loads(Path(__file__).with_name("royal_casino.json").read_text(encoding="utf-8"))
MACHINE = Source("device", "shuffler-7")
SERVICE = Source(DRAWN, "hmac-sha256")


def salts():
    """Return what gives fixed salts, one after the other, to events that hide something."""
    numbers = iter(range(1, 1_000_000))
    return lambda: next(numbers).to_bytes(16, "big")


def session():
    """Yield every command of the matches, and then of a round that is void in the middle."""
    for match in MATCHES:
        yield OpenTable(
            match["table"], "royal_casino", match["options"], tuple(match["seats"]), "EUR", ""
        )
        yield from (Play(match["table"], 1, command) for command in commands(match))
    yield from voided(MATCHES[0])


def commands(match):
    """Yield a match's commands; the deal and the turn go from seat to seat."""
    seats = match["seats"]
    antes = [Ante(seat, match["options"]["ante"]) for seat in seats]
    for hand, played in enumerate(match["hands"], 1):
        first = hand - 1
        dealer = seats[(first - 1) % len(seats)]
        nonce = hand.to_bytes(32, "big")
        if match["drawn"]:
            context = f"ledgers/main/tables/{match['table']}/rounds/1/hands/{hand}"
            yield Shuffle(dealer, hand, seal(nonce, context))
        if hand == 1:
            yield from antes
        if match["drawn"]:
            yield Deal(dealer, hand, (), SERVICE, nonce)
        else:
            yield Deal(dealer, hand, tuple(played["deck"].split()), MACHINE)
        for turn, text in enumerate(played["moves"]):
            yield move(seats[(first + turn) % len(seats)], text)


def voided(match):
    """Yield the beginning of another match, whose deck is known now and not used again."""
    table, seats, hand = match["table"], match["seats"], len(match["hands"]) + 1
    dealer = seats[(hand - 2) % len(seats)]
    for seat in seats:
        yield Play(table, 2, Ante(seat, match["options"]["ante"]))
    deck = match["hands"][0]["deck"].split()
    yield Play(table, 2, Deal(dealer, hand, tuple(reversed(deck)), MACHINE))
    yield VoidRound(table, 2, "a card lay face up")
