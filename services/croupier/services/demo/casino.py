"""Matches of Royal Casino, and the automatic players who play them by what the service lists.

A player sees what lies open and the list of his legal moves. He takes what is worth most, with an
eye for sweeps, builds where that promises more, and else trails what is worth least.
"""

from __future__ import annotations

from hashlib import sha256

from croupier.domain.cards import SPADES, Card, rank_of, suit_of
from croupier.domain.draws import deck_of
from croupier.services.client import Client, Turn
from croupier.services.demo.script import Outcome, Round, Session
from croupier.v1.play_pb2 import PlayRequest
from croupier.v1.receipts_pb2 import Receipt
from croupier.v1.tables_pb2 import AllowedCommand, Table

SHUFFLER = ("device", "shuffler-1")
"""Where the decks come from that are brought."""

CASINO = Session(
    key="casino",
    title="Royal Casino, two players: the service shuffles",
    story="Each hand's deck is shuffled by the service, which commits to it before anybody stakes "
    "or sees a card, and reveals it when the hand has been counted. Nobody knows who will win.",
    seats=("anna", "bert"),
    currency="EUR",
    purse=5_000,
    game="royal_casino",
    options={"ante": 1_000},
    rounds=(),
)

PARTNERS = Session(
    key="partners",
    title="Royal Casino, two partnerships: the decks are brought",
    story="Partners sit opposite and share what they win. The decks come from a shuffling machine "
    "whose order the casino vouches for; they are recorded, and shown when the hand is over. The "
    "match goes to 11 points.",
    seats=("anna", "bert", "cleo", "dora"),
    currency="EUR",
    purse=5_000,
    game="royal_casino",
    options={"ante": 500, "target": 11},
    rounds=(
        Round(
            (),
            Outcome(
                nets={"anna": -500, "bert": 500, "cleo": -500, "dora": 500},
                winner="bert and dora",
            ),
        ),
    ),
)

_CARD, _SPADE, _ACE, _BIG, _LITTLE, _SWEEP = 10, 4, 24, 40, 20, 24
"""What taking cards is worth to an automatic player; a point is worth about 20."""

_PROMISE = 3
"""A build is worth a third of its cards: somebody else may take it."""


def brought(hand: int) -> tuple[Card, ...]:
    """Return the deck of the shuffling machine for a hand: the same in every demonstration."""
    return deck_of(sha256(b"hand %d of the demonstration" % hand).digest())


async def act(client: Client, table: Table) -> Receipt:
    """Do what the table waits for: an ante, a shuffle, a deal, or a move.

    A deck is shuffled by the service wherever that is allowed, unless the session brings its own.
    """
    if table.phase == "TURN":
        return await client.play.one(await _best(client, table))
    wanted = _wanted(table)
    turn = Turn(table.name, table.round, wanted.player)
    match wanted.command:
        case "ante":
            return await client.play.one(turn.ante(wanted.least))
        case "shuffle":
            return await client.play.one(turn.shuffle(wanted.least))
        case "deal" if "draw" in wanted.choices:
            return await client.play.one(turn.deal_drawn(wanted.least))
        case "deal":
            deck = brought(table.details["hands_played"].int_value + 1)
            return await client.play.one(turn.deal(wanted.least, deck, SHUFFLER))
        case other:
            raise ValueError(f"the table expects {other}")


def _wanted(table: Table) -> AllowedCommand:
    """Return the first thing to do: the service shuffles first, where the decks are not brought."""
    shuffles = not table.name.rpartition("/")[2].startswith(PARTNERS.key)
    for one in table.allowed:
        if one.command == "shuffle" and shuffles:
            return one
    return next(one for one in table.allowed if one.command != "shuffle")


async def _best(client: Client, table: Table) -> PlayRequest:
    """Return the move that is worth most; of several the first that is listed."""
    moves = [move async for move in client.play.moves(table.name)]
    return max(moves, key=lambda move: worth(move, table))


def worth(move: PlayRequest, table: Table) -> int:
    """Return what an automatic player thinks of a move at a table as it is shown to him."""
    kind = move.WhichOneof("command") or ""
    named = getattr(move, kind)
    if kind == "trail":
        return -_value(named.card)
    loose = [one.string_value for one in table.details["loose"].list_value.values]
    if kind != "capture":
        return sum(map(_value, (named.card, *named.loose))) // _PROMISE
    builds = [one.string_value for one in table.details["builds"].list_value.values]
    taken = [one for one in builds if int(one.partition(":")[0]) in named.builds]
    cards = [named.card, *named.loose, *(card for one in taken for card in one.split()[4:])]
    sweeps = len(named.loose) == len(loose) and len(taken) == len(builds)
    return sum(map(_value, cards)) + (_SWEEP if sweeps else 0)


def _value(card: Card) -> int:
    extra = {"10D": _BIG, "2S": _LITTLE}.get(card, 0)
    spade = _SPADE if suit_of(card) == SPADES else 0
    return _CARD + spade + extra + (_ACE if rank_of(card) == "A" else 0)
