"""Decides one command against a layer of state: events with their postings, or a refusal.

The order of checks is part of the contract: that the thing exists, `expected_version`, the rules,
the money. (Who may do it is checked before, and whether it was done already.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from croupier.domain import names, table
from croupier.domain.bookkeeping import account_postings, table_postings
from croupier.domain.commands import Command, Roll
from croupier.domain.dice import DRAWN
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Deposited,
    Event,
    LedgerCreated,
    Withdrawn,
)
from croupier.domain.ledger_events import LedgerUnfenced
from croupier.domain.money import check_amount, check_currency
from croupier.domain.postings import Posting, check_cover
from croupier.services.ledger.requests import (
    CloseTable,
    CreateLedger,
    Deposit,
    LedgerCommand,
    OpenTable,
    Play,
    Request,
    UnfenceLedger,
    VoidRound,
    Withdraw,
)
from croupier.services.ledger.state import Layer

FORMAT_VERSION = 1
"""The format of the log, in its first event; a program refuses a log of a later one."""

LEDGER_STREAM = "ledger"
TABLES = "tables/"
ACCOUNTS = "accounts/"


class Draft(NamedTuple):
    """An event decided, not yet sealed."""

    stream: str
    version: int
    round: int
    event: Event
    postings: tuple[Posting, ...]


def stream_of(command: LedgerCommand) -> str:
    """Return the stream that a command writes to."""
    match command:
        case CreateLedger() | UnfenceLedger():
            return LEDGER_STREAM
        case OpenTable() | CloseTable() | Play() | VoidRound():
            return TABLES + command.table
        case Deposit() | Withdraw():
            return ACCOUNTS + command.account


def decide(state: Layer, request: Request) -> list[Draft]:
    """Return what `request` causes and apply it to `state`, or refuse.

    After a refusal `state` may be half changed: it is dropped.
    """
    command = request.command
    if state.version(LEDGER_STREAM) == 0 and not isinstance(command, CreateLedger):
        raise Refused(Reason.LEDGER_NOT_FOUND, "the ledger does not exist")
    match command:
        case CreateLedger():
            return _create(state, command)
        case UnfenceLedger():
            return _unfence(state, command)
        case OpenTable():
            return _open(state, command)
        case CloseTable():
            at = _table(state, request, command.table)
            return _record(state, table.close(at))
        case Play():
            at = _table(state, request, command.table)
            thrown = drawn(at, command.command)
            return _record(state, table.play(at, thrown, command.round))
        case VoidRound():
            at = _table(state, request, command.table)
            return _record(state, table.void(at, command.round, command.reason))
        case Deposit() | Withdraw():
            return _move(state, request, command)


def drawn(at: table.Table, command: Command) -> Command:
    """Return a command with as many of the dice drawn for it as the rules throw now, the first.

    They were drawn once, before the command was first decided: decided again, it has the same. For
    whoever may not throw they stay as they are, since his command is refused.
    """
    if not isinstance(command, Roll) or command.source.kind != DRAWN:
        return command
    wanted = (command.player, "dice")
    counts = (one.most for one in at.allowed if (one.player, one.field) == wanted)
    return replace(command, dice=command.dice[: next(counts, None)])


def _create(state: Layer, command: CreateLedger) -> list[Draft]:
    if state.version(LEDGER_STREAM):
        raise Refused(
            Reason.LEDGER_EXISTS,
            f"ledger {command.ledger} exists",
            field="ledger_id",
            ledger=command.ledger,
        )
    state.versions[LEDGER_STREAM] = 1
    created = LedgerCreated(ledger=command.ledger, format_version=FORMAT_VERSION)
    return [Draft(LEDGER_STREAM, 1, 0, created, ())]


def _unfence(state: Layer, command: UnfenceLedger) -> list[Draft]:
    if not command.why:
        raise Refused(Reason.LEDGER_NOT_FENCED, "the ledger is served: it is not fenced")
    table.check_reason(command.reason)
    version = state.version(LEDGER_STREAM) + 1
    state.versions[LEDGER_STREAM] = version
    unfenced = LedgerUnfenced(
        lost_first=command.lost_first,
        lost_last=command.lost_last,
        lost_root=command.lost_root,
        lost_recorded_us=command.lost_recorded_us,
        why=command.why,
        reason=command.reason,
    )
    return [Draft(LEDGER_STREAM, version, 0, unfenced, ())]


def _open(state: Layer, command: OpenTable) -> list[Draft]:
    if state.table(command.table):
        raise Refused(Reason.TABLE_EXISTS, f"table {command.table} exists", field="table_id")
    opened = table.open_table(
        table_id=command.table,
        game_code=command.game,
        options=command.options,
        seats=command.seats,
        currency=command.currency,
        banker=command.banker,
        bankroll=command.bankroll,
    )
    at = table.fold(None, opened)
    return _record(state, (table.Step(opened, 0, at),))


def _table(state: Layer, request: Request, table_id: str) -> table.Table:
    found = state.table(table_id)
    if found is None:
        raise Refused(
            Reason.TABLE_NOT_FOUND,
            f"table {table_id} does not exist",
            field="table",
            table=table_id,
        )
    _check_version(request, found.version)
    return found


def _check_version(request: Request, version: int) -> None:
    if request.expected_version is not None and request.expected_version != version:
        raise Refused(
            Reason.VERSION_MISMATCH,
            f"version {request.expected_version} was expected, it is {version}",
            field="expected_version",
            version=version,
            expected=request.expected_version,
        )


def _record(state: Layer, steps: tuple[table.Step, ...]) -> list[Draft]:
    """Apply a table's steps one by one, each with its money.

    After them its escrow has to be exact, and its bankroll where the house banks.
    """
    at = steps[-1].after
    stream, currency = TABLES + at.id, at.opened.currency
    drafts = []
    for event, round_number, after in steps:
        postings = table_postings(event, at.id, currency, house_banks=at.house_banks)
        if postings:
            check_cover(state.balance, postings)
            state.post(postings)
        drafts.append(Draft(stream, after.version, round_number, event, postings))
    held = state.balance((names.escrow(at.id), currency))
    if held != at.at_risk:
        msg = f"escrow of {at.id} would hold {held}, its state {at.at_risk} at risk"
        raise AssertionError(msg)
    if at.house_banks and (has := state.balance((names.bankroll(at.id), currency))) != at.bankroll:
        msg = f"the bankroll of {at.id} would be {has}, in its state it is {at.bankroll}"
        raise AssertionError(msg)
    state.tables[at.id] = at
    return drafts


def _move(state: Layer, request: Request, command: Deposit | Withdraw) -> list[Draft]:
    names.check_account(command.account)
    check_currency(command.currency)
    if not (command.account == names.HOUSE or command.account.startswith("player:")):
        raise Refused(
            Reason.INVALID_ACCOUNT,
            f"{command.account} belongs to a table or to the world outside; "
            "money enters and leaves through players and the house",
            field="account",
            account=command.account,
        )
    check_amount(command.amount)
    stream = ACCOUNTS + command.account
    version = state.version(stream)
    _check_version(request, version)
    kind = Deposited if isinstance(command, Deposit) else Withdrawn
    event = kind(account=command.account, currency=command.currency, amount=command.amount)
    postings = account_postings(event)
    check_cover(state.balance, postings)
    state.post(postings)
    state.versions[stream] = version + 1
    return [Draft(stream, version + 1, 0, event, postings)]
