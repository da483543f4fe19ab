"""Positions of a capturing game as tests write them, and hands played out at random."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from croupier.domain import card_commands, card_events
from croupier.domain.cards import PACK
from croupier.domain.errors import Refused
from croupier.domain.games.options import resolve
from croupier.domain.games.royal_casino.layout import Build, Position
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.moves import legal_moves
from croupier.domain.games.royal_casino.terms import OPTIONS, PRESETS, Terms

MOVER, PARTNER = "anna", "carl"
LEGALITY_OPTIONS = (
    "all_matching",
    "partner_add",
    "partner_raise",
    "raise_own",
    "raise_absorbs",
    "same_value_builds",
)


def terms(**options):
    """Return the terms of a table, the defaults where nothing is said."""
    return Terms.of(resolve(OPTIONS, PRESETS, options))


def at(hand, loose="", *builds, partner="", **options):
    """Return a position of anna: at("8S 2C", "8D 5C", "8 bert 6D 2H", "13* anna KD KC").

    A build is its value, with a star if it is multiple, its owner and its cards.
    """
    made = tuple(_build(number, text) for number, text in enumerate(builds, start=1))
    cards = tuple(hand.split()), tuple(loose.split())
    return Position(MOVER, partner, *cards, made, len(made) + 1, terms(**options))


def _build(number, text):
    value, owner, *cards = text.split()
    return Build(number, int(value.rstrip("*")), tuple(cards), value.endswith("*"), owner)


FULLEST = at("AC AH AD KC", "2S 2C 2H 2D AS 3S 4S 5S 6S 7S 8S 9S 10S JS QS KS")
"""As many loose cards as can lie, four of a rank dealt first and one of each other trailed, and the
hand with the most moves there."""


def capture(card, loose="", *builds):
    return card_commands.Capture(MOVER, card, tuple(loose.split()), builds)


def create(card, loose, value):
    return card_commands.CreateBuild(MOVER, card, tuple(loose.split()), value)


def add(card, build=1, loose=""):
    return card_commands.AddToBuild(MOVER, card, build, tuple(loose.split()))


def lift(card, build=1, loose=""):
    return card_commands.RaiseBuild(MOVER, card, build, tuple(loose.split()))


def trail(card):
    return card_commands.Trail(MOVER, card)


def as_it_lies(position, move):
    """Return the same move as the list of legal moves writes it."""
    if isinstance(move, card_commands.Trail):
        return move
    places = {card: place for place, card in enumerate(position.loose)}
    loose = tuple(sorted(move.loose, key=lambda card: places.get(card, len(places))))
    if isinstance(move, card_commands.Capture):
        return replace(move, loose=loose, builds=tuple(sorted(move.builds)))
    return replace(move, loose=loose)


def judged(position, move):
    """Return the fact that a move causes or the refusal; the list of legal moves must agree."""
    listed = as_it_lies(position, move) in set(legal_moves(position))
    try:
        verdict = check(position, move)
    except Refused as refusal:
        verdict = refusal
    assert listed == (not isinstance(verdict, Refused))
    return verdict


def rule_broken(position, move):
    """Return the name of the rule that a move breaks, None for a legal one."""
    verdict = judged(position, move)
    return verdict.metadata["rule"] if isinstance(verdict, Refused) else None


# --- hands played out -----------------------------------------------------------------------------

Choose = Callable[[random.Random, Position], card_commands.Move]


@dataclass
class Hand:
    """One hand as it is played out from a deck, by the legal moves that `choose` picks."""

    players: Sequence[str]
    deck: list[str]
    terms: Terms
    hands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    loose: tuple[str, ...] = ()
    builds: tuple[Build, ...] = ()
    made: int = 0

    def positions(self, generator: random.Random, choose: Choose) -> Iterator[Position]:
        """Yield the position before every move; there are 48 moves in a hand."""
        self.loose, self.deck = tuple(self.deck[:4]), self.deck[4:]
        while self.deck:
            for player in self.players:
                self.hands[player], self.deck = tuple(self.deck[:4]), self.deck[4:]
            for _ in range(4):
                for player in self.players:
                    position = self.position(player)
                    yield position
                    self.fold(check(position, choose(generator, position)))

    def position(self, player: str) -> Position:
        place = self.players.index(player)
        partner = self.players[(place + 2) % 4] if len(self.players) == 4 else ""
        return Position(
            player,
            partner,
            self.hands[player],
            self.loose,
            self.builds,
            self.made + 1,
            self.terms,
        )

    def fold(self, fact) -> None:
        self.hands[fact.player] = tuple(
            card for card in self.hands[fact.player] if card != fact.card
        )
        taken = getattr(fact, "loose", ())
        self.loose = tuple(card for card in self.loose if card not in taken)
        match fact:
            case card_events.CardTrailed():
                self.loose += (fact.card,)
            case card_events.CardsCaptured():
                gone = {one.build for one in fact.builds}
                self.builds = tuple(one for one in self.builds if one.number not in gone)
            case card_events.BuildCreated():
                self.made = fact.build
                cards = (fact.card, *fact.loose)
                made = Build(fact.build, fact.value, cards, fact.multiple, fact.player)
                self.builds += (made,)
            case card_events.BuildExtended():
                self._grow(fact, multiple=True)
            case card_events.BuildRaised():
                self._grow(fact, multiple=fact.multiple)

    def _grow(self, fact, *, multiple: bool) -> None:
        self.builds = tuple(
            replace(
                one,
                value=fact.value,
                cards=(*one.cards, fact.card, *fact.loose),
                multiple=multiple,
                owner=fact.player,
            )
            if one.number == fact.build
            else one
            for one in self.builds
        )


def deal(generator: random.Random, **options) -> Hand:
    """Return a hand of two, three or four players with a shuffled deck."""
    players = ("anna", "bert", "carl", "dora")[: generator.choice((2, 3, 4))]
    return Hand(players, generator.sample(PACK, len(PACK)), terms(**options))


def any_options(generator: random.Random) -> dict[str, bool]:
    """Return random values of every option on which legality depends."""
    return {name: generator.random() < 0.5 for name in LEGALITY_OPTIONS}


def anything(generator: random.Random, position: Position) -> card_commands.Move:
    """Choose any legal move, each with the same chance."""
    return generator.choice(list(legal_moves(position)))


def preferring(*kinds: type, least: float = 0.8) -> Choose:
    """Return a way to play that mostly prefers kinds of moves, the first ones most."""

    def choose(generator: random.Random, position: Position) -> card_commands.Move:
        moves = list(legal_moves(position))
        for kind in kinds:
            wanted = [move for move in moves if isinstance(move, kind)]
            if wanted and generator.random() < least:
                return generator.choice(wanted)
        return generator.choice(moves)

    return choose


TRAILING = preferring(card_commands.Trail)
BUILDING = preferring(card_commands.CreateBuild, card_commands.RaiseBuild, card_commands.AddToBuild)
MIXED = preferring(card_commands.Trail, card_commands.CreateBuild, least=0.5)
POLICIES = (anything, TRAILING, BUILDING, MIXED)
"""Ways to play that lead to different tables: bare, full of loose cards, full of builds."""
