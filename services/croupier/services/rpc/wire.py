"""Requests from the wire: parse once into commands. After this module, a name is a name.

What is wrong in every state is refused here, with the field at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Protocol

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.domain import commands
from croupier.domain.dice import DRAWN, Dice, Source
from croupier.domain.draws import seal
from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.event import (
    Value,
)
from croupier.domain.money import check_currency
from croupier.domain.names import check_id
from croupier.services.ledger import requests
from croupier.services.ledger.sealing import microseconds
from croupier.services.rpc import names
from croupier.services.rpc.calls import CURRENT
from croupier.services.rpc.wire_cards import card_command
from croupier.services.store.mapper import value_from_wire
from croupier.v1 import accounts_pb2, admin_pb2, play_pb2, tables_pb2, values_pb2

REQUEST_ID_MAX = 64
TEXT_MAX = 128
OPTIONS_MAX = 100
DICE_MAX = 8
_SECONDS_MAX = 253_402_300_799  # the last second of the year 9999, the end of a Timestamp's range

Draw = Callable[[int], Dice]
"""Draws so many dice."""

Nonces = Callable[[str], bytes]
"""The secret of a draw that is committed to, by what it is for."""

DICE_PER_THROW = 3
"""As many as any game throws at once; where the rules throw fewer, the first of them count."""

BY_SERVICE = Source(DRAWN, "csprng")


class _Mutation(Protocol):
    """The fields that every request which changes something has."""

    request_id: str
    actor: str
    correlation_id: str

    @property
    def occurred_time(self) -> Timestamp: ...

    @property
    def not_after(self) -> Timestamp: ...


def create_ledger_from_wire(message: admin_pb2.CreateLedgerRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to create it."""
    ledger = _id(message.ledger_id, "ledger_id", "ledger")
    return ledger, _request(message, message, requests.CreateLedger(ledger))


def open_table_from_wire(message: tables_pb2.OpenTableRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to open a table in it."""
    ledger = names.parse_ledger(message.parent, "parent")
    command = requests.OpenTable(
        table=_id(message.table_id, "table_id", "table"),
        game=_required(message.game, "game"),
        options=options_from_wire(message.options),
        seats=tuple(message.seats),
        currency=_required(message.currency, "currency"),
        banker=message.banker,
        bankroll=message.bankroll,
    )
    return ledger, _request(message, message, command)


def close_table_from_wire(message: tables_pb2.CloseTableRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to close a table in it."""
    ledger, table = names.parse_table(message.name, "name")
    return ledger, _request(message, message, requests.CloseTable(table))


def play_from_wire(
    message: play_pb2.PlayRequest, draw: Draw, nonces: Nonces
) -> tuple[str, requests.Request]:
    """Return the ledger and the request to play; dice to be drawn are drawn here, once."""
    ledger, table = names.parse_table(message.table, "table")
    _check_round(message.round)
    player = _id(message.player, "player", "player")
    command = requests.Play(table, message.round, _command(message, player, draw, nonces))
    return ledger, _request(message, message, command)


def void_round_from_wire(message: admin_pb2.VoidRoundRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to void a round."""
    ledger, table = names.parse_table(message.table, "table")
    _check_round(message.round)
    reason = _required(message.reason, "reason")
    return ledger, _request(message, message, requests.VoidRound(table, message.round, reason))


def unfence_from_wire(message: admin_pb2.UnfenceLedgerRequest) -> tuple[str, requests.Request]:
    """Return the ledger that is to be served again, and the request for it."""
    ledger = names.parse_ledger(message.name, "name")
    if message.accept_position <= 0:
        raise Refused(
            Reason.INVALID_POSITION, "positions are numbered from 1", field="accept_position"
        )
    command = requests.UnfenceLedger(_required(message.reason, "reason"))
    request = _request(message, message, command)
    return ledger, replace(request, expected_position=message.accept_position)


def _check_round(number: int) -> None:
    if not number:
        raise Refused(Reason.MISSING_FIELD, "round is required, from 1", field="round")
    if number < 0:
        raise Refused(Reason.INVALID_POSITION, "rounds are numbered from 1", field="round")


def play_in(
    ledger: str, message: play_pb2.PlayRequest, draw: Draw, nonces: Nonces
) -> tuple[str, requests.Request]:
    """Return where in the message the command is, and the request of a batch for `ledger`."""
    named, request = play_from_wire(message, draw, nonces)
    names.check_same_ledger(named, ledger, "table")
    return "", request


def transfer_in(ledger: str, message: accounts_pb2.Transfer) -> tuple[str, requests.Request]:
    """Return where in the message the command is, and the request of a batch for `ledger`."""
    kind = message.WhichOneof("transfer")
    try:
        match kind:
            case "deposit":
                named, request = deposit_from_wire(message.deposit)
            case "withdraw":
                named, request = withdraw_from_wire(message.withdraw)
            case _:
                raise Refused(Reason.MISSING_FIELD, "a transfer is required", field="")
        names.check_same_ledger(named, ledger, "account")
    except Refused as refusal:
        raise refusal.inside(kind or "transfer") from None
    return kind, request


def deposit_from_wire(message: accounts_pb2.DepositRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to deposit."""
    ledger, account = names.parse_account(message.account, "account")
    command = requests.Deposit(account, _required(message.currency, "currency"), message.amount)
    return ledger, _request(message, message, command)


def withdraw_from_wire(message: accounts_pb2.WithdrawRequest) -> tuple[str, requests.Request]:
    """Return the ledger and the request to withdraw."""
    ledger, account = names.parse_account(message.account, "account")
    command = requests.Withdraw(account, _required(message.currency, "currency"), message.amount)
    return ledger, _request(message, message, command)


def currency_from_wire(message: accounts_pb2.GetAccountRequest) -> str:
    """Return the currency that a balance is asked for in, or refuse."""
    return check_currency(_required(message.currency, "currency"))


def time_from_wire(message: Message, field: str) -> int | None:
    """Return a timestamp of a message in microseconds, None where it is not set, or refuse."""
    if not message.HasField(field):
        return None
    time: Timestamp = getattr(message, field)
    if not (0 <= time.seconds <= _SECONDS_MAX and 0 <= time.nanos < 1_000_000_000):
        raise Refused(Reason.INVALID_TIME, f"{field} is no time from 1970 to 9999", field=field)
    return microseconds(time)


def _command(
    message: play_pb2.PlayRequest, player: str, draw: Draw, nonces: Nonces
) -> commands.Command:
    match message.WhichOneof("command"):
        case "post_bank":
            return commands.PostBank(player, message.post_bank.amount)
        case "fade":
            return commands.Fade(player, message.fade.stake)
        case "decline":
            return commands.Decline(player)
        case "roll":
            return _roll(message.roll, player, draw)
        case "ante":
            return commands.Ante(player, message.ante.amount)
        case "keep_bank":
            return commands.KeepBank(player)
        case "pass_bank":
            return commands.PassBank(player)
        case "resign_bank":
            return commands.ResignBank(player)
        case "choose_win":
            return commands.ChooseWin(player)
        case "choose_death_roll":
            return commands.ChooseDeathRoll(player)
        case _:
            return _cup_command(message, player, nonces)


def _cup_command(message: play_pb2.PlayRequest, player: str, nonces: Nonces) -> commands.Command:
    """Return a command of a game that is played with dice under a cup."""
    context = f"{message.table}/rounds/{message.round}"
    match message.WhichOneof("command"):
        case "cover":
            return commands.Cover(player)
        case "press_handle":
            return commands.PressHandle(player, seal(nonces(context), context))
        case "light_on":
            return commands.LightOn(player)
        case "place_bet":
            bet = message.place_bet
            return commands.PlaceBet(player, _required(bet.place, "place_bet.place"), bet.stake)
        case "ring_bell":
            return commands.RingBell(player)
        case "open_cup":
            return _open_cup(message.open_cup, player, nonces(context))
        case _:
            command = card_command(message, player, nonces, _deck_source)
            if command is None:
                raise Refused(Reason.MISSING_FIELD, "a command is required", field="command")
            return command


def _deck_source(deck: play_pb2.Deck) -> Source:
    return _source(deck.source, "deal.deck", "a deck comes")


def _roll(message: play_pb2.Roll, player: str, draw: Draw) -> commands.Roll:
    match message.WhichOneof("throw"):
        case "dice":
            return commands.Roll(player, *_thrown(message.dice, "roll"))
        case "draw":
            return commands.Roll(player, draw(DICE_PER_THROW), BY_SERVICE)
        case _:
            raise Refused(
                Reason.MISSING_FIELD,
                "a roll brings its dice or asks for a draw",
                field="roll.throw",
            )


def _open_cup(message: play_pb2.OpenCup, player: str, nonce: bytes) -> commands.OpenCup:
    match message.WhichOneof("throw"):
        case "dice":
            return commands.OpenCup(player, *_thrown(message.dice, "open_cup"))
        case "draw":
            return commands.OpenCup(player, (), BY_SERVICE, nonce=nonce)
        case "void":
            reason = _required(message.void, "open_cup.void")
            return commands.OpenCup(player, (), BY_SERVICE, void=reason)
        case _:
            raise Refused(
                Reason.MISSING_FIELD,
                "a cup is opened on its dice, on a draw, or on a void throw",
                field="open_cup.throw",
            )


def _thrown(message: play_pb2.Dice, command: str) -> tuple[Dice, Source]:
    """Return dice that a command brings, and where they come from."""
    dice = tuple(message.values)
    if len(dice) > DICE_MAX:
        raise Refused(
            Reason.INVALID_DICE,
            f"no throw is {len(dice)} dice",
            field=f"{command}.dice",
            count=DICE_MAX,
        )
    return dice, _source(message.source, f"{command}.dice", "dice come")


def _source(source: values_pb2.Source, path: str, what: str) -> Source:
    """Return where dice or a deck that are brought come from."""
    if source.kind not in ("device", "dealer"):
        raise Refused(
            Reason.MISSING_FIELD,
            f"{what} with a source whose kind is device or dealer",
            field=f"{path}.source.kind",
        )
    return Source(source.kind, _id(source.id, f"{path}.source.id", "source"))


def options_from_wire(options: Mapping[str, values_pb2.Value]) -> dict[str, Value]:
    """Return options as they were given, or refuse what cannot be an option's value."""
    if len(options) > OPTIONS_MAX:
        raise Refused(Reason.INVALID_OPTION, f"no game has {len(options)} options", field="options")
    found: dict[str, Value] = {}
    for name, message in options.items():
        value = value_from_wire(message)
        if value is None:
            raise Refused(
                Reason.INVALID_OPTION,
                f"option {shown(name)} has no value, or a list",
                field=f"options.{name[:64]}",
                option=name[:64],
            )
        found[name] = value
    return found


def _id(value: str, field: str, what: str) -> str:
    _required(value, field)
    try:
        return check_id(value, what)
    except Refused as refusal:
        raise refusal.at(field) from None


def _required(value: str, field: str) -> str:
    if not value:
        raise Refused(Reason.MISSING_FIELD, f"{field} is required", field=field)
    return value


def _text(value: str, field: str) -> str:
    if len(value) > TEXT_MAX or not (value.isprintable() or not value):
        raise Refused(
            Reason.INVALID_TEXT, f"{field} is up to {TEXT_MAX} printable characters", field=field
        )
    return value


def _request(
    message: Message, fields: _Mutation, command: requests.LedgerCommand
) -> requests.Request:
    """Return the request around a command. `message` and `fields` are the same thing, twice typed.

    The digest covers all that this program understands of the request but its id.
    """
    request_id = fields.request_id
    if not request_id:
        raise Refused(Reason.MISSING_FIELD, "request_id is required", field="request_id")
    if len(request_id) > REQUEST_ID_MAX:
        raise Refused(
            Reason.INVALID_REQUEST_ID,
            f"a request id has up to {REQUEST_ID_MAX} characters",
            field="request_id",
            most=REQUEST_ID_MAX,
        )
    expected_version = None
    if "expected_version" in message.DESCRIPTOR.fields_by_name:
        expected_version = _expected_version(message)
    body = type(message)()
    body.CopyFrom(message)
    body.ClearField("request_id")
    body.DiscardUnknownFields()
    digest = sha256(
        message.DESCRIPTOR.full_name.encode() + b"\x00" + body.SerializeToString(deterministic=True)
    ).digest()
    call = CURRENT.get()
    return requests.Request(
        command=command,
        caller=call.caller.name,
        request_id=request_id,
        digest=digest,
        actor=_text(fields.actor, "actor"),
        correlation_id=_text(fields.correlation_id, "correlation_id"),
        occurred_us=time_from_wire(message, "occurred_time"),
        not_after_us=time_from_wire(message, "not_after"),
        expected_version=expected_version,
        validate_only=bool(getattr(message, "validate_only", False)),
        deadline_us=call.deadline_us,
    )


def _expected_version(message: Message) -> int | None:
    if not message.HasField("expected_version"):
        return None
    version: int = getattr(message, "expected_version")  # noqa: B009  # its descriptor has it
    if version < 0:
        raise Refused(Reason.INVALID_POSITION, "a version is 0 or more", field="expected_version")
    return version
