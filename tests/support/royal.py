"""Royal Casino in a few words: `turn("8S 2C", "8D 5C 3H").play("capture 8S 3H 5C 8D")`."""

from __future__ import annotations

import random

import pytest

from croupier.domain.card_commands import (
    AddToBuild,
    Capture,
    CreateBuild,
    Deal,
    RaiseBuild,
    Shuffle,
    Trail,
)
from croupier.domain.card_events import SideScore
from croupier.domain.cards import PACK
from croupier.domain.commands import Ante
from croupier.domain.dice import DRAWN, Source
from croupier.domain.draws import seal
from croupier.domain.errors import Reason, Refused
from croupier.domain.evolve import evolve
from croupier.domain.games.royal_casino.board import sides_of
from croupier.domain.games.royal_casino.layout import Build
from croupier.domain.games.royal_casino.state import TURN
from tests.support.play import Sitting

GAME = "royal_casino"
MACHINE = Source("device", "shuffler-7")
SERVICE = Source(DRAWN, "hmac-sha256")
ANTE = 100


def shuffled(seed):
    """Return a pack in an order of its own for each seed."""
    return tuple(random.Random(seed).sample(PACK, len(PACK)))


def stacked(front):
    """Return a deck with these cards at its front, the others behind in the order of a new pack."""
    first = tuple(front.split())
    return (*first, *(card for card in PACK if card not in first))


def nonce_of(hand):
    """Return the nonce of a hand's deck, which is no secret here."""
    return bytes(31) + bytes([hand % 256])


def sealed(hand, nonce=None):
    return seal(nonce or nonce_of(hand), f"tables/t1/hands/{hand}")


def build(text, number=1):
    """Return a build written as "8 B 6D 2H", or "8 B 6D 2H multiple"."""
    value, owner, *cards = text.split()
    multiple = cards[-1] == "multiple"
    return Build(number, int(value), tuple(cards[: -1 if multiple else None]), multiple, owner)


def move(player, text):
    """Return a move written as "capture 8S 3H 5C #1 #2", "create 8S 8H = 8", "trail 6S", ...

    Loose cards come after the card that is played; builds are #1, #2.
    """
    kind, card, *rest = text.split()
    loose = tuple(word for word in rest if word[0] not in "#=" and word.rstrip("0123456789"))
    builds = tuple(int(word[1:]) for word in rest if word[0] == "#")
    match kind:
        case "capture":
            return Capture(player, card, loose, builds)
        case "create":
            return CreateBuild(player, card, loose, int(rest[-1]))
        case "add":
            return AddToBuild(player, card, builds[0], loose)
        case "raise":
            return RaiseBuild(player, card, builds[0], loose)
        case "trail":
            return Trail(player, card)
        case _:
            raise ValueError(kind)


class RoyalTable(Sitting):
    """A table of Royal Casino; seats are letters in play order, and the last one deals first."""

    def __init__(self, seats="AB", banker="", **setup):
        super().__init__(GAME, seats=seats, banker=banker, **setup)

    @property
    def board(self):
        return self.state.board

    @property
    def dealer(self):
        return self.seats[self.state.dealer]

    def ante(self, players=""):
        """Let these players ante, all of them if none is named."""
        return [
            event
            for p in players or self.seats
            for event in self.do(Ante(p, self.state.terms.ante))
        ]

    def shuffle(self, nonce=None):
        hand = self.state.hand
        return self.do(Shuffle(self.dealer, hand, sealed(hand, nonce)))

    def deal(self, deck=None):
        """Deal the next hand, from a deck that is brought or else the one that was shuffled."""
        hand = self.state.hand
        if deck is None and self.state.sealed:
            return self.do(Deal(self.dealer, hand, (), SERVICE, nonce_of(hand)))
        return self.do(Deal(self.dealer, hand, deck or shuffled(hand), MACHINE))

    def dealt(self, front=""):
        """Ante and deal, with these cards at the front of the deck."""
        self.ante()
        self.deal(stacked(front))
        return self

    def play(self, *moves):
        """Let whoever's turn it is make these moves, and return the events."""
        return tuple(event for text in moves for event in self.do(move(self.state.mover, text)))

    def moves(self):
        return self.table.game.moves(self.state)

    def play_out(self, chance):
        """Play until no card is left in this hand, by any moves; return the events."""
        events, hand = [], self.state.hand
        while self.state.phase == TURN and self.state.hand == hand:
            events += self.do(any_move(self, chance))
        return events

    def play_match(self, chance, *, drawn=False):
        """Play a match from its antes to its pot, by any moves; return the events."""
        events, number = [], self.table.round
        if drawn:
            events += self.shuffle()
        events += self.ante()
        while self.table.round == number:
            if drawn and not self.state.sealed:
                events += self.shuffle()
            events += self.deal(None if drawn else shuffled(chance.random()))
            events += self.play_out(chance)
        return events

    def refused(self, command, reason, rule=None):
        """Return how a command, or a move as text, is refused; nothing may have changed."""
        if isinstance(command, str):
            command = move(self.state.mover, command)
        before = self.snapshot()
        with pytest.raises(Refused) as caught:
            self.do(command)
        assert self.snapshot() == before
        assert caught.value.reason is reason, caught.value
        if rule is not None:
            assert caught.value.metadata["rule"] == rule, caught.value
        return caught.value

    def illegal(self, text, rule):
        return self.refused(text, Reason.ILLEGAL_MOVE, rule)

    def arrange(self, *, mover="A", score=None, **board):
        """Put cards, and scores by side, as a test needs them; antes are paid, `mover` plays."""
        if not self.table.in_round:
            self.ante()
            self.deal()
        board = evolve(self.board, turn=self.seats.index(mover), **board)
        state = evolve(self.state, board=board, phase=TURN)
        if score is not None:
            state = evolve(state, scores=scores(score), played=5)
        self.table = evolve(self.table, state=state)
        return self


def scores(points):
    """Return the count of a hand after which the sides have these points."""
    nothing = (0,) * 6
    return tuple(SideScore(side, *nothing, point, point) for side, point in enumerate(points))


def turn(hand, loose="", builds=(), *, seats="AB", mover="A", last=False, **setup):
    """Return a table at which a player has these cards, and the turn; builds as for `build`.

    Each other player holds four more cards than the mover will have, but none where it is the
    `last` card of the pack; all cards left over are captured.
    """
    at = RoyalTable(seats=seats, **setup)
    lying = tuple(build(text, number) for number, text in enumerate(builds, 1))
    own, open_ = tuple(hand.split()), tuple(loose.split())
    gone = {*own, *open_, *(card for one in lying for card in one.cards)}
    rest = [card for card in PACK if card not in gone]
    count = 0 if last else 4
    hands = [own if seat == mover else tuple(rest.pop() for _ in range(count)) for seat in seats]
    sides = sides_of(len(seats))
    return at.arrange(
        mover=mover,
        stock=(),
        hands=tuple(hands),
        loose=open_,
        builds=lying,
        next_build=len(lying) + 1,
        piles=tuple(tuple(rest[side::sides]) for side in range(sides)),
        capturer=seats[0],
    )


def last_card(piles, hand, loose="", *, seats="AB", score=None, sweeps=None, **setup):
    """Return a table at which the first seat has the last card, and the sides have these piles."""
    at = RoyalTable(seats=seats, **setup)
    none = ((),) * (len(seats) - 1)
    return at.arrange(
        stock=(),
        hands=((hand,), *none),
        loose=tuple(loose.split()),
        builds=(),
        piles=tuple(tuple(pile) for pile in piles),
        sweeps=tuple(sweeps or (0,) * len(piles)),
        capturer=seats[0],
        score=score,
    )


def any_move(at, chance):
    """Return a legal move: of each kind, one of the first few hundred, as likely as any other."""
    found = []
    for number, one in enumerate(at.moves()):
        found.append(one)
        if number > 300:
            break
    kind = chance.choice(sorted({type(one).__name__ for one in found}))
    return chance.choice([one for one in found if type(one).__name__ == kind])


def cards_of(at):
    """Return all cards of the hand being played, wherever they are, sorted."""
    return sorted(at.board.cards)
