"""Requests become commands once; their digest is that of all they ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain import card_commands, commands
from croupier.domain.cards import PACK
from croupier.domain.dice import Source
from croupier.domain.draws import seal
from croupier.domain.errors import Reason, Refused
from croupier.services.ledger import requests
from croupier.services.rpc import wire
from croupier.services.rpc.callers import LOCAL
from croupier.services.rpc.calls import CURRENT, Call
from croupier.services.rpc.chance import Nonces
from croupier.v1 import accounts_pb2, play_pb2, tables_pb2
from tests.support.stories import deposit, open_table, play, thrown, withdraw


@pytest.fixture(autouse=True)
def _call() -> Iterator[None]:
    token = CURRENT.set(Call(LOCAL, deadline_us=7))
    yield
    CURRENT.reset(token)


def no_dice(count: int) -> tuple[int, ...]:
    """Fail: nothing is to be drawn."""
    raise AssertionError(count)


NONCES = Nonces(b"a key of 16 byte")
CONTEXT = "ledgers/casino/tables/t1/rounds/3"
HAND_2 = f"{CONTEXT}/hands/2"

COMMANDS = {
    "post_bank": (play_pb2.PostBank(amount=5), commands.PostBank("anna", 5)),
    "fade": (play_pb2.Fade(stake=5), commands.Fade("anna", 5)),
    "ante": (play_pb2.Ante(amount=5), commands.Ante("anna", 5)),
    "decline": (play_pb2.Decline(), commands.Decline("anna")),
    "roll": (thrown(1, 2, 3), commands.Roll("anna", (1, 2, 3), Source("dealer", "dora"))),
    "keep_bank": (play_pb2.KeepBank(), commands.KeepBank("anna")),
    "pass_bank": (play_pb2.PassBank(), commands.PassBank("anna")),
    "resign_bank": (play_pb2.ResignBank(), commands.ResignBank("anna")),
    "choose_win": (play_pb2.ChooseWin(), commands.ChooseWin("anna")),
    "choose_death_roll": (play_pb2.ChooseDeathRoll(), commands.ChooseDeathRoll("anna")),
    "cover": (play_pb2.Cover(), commands.Cover("anna")),
    "press_handle": (
        play_pb2.PressHandle(),
        commands.PressHandle("anna", seal(NONCES(CONTEXT), CONTEXT)),
    ),
    "light_on": (play_pb2.LightOn(), commands.LightOn("anna")),
    "place_bet": (play_pb2.PlaceBet(place="big", stake=5), commands.PlaceBet("anna", "big", 5)),
    "ring_bell": (play_pb2.RingBell(), commands.RingBell("anna")),
    "open_cup": (
        play_pb2.OpenCup(dice=thrown(1, 2, 3).dice),
        commands.OpenCup("anna", (1, 2, 3), Source("dealer", "dora")),
    ),
    "shuffle": (
        play_pb2.Shuffle(hand=2),
        card_commands.Shuffle("anna", 2, seal(NONCES(HAND_2), HAND_2)),
    ),
    "deal": (
        play_pb2.Deal(
            hand=2, deck=play_pb2.Deck(cards=PACK, source={"kind": "device", "id": "d1"})
        ),
        card_commands.Deal("anna", 2, PACK, Source("device", "d1")),
    ),
    "capture": (
        play_pb2.Capture(card="8S", loose=["5C", "3H"], builds=[2, 1]),
        card_commands.Capture("anna", "8S", ("5C", "3H"), (2, 1)),
    ),
    "create_build": (
        play_pb2.CreateBuild(card="5S", loose=["3H"], value=8),
        card_commands.CreateBuild("anna", "5S", ("3H",), 8),
    ),
    "add_to_build": (
        play_pb2.AddToBuild(card="5S", loose=["3H"], build=1),
        card_commands.AddToBuild("anna", "5S", 1, ("3H",)),
    ),
    "raise_build": (
        play_pb2.RaiseBuild(card="2S", build=1),
        card_commands.RaiseBuild("anna", "2S", 1),
    ),
    "trail": (play_pb2.Trail(card="2S"), card_commands.Trail("anna", "2S")),
}


def test_the_deck_that_was_shuffled_is_asked_for_by_the_nonce_of_its_hand():
    deal = play_pb2.Deal(hand=2, draw=play_pb2.Draw())
    _, request = wire.play_from_wire(play("t1", "anna", deal, round=3), no_dice, NONCES)
    source = Source("service", "hmac-sha256")
    command = card_commands.Deal("anna", 2, (), source, NONCES(HAND_2))
    assert request.command == requests.Play("t1", 3, command)


def test_every_command_of_the_wire_is_a_command_of_the_domain():
    fields = play_pb2.PlayRequest.DESCRIPTOR.oneofs_by_name["command"].fields
    assert {field.name for field in fields} == set(COMMANDS)
    for message, command in COMMANDS.values():
        ledger, request = wire.play_from_wire(play("t1", "anna", message, round=3), no_dice, NONCES)
        assert ledger == "casino"
        assert request.command == requests.Play("t1", 3, command)


def test_a_draw_is_made_once_of_three_dice_and_says_who_drew():
    asked = []

    def draw(count: int) -> tuple[int, ...]:
        asked.append(count)
        return (4, 5, 6)

    roll = play("t1", "anna", play_pb2.Roll(draw=play_pb2.Draw()))
    _, request = wire.play_from_wire(roll, draw, NONCES)
    assert asked == [3]
    assert request.command.command == commands.Roll("anna", (4, 5, 6), Source("service", "csprng"))


def test_a_cup_is_opened_on_a_draw_too_and_on_a_throw_that_does_not_count():
    drawn = play("t1", "house", play_pb2.OpenCup(draw=play_pb2.Draw()), round=3)
    _, request = wire.play_from_wire(drawn, no_dice, NONCES)
    assert request.command.command.nonce == NONCES(CONTEXT)
    void = play("t1", "house", play_pb2.OpenCup(void="a die is tilted"))
    _, request = wire.play_from_wire(void, no_dice, NONCES)
    assert request.command.command.void == "a die is tilted"
    assert request.command.command.dice == ()


@pytest.mark.parametrize(
    "command, field",
    [
        (play_pb2.OpenCup(), "open_cup.throw"),
        (play_pb2.OpenCup(void=""), "open_cup.void"),
        (play_pb2.OpenCup(dice=play_pb2.Dice(values=[1, 2, 3])), "open_cup.dice.source.kind"),
        (play_pb2.OpenCup(dice=thrown(1, 2, 3, source="").dice), "open_cup.dice.source.id"),
        (play_pb2.PlaceBet(stake=5), "place_bet.place"),
    ],
)
def test_what_a_command_at_the_cup_lacks_is_named(command, field):
    with pytest.raises(Refused) as caught:
        wire.play_from_wire(play("t1", "house", command), no_dice, NONCES)
    assert (caught.value.reason, caught.value.field) == (Reason.MISSING_FIELD, field)


def test_a_retried_draw_is_the_same_request_whatever_is_drawn():
    roll = play("t1", "anna", play_pb2.Roll(draw=play_pb2.Draw()))
    first = wire.play_from_wire(roll, lambda count: (1, 1, 1), NONCES)[1]
    again = wire.play_from_wire(roll, lambda count: (2, 2, 2), NONCES)[1]
    assert first.digest == again.digest
    assert first.key == again.key


def test_what_surrounds_a_command_is_taken_over():
    _, request = wire.deposit_from_wire(
        deposit(
            "house",
            5,
            request_id="r",
            actor="dora",
            correlation_id="c",
            occurred_time=Timestamp(seconds=1, nanos=2_999),
            not_after=Timestamp(seconds=2),
            expected_version=0,
        )
    )
    assert request.command == requests.Deposit("house", "EUR", 5)
    assert request.key == ("local", "r")
    assert (request.actor, request.correlation_id) == ("dora", "c")
    assert (request.occurred_us, request.not_after_us) == (1_000_002, 2_000_000)
    assert (request.expected_version, request.deadline_us) == (0, 7)


def test_what_is_not_given_is_none():
    _, request = wire.withdraw_from_wire(withdraw("house", 5))
    assert request.occurred_us is None
    assert request.not_after_us is None
    assert request.expected_version is None


def test_the_digest_is_of_the_whole_request_but_its_id():
    def digest(**more) -> bytes:
        return wire.deposit_from_wire(deposit("house", 5, **more))[1].digest

    same = [digest(), digest(), digest(request_id="x" * 64)]
    assert len(set(same)) == 1
    assert len(same[0]) == 32
    others = {
        digest(currency="USD"),
        wire.deposit_from_wire(deposit("house", 6))[1].digest,
        digest(actor="a"),
        digest(correlation_id="a"),
        digest(expected_version=0),
        digest(not_after=Timestamp()),
        digest(occurred_time=Timestamp()),
        wire.withdraw_from_wire(withdraw("house", 5))[1].digest,
    }
    assert len(others) == 8
    assert same[0] not in others


def test_the_order_of_options_is_no_part_of_a_request():
    one = open_table("t1", options={"factor_456": 2, "payout": "even", "triples_lose": True})
    other = open_table("t1", options={"triples_lose": True, "payout": "even", "factor_456": 2})
    one.request_id = other.request_id = "r"
    assert wire.open_table_from_wire(one) == wire.open_table_from_wire(other)


def test_fields_nobody_knows_are_no_part_of_a_request():
    request = deposit("house", 5)
    later = accounts_pb2.DepositRequest.FromString(
        request.SerializeToString() + b"\xfa\x7f\x05later"
    )
    assert wire.deposit_from_wire(later)[1].digest == wire.deposit_from_wire(request)[1].digest


@pytest.mark.parametrize("length, fits", [(64, True), (65, False)])
def test_a_request_id_is_any_text_up_to_64_characters(length: int, fits: bool):
    request = tables_pb2.CloseTableRequest(
        name="ledgers/casino/tables/t1", request_id="\0é" * (length // 2) + "x" * (length % 2)
    )
    if fits:
        assert wire.close_table_from_wire(request)[1].request_id == request.request_id
    else:
        with pytest.raises(Refused) as refused:
            wire.close_table_from_wire(request)
        assert refused.value.reason is Reason.INVALID_REQUEST_ID
