"""What is refused, and what the refusal says. A refused command leaves everything as it is."""

import pytest

from croupier.domain.card_commands import Capture, CreateBuild, Deal, Shuffle, Trail
from croupier.domain.cards import PACK
from croupier.domain.commands import Ante, Decline, Fade, Roll
from croupier.domain.dice import Source
from croupier.domain.errors import Reason, Refused
from croupier.domain.money import AMOUNT_MAX
from tests.support.royal import MACHINE, SERVICE, RoyalTable, nonce_of, sealed, shuffled, turn

FIRST = "8S 2C KS 5S 8C 3H 4H QD 8D 5C 3C 9D"
"""Dealt to two: A gets 8S 2C KS 5S, B 8C 3H 4H QD, the table 8D 5C 3C 9D."""


@pytest.fixture
def at():
    """Return a table of two, dealt; it is A's turn."""
    return RoyalTable().dealt(FIRST)


@pytest.mark.parametrize("seats", ["A", "ABCDE", "ABCDEFGH"])
def test_two_three_or_four_play(seats):
    with pytest.raises(Refused) as caught:
        RoyalTable(seats=seats)
    assert caught.value.reason is Reason.INVALID_SEATS
    assert caught.value.field == "seats"
    assert (caught.value.metadata["least"], caught.value.metadata["most"]) == ("2", "4")


def test_the_first_dealer_has_a_seat():
    with pytest.raises(Refused) as caught:
        RoyalTable(seats="AB", banker="X")
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEATS, "banker")


@pytest.mark.parametrize(
    "option, value",
    [
        ("target", 3),
        ("target", 1001),
        ("ante", 0),
        ("ante", 10**13 + 1),
        ("direction", "left"),
        ("win_at_20", "aces"),
        ("near_target_scoring", "cap"),
        ("double_auto", "both"),
        ("stakes", "points"),
        ("all_matching", "yes"),
    ],
)
def test_an_option_has_only_its_values(option, value):
    with pytest.raises(Refused) as caught:
        RoyalTable(**{option: value})
    assert caught.value.reason is Reason.INVALID_OPTION
    assert caught.value.field == f"options.{option}"


# --- commands of other games, other players, other phases -------------------------------------


@pytest.mark.parametrize(
    "command", [Fade("A", 5), Decline("A"), Roll("A", (1, 2, 3), Source("dealer", "kim"))]
)
def test_commands_of_other_games_are_unknown_here(at, command):
    refusal = at.refused(command, Reason.COMMAND_NOT_IN_GAME, "command_not_in_game")
    assert refusal.metadata["command"] == type(command).__name__


def test_only_who_has_a_seat_plays(at):
    at.refused(Trail("Z", "2C"), Reason.NOT_SEATED)


def test_turns_are_in_play_order(at):
    for command in (Trail("B", "3H"), Trail("B", "2C"), Capture("B", "8C", ("8D",))):
        refusal = at.refused(command, Reason.NOT_YOUR_TURN, "turns_in_play_order")
        assert refusal.metadata["to_act"] == "A"


def test_nobody_plays_before_the_antes_and_the_deal():
    at = RoyalTable()
    refusal = at.refused(Trail("A", "2C"), Reason.WRONG_PHASE, "antes_first")
    assert (refusal.metadata["phase"], refusal.metadata["needed"]) == ("ANTE", "TURN")
    at.refused(Deal("B", 1, shuffled(1), MACHINE), Reason.WRONG_PHASE, "antes_first")
    at.ante()
    refusal = at.refused(Trail("A", "2C"), Reason.WRONG_PHASE, "the_deal_comes_first")
    assert refusal.metadata["phase"] == "DEAL"


@pytest.mark.parametrize(
    "amount, reason",
    [
        (0, Reason.AMOUNT_OUT_OF_RANGE),
        (-5, Reason.AMOUNT_OUT_OF_RANGE),
        (AMOUNT_MAX + 1, Reason.AMOUNT_OUT_OF_RANGE),
        (99, Reason.STAKE_BELOW_LIMIT),
        (101, Reason.STAKE_ABOVE_LIMIT),
    ],
)
def test_the_ante_is_the_same_for_all(amount, reason):
    refusal = RoyalTable().refused(Ante("A", amount), reason)
    assert refusal.field == "ante.amount"


def test_everybody_antes_once_and_only_before_the_match(at):
    at.refused(Ante("A", 100), Reason.WRONG_PHASE, "antes_are_paid_at_the_start")
    before = RoyalTable()
    before.ante("A")
    refusal = before.refused(Ante("A", 100), Reason.NOT_YOUR_TURN, "one_ante_each")
    assert refusal.metadata["to_act"] == "B"


# --- decks --------------------------------------------------------------------------------------


def test_only_the_dealer_shuffles_and_deals():
    at = RoyalTable(seats="ABC", banker="B")
    for player in "AC":
        refusal = at.refused(Shuffle(player, 1, sealed(1)), Reason.NOT_YOUR_TURN, "only_the_dealer")
        assert refusal.metadata["to_act"] == "B"
    at.ante()
    for player in "AC":
        deal = Deal(player, 1, shuffled(1), MACHINE)
        at.refused(deal, Reason.NOT_YOUR_TURN, "only_the_dealer")


@pytest.mark.parametrize("hand", [-1, 0, 2, 10**18])
def test_a_deck_is_for_the_hand_that_comes_next(hand):
    at = RoyalTable()
    refusal = at.refused(Shuffle("B", hand, sealed(1)), Reason.HAND_MISMATCH, "hands_in_order")
    assert (refusal.field, refusal.metadata["hand"]) == ("shuffle.hand", "1")
    at.ante()
    deal = Deal("B", hand, shuffled(1), MACHINE)
    refusal = at.refused(deal, Reason.HAND_MISMATCH, "hands_in_order")
    assert (refusal.field, refusal.metadata["asked"]) == ("deal.hand", str(hand))


def test_a_matchs_first_deck_is_shuffled_before_the_first_ante():
    at = RoyalTable()
    at.ante("A")
    shuffle = Shuffle("B", 1, sealed(1))
    at.refused(shuffle, Reason.WRONG_PHASE, "shuffle_before_antes")
    at.ante("B")
    at.refused(shuffle, Reason.WRONG_PHASE, "shuffle_before_antes")
    assert at.deal()


def test_a_hand_is_shuffled_once():
    at = RoyalTable()
    at.shuffle()
    for nonce in (nonce_of(1), nonce_of(2)):
        again = Shuffle("B", 1, sealed(1, nonce))
        at.refused(again, Reason.NOT_OFFERED, "one_shuffle_a_hand")


def test_nothing_is_shuffled_or_dealt_while_a_hand_is_played(at):
    rule = "the_hand_is_played_out_first"
    at.refused(Shuffle("B", 1, sealed(1)), Reason.WRONG_PHASE, rule)
    at.refused(Deal("B", 1, shuffled(1), MACHINE), Reason.WRONG_PHASE, rule)


@pytest.mark.parametrize(
    "deck",
    [
        (),
        PACK[:51],
        (*PACK, "AS"),
        (*PACK[:51], "AS"),
        (*PACK[:51], "1S"),
        (*PACK[:51], ""),
        (*PACK[:51], "10d"),
        ("X" * 10_000, *PACK[1:]),
    ],
    ids=["none", "51", "53", "double", "no rank", "empty", "lower case", "long"],
)
def test_a_deck_is_the_whole_pack(deck):
    at = RoyalTable()
    at.ante()
    refusal = at.refused(Deal("B", 1, deck, SERVICE), Reason.INVALID_DECK)
    assert refusal.field == "deal.deck.cards"
    assert len(str(refusal)) < 200


# --- moves --------------------------------------------------------------------------------------


def test_a_card_is_played_from_the_own_hand(at):
    for card in ("8C", "8D", "7H", "", "XX"):
        refusal = at.refused(Trail("A", card), Reason.CARD_NOT_IN_HAND)
        assert (refusal.field, refusal.metadata["card"]) == ("trail.card", card)
    at.play("trail KS")
    at.play("trail QD")
    at.refused(Trail("A", "KS"), Reason.CARD_NOT_IN_HAND)


def test_cards_are_captured_from_the_table(at):
    for card in ("8C", "2C", "8S", "7H"):
        refusal = at.refused(Capture("A", "8S", ("8D", card)), Reason.CARD_NOT_ON_TABLE)
        assert (refusal.field, refusal.metadata["card"]) == ("capture.loose", card)


@pytest.mark.parametrize("text", ["capture 8S #1", "add 8S #1", "raise 2C #1", "capture 8S #1 #2"])
def test_a_build_that_is_named_lies_on_the_table(at, text):
    refusal = at.refused(text, Reason.BUILD_NOT_FOUND)
    assert refusal.metadata["build"] == "1"


def test_a_captured_build_is_there_no_more():
    at = turn("8S 2C", "KC", ["8 B 6D 2H"])
    at.play("capture 8S #1")
    at.refused("capture 2C #1", Reason.CARD_NOT_IN_HAND)
    at.arrange(mover="A", hands=(("8H", "2C"), ("3C",)))
    at.refused("capture 8H #1", Reason.BUILD_NOT_FOUND)


def test_the_number_of_a_build_is_not_used_again_in_its_hand():
    at = turn("8S 8C 2C", "8D KC").arrange(
        hands=(("8S", "8C", "2C", "4C"), ("8H", "2D", "6S", "6C"))
    )
    at.play("create 8S 8D = 8")
    at.play("capture 8H #1")
    at.play("trail 2C", "trail 6S")
    assert at.board.next_build == 2
    at.arrange(mover="B", hands=(("8C",), ("2D", "8H")))
    at.play("create 2D 6S = 8")
    assert [one.number for one in at.board.builds] == [2]


@pytest.mark.parametrize(
    "text, rule",
    [
        ("capture 8S 8D 9D", "value_mismatch"),
        ("capture 8S 5C", "value_mismatch"),
        ("capture 8S 5C 3C", "must_take_matching"),
        ("create 2C 9D = 8", "value_mismatch"),
        ("create 5S 3C = 8", None),
        ("trail 8S", "trail_on_matching_card"),
        ("trail 5S", "trail_on_matching_card"),
    ],
)
def test_a_move_that_does_not_fit_names_its_rule(at, text, rule):
    if rule is None:
        assert at.play(text)
    else:
        at.illegal(text, rule)


@pytest.mark.parametrize("value", [-1, 0, 1, 15, 10**18])
def test_a_build_has_a_value_that_some_card_has(at, value):
    at.refused(CreateBuild("A", "5S", ("3C",), value), Reason.ILLEGAL_MOVE)


def test_cards_named_twice_do_not_capture_twice(at):
    """On the wire they are refused as such; here they are the same card, once."""
    at.refused(Capture("A", "KS", ("5C", "3C", "5C")), Reason.ILLEGAL_MOVE, "value_mismatch")
