"""Legality and the list of moves against the rules read a second time, move by move."""

import random
from itertools import islice

import pytest

from croupier.domain.card_commands import AddToBuild, Capture, CreateBuild, RaiseBuild, Trail
from croupier.domain.card_events import BuildCreated
from croupier.domain.cards import PACK, RANKS
from croupier.domain.errors import Reason, Refused
from croupier.domain.games.royal_casino.groups import PIPS, group_count
from croupier.domain.games.royal_casino.layout import Build, Position
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.move_rules import MOVE_RULES
from croupier.domain.games.royal_casino.moves import KINDS, count_moves, kinds, legal_moves
from tests.support.capturing import POLICIES, any_options, deal, terms
from tests.support.capturing_model import every_move, is_legal, splits

RULES = {one.name for one in MOVE_RULES}
NAMES = dict(zip((Capture, CreateBuild, AddToBuild, RaiseBuild, Trail), KINDS, strict=True))
SEEDS = range(4)
CROWDED = 6
"""How many loose cards and builds together make a table too full to try every move there."""


def verdict(position, move):
    try:
        return check(position, move)
    except Refused as refusal:
        return refusal


def judge_everything(position):
    """Compare every move that can be written down with the model, and with the list."""
    legal = set(legal_moves(position))
    for move in every_move(position):
        found = verdict(position, move)
        allowed = not isinstance(found, Refused)
        assert allowed == is_legal(position, move) == (move in legal), (position, move)
        if allowed:
            judge_fact(position, move, found)
        else:
            assert found.reason is Reason.ILLEGAL_MOVE
            assert found.metadata["rule"] in RULES
            assert found.field.split(".")[0] == NAMES[type(move)]
        legal.discard(move)
    assert not legal


def judge_fact(position, move, fact):
    assert (fact.player, fact.card) == (position.player, move.card)
    if isinstance(fact, BuildCreated):
        (count,) = splits((move.card, *move.loose), move.value)
        assert fact.multiple == (count > 1)


def judge_list(position):
    """Check the list against itself and against what is told of it."""
    moves = list(legal_moves(position))
    assert len(set(moves)) == len(moves) == count_moves(position)
    assert all(not isinstance(verdict(position, move), Refused) for move in moves)
    assert set(kinds(position)) == {NAMES[type(move)] for move in moves}
    start = len(moves) // 3
    assert list(islice(legal_moves(position, start), 3)) == moves[start : start + 3]
    return moves


def any_position(generator):
    """Return a position that need not come about in play: few ranks, any builds, any owners."""
    ranks = generator.sample(RANKS, generator.randint(4, 13))
    cards = [card for card in PACK if card[:-1] in ranks]
    generator.shuffle(cards)
    hand, cards = cards[:4], cards[4:]
    count = generator.randint(0, min(5, len(cards)))
    loose, cards = cards[:count], cards[count:]
    builds = tuple(
        Build(
            number,
            generator.randint(2, 14),
            tuple(cards[2 * number : 2 * number + 2]),
            generator.random() < 0.4,
            generator.choice(("anna", "bert", "carl", "dora")),
        )
        for number in range(1, 1 + generator.randint(0, 7 - len(loose)) // 2)
    )
    return Position(
        "anna",
        generator.choice(("", "carl")),
        tuple(hand[: generator.randint(1, 4)]),
        tuple(loose),
        builds,
        len(builds) + 1,
        terms(**any_options(generator)),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_move_of_a_position_in_play_is_judged_as_the_rules_say(seed):
    generator = random.Random(seed)
    judged = 0
    while judged < 100:
        hand = deal(generator, **any_options(generator))
        for position in hand.positions(generator, generator.choice(POLICIES)):
            if len(position.loose) + len(position.builds) < CROWDED and generator.random() < 0.1:
                judge_everything(position)
                judged += 1


@pytest.mark.parametrize("seed", SEEDS)
def test_every_move_of_any_position_is_judged_as_the_rules_say(seed):
    generator = random.Random(1_000 + seed)
    for _ in range(150):
        judge_everything(any_position(generator))


@pytest.mark.parametrize("seed", SEEDS)
def test_in_play_there_is_always_a_legal_move_and_the_list_has_no_other(seed):
    generator = random.Random(2_000 + seed)
    for number in range(16):
        hand = deal(generator, **any_options(generator))
        for position in hand.positions(generator, POLICIES[number % len(POLICIES)]):
            assert judge_list(position)
            assert len(position.loose) <= 16
        assert not position_after(hand).builds


def position_after(hand):
    return hand.position(hand.players[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_full_tables_are_listed_as_the_rules_say(seed):
    """Too many moves to try all: a sample of those that can be written down."""
    generator = random.Random(3_000 + seed)
    hand = deal(generator, **any_options(generator))
    for position in hand.positions(generator, POLICIES[1]):
        if len(position.loose) < 8:
            continue
        legal = set(judge_list(position))
        for _ in range(40):
            loose = tuple(card for card in position.loose if generator.random() < 0.4)
            card = generator.choice(position.hand)
            value = generator.randint(2, 14)
            for move in (
                Capture(position.player, card, loose),
                CreateBuild(position.player, card, loose, value),
            ):
                assert (move in legal) == is_legal(position, move)


@pytest.mark.parametrize("value", range(2, 15))
def test_cards_split_into_one_number_of_groups_or_not_at_all(value):
    """At 14 too, where an ace may stand alone."""
    generator = random.Random(value)
    small = [card for card in PACK if PIPS[card] <= value]
    aces = [card for card in PACK if PIPS[card] == 1]
    for _ in range(150):
        cards = set(generator.sample(small, generator.randint(1, min(7, len(small)))))
        cards |= set(generator.sample(aces, generator.randint(0, 4)))
        wanted = splits(tuple(cards), value)
        assert len(wanted) <= 1
        assert group_count([PIPS[card] for card in cards], value) == max(wanted, default=0)
