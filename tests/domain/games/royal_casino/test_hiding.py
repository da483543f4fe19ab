"""Who sees what: the hands of others while a hand is played, and the order of its deck."""

import random
from copy import copy
from functools import cache
from itertools import chain, combinations

import pytest

from croupier.domain.card_events import DeckBrought, DeckDrawn, HandDealt
from croupier.domain.cards import PACK
from croupier.domain.events import Fact
from croupier.domain.games import game_of
from croupier.domain.games.protocol import NOBODYS, Secretive, secretive
from croupier.domain.games.royal_casino.showing import HAND_OF
from croupier.domain.table import automatic
from tests.support.play import each, only
from tests.support.royal import GAME, RoyalTable, turn

GAME_OF = game_of(GAME)
SEATS = "ABC"
EYES = [
    None,
    *map(frozenset, chain.from_iterable(combinations(SEATS, count) for count in range(4))),
]
eyes_of_all_kinds = pytest.mark.parametrize(
    "eyes", EYES, ids=["all" if eyes is None else "".join(sorted(eyes)) or "-" for eyes in EYES]
)


def sees(eyes, player):
    return eyes is None or player in eyes


@cache
def played(*, drawn):
    """Return a table of three in the middle of the second hand of its second match."""
    at, chance = RoyalTable(seats=SEATS), random.Random(14)
    at.play_match(chance, drawn=drawn)
    if drawn:
        at.shuffle()
    at.ante()
    at.deal()
    at.play_out(chance)
    if drawn:
        at.shuffle()
    at.deal()
    for _ in range(17):
        at.do(next(at.moves()))
    assert at.state.phase == "TURN"
    return at


@pytest.fixture(params=[False, True], ids=["brought", "drawn"])
def at(request):
    """Return such a table of the test's own."""
    at = copy(played(drawn=request.param))
    at.events, at.history, at.balances = [*at.events], [*at.history], {**at.balances}
    return at


def conceal(at, fact, eyes):
    return GAME_OF.conceal(at.state, fact, eyes)


def test_the_game_says_that_it_has_secrets():
    assert isinstance(GAME_OF, Secretive)
    assert secretive(GAME_OF) is GAME_OF
    assert GAME_OF.secrets == {DeckBrought, DeckDrawn, HandDealt}


@eyes_of_all_kinds
def test_nobody_sees_the_deck_of_a_hand_that_is_played(at, eyes):
    *past, fact = [one for one in at.events if isinstance(one, DeckBrought | DeckDrawn)]
    seen = conceal(at, fact, eyes)
    assert (seen.hand, seen.dealer) == (fact.hand, fact.dealer)
    if isinstance(fact, DeckBrought):
        assert (seen.deck, seen.source) == ((), fact.source)
    else:
        assert seen.nonce == b""
    for one in past:
        assert conceal(at, one, eyes) is one


@eyes_of_all_kinds
def test_whose_cards_are_dealt_in_a_hand_that_is_played_only_his_eyes_see(at, eyes):
    for fact in each(at.events, HandDealt):
        seen = conceal(at, fact, eyes)
        if fact.hand < at.state.hand:
            assert seen is fact
            continue
        assert (seen.hand, seen.deal, seen.table) == (fact.hand, fact.deal, fact.table)
        for dealt, shown in zip(fact.hands, seen.hands, strict=True):
            assert shown.player == dealt.player
            assert shown.cards == (dealt.cards if sees(eyes, dealt.player) else ())


@eyes_of_all_kinds
def test_facts_of_other_kinds_are_shown_as_they_are(at, eyes):
    for fact in at.events:
        if isinstance(fact, Fact) and type(fact) not in GAME_OF.secrets:
            assert conceal(at, fact, eyes) is fact


@eyes_of_all_kinds
def test_when_a_hand_is_counted_everybody_sees_all_of_it(at, eyes):
    at.play_out(random.Random(15))
    for fact in at.events:
        if isinstance(fact, Fact):
            assert conceal(at, fact, eyes) is fact


@eyes_of_all_kinds
def test_when_its_round_is_void_everybody_sees_all_of_a_hand(at, eyes):
    at.void("the lights went out")
    for fact in at.events:
        if isinstance(fact, Fact):
            assert conceal(at, fact, eyes) is fact


def test_what_is_hidden_is_hidden_from_the_first_fact_on_to_the_last_of_its_hand():
    """Whoever asks after any event of the hand, the deck and the hands of others are not shown."""
    at = RoyalTable(seats="ABCD")
    at.ante()
    drawn, *_ = at.deal()
    dealt = only(at.events, HandDealt)
    chance = random.Random(16)
    for table in at.history[-2:]:
        assert not GAME_OF.conceal(table.state, drawn, None).deck
    while at.state.hand == 1:
        assert not conceal(at, drawn, None).deck
        assert [bool(one.cards) for one in conceal(at, dealt, frozenset("B")).hands] == [
            one.player == "B" for one in dealt.hands
        ]
        at.do(chance.choice([*at.moves()]))
    assert conceal(at, drawn, NOBODYS) is drawn


# --- the state as seen --------------------------------------------------------------------------


@eyes_of_all_kinds
def test_a_view_holds_the_hands_that_the_eyes_see_and_no_other(at, eyes):
    view = at.table.seen(eyes)
    hands = {
        name[len(HAND_OF) :]: cards
        for name, cards in view.details.items()
        if name.startswith(HAND_OF)
    }
    assert hands == {
        seat: at.board.hands[number] for number, seat in enumerate(SEATS) if sees(eyes, seat)
    }


@eyes_of_all_kinds
def test_no_card_that_is_hidden_is_named_anywhere_in_a_view(at, eyes):
    said = str(at.table.seen(eyes))
    shown = {card for card in PACK if f"'{card}'" in said or f" {card}" in said}
    hidden = {*at.board.stock}
    for number, seat in enumerate(SEATS):
        if not sees(eyes, seat):
            hidden |= {*at.board.hands[number]}
    assert not shown & hidden
    assert {*at.board.loose} <= shown


@eyes_of_all_kinds
def test_which_kinds_of_moves_are_legal_is_told_only_to_who_sees_the_hand(eyes):
    """A has no legal move but to trail; of a hand that is not seen all kinds are said."""
    at = turn("2C KS", "9D", seats=SEATS)
    allowed = at.table.seen(eyes).expects
    if sees(eyes, "A"):
        assert allowed == ("trail",)
    else:
        assert allowed == ("capture", "create_build", "add_to_build", "raise_build", "trail")
    assert at.table.seen(eyes).to_act == ("A",)


@eyes_of_all_kinds
def test_what_else_a_view_says_does_not_depend_on_whose_eyes_it_is_for(at, eyes):
    view, whole = at.table.seen(eyes), at.view
    assert (view.phase, view.seats) == (whole.phase, whole.seats)
    rest = {name: value for name, value in whole.details.items() if not name.startswith(HAND_OF)}
    assert {n: v for n, v in view.details.items() if not n.startswith(HAND_OF)} == rest


def test_between_hands_everybody_is_told_exactly_what_may_be_done():
    at = RoyalTable(seats=SEATS)
    for ask in (at.ante, at.deal):
        assert at.table.seen(NOBODYS).allowed == at.view.allowed
        assert automatic(at.table) == ()
        ask()


def test_a_view_says_where_all_cards_are_by_their_number(at):
    details = at.table.seen(NOBODYS).details
    counts = details["stock"] + sum(details["in_hand"]) + sum(details["captured"])
    assert counts + len(details["loose"]) + sum(map(len, built(details))) == 52


def built(details):
    """Return the cards of each build, out of "1: 8 single A 5C 3H"."""
    return [text.split()[4:] for text in details["builds"]]


def test_builds_are_shown_in_words():
    at = turn("8C 5S KS", "8D", ["13 A 10D 3H", "9 B 6C 3C 9H multiple"])
    assert at.view.details["builds"] == ("1: 13 single A 10D 3H", "2: 9 multiple B 6C 3C 9H")
    at.play("add 5S 8D #1")
    assert at.view.details["builds"][0] == "1: 13 multiple A 10D 3H 5S 8D"


def test_the_count_of_the_last_hand_is_shown_side_by_side(at):
    assert at.view.details["last_hand"] == tuple(
        f"cards {one.cards} spades {one.spades} big_casino {one.big_casino} "
        f"little_casino {one.little_casino} aces {one.aces} sweeps {one.sweeps}: "
        f"{one.before} to {one.after}"
        for one in at.state.scores
    )
    assert len(at.state.scores) == len(SEATS)


def test_partners_do_not_see_each_others_hands():
    at = RoyalTable(seats="ABCD").dealt()
    details = at.table.seen(frozenset("A")).details
    assert HAND_OF + "A" in details
    assert HAND_OF + "C" not in details
    assert details["sides"] == ("A C", "B D")
