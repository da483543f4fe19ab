"""State to the wire: what callers are shown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import Message

from croupier.domain.errors import Reason, Refused
from croupier.domain.games import GAMES
from croupier.domain.games.protocol import Allowed, Eyes, secretive
from croupier.domain.money import CURRENCIES
from croupier.domain.table import Table
from croupier.services.ledger.fence import Fence
from croupier.services.ledger.sealing import timestamp
from croupier.services.ledger.summary import Summary
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.rpc import names
from croupier.services.rpc.status import INTERNAL, refusal_to_wire
from croupier.services.store.mapper import value_to_wire
from croupier.v1 import accounts_pb2, admin_pb2, receipts_pb2, tables_pb2

PAGE_DEFAULT = 100
PAGE_MAX = 1000
PAGE_BYTES_MAX = 2_000_000
"""Pages are bounded in bytes too, well below the 4 MiB that clients accept by default."""

DIGITS_MAX = 19
"""As many as the largest number has that a record can hold."""

RESULTS_BYTES_MAX = 2_000_000
"""How long the answer to several commands gets before events are left out of it."""

M = TypeVar("M", bound=Message)


def receipt_to_wire(receipt: Receipt, *, omit_events: bool = False) -> receipts_pb2.Receipt:
    """Return a receipt as its message."""
    return receipts_pb2.Receipt(
        first_position=receipt.first,
        position=receipt.last,
        version=receipt.version,
        events=() if omit_events else receipt.events,
        events_omitted=omit_events,
        durability=receipt.durability,
    )


class Results:
    """What became of several commands, as messages; where it gets too long, events are left out.

    `command_refused` is told the reason of each that was refused, `seen` returns a receipt as the
    caller may see it.
    """

    def __init__(
        self,
        command_refused: Callable[[str], None],
        seen: Callable[[Receipt], Receipt] = lambda receipt: receipt,
    ) -> None:
        self._seen = seen
        self._command_refused = command_refused
        self._room = RESULTS_BYTES_MAX

    def add(self, answers: Iterable[Answer]) -> list[receipts_pb2.CommandResult]:
        """Return the results of the next answers."""
        results = []
        for answer in answers:
            result = self._result(answer)
            self._room -= result.ByteSize()
            results.append(result)
        return results

    def _result(self, answer: Answer) -> receipts_pb2.CommandResult:
        if isinstance(answer, Exception):
            refusal = answer if isinstance(answer, Refused) else INTERNAL
            self._command_refused(refusal.reason.value)
            return receipts_pb2.CommandResult(refusal=refusal_to_wire(refusal))
        omit = self._room <= 0
        given = answer if omit else self._seen(answer)
        receipt = receipt_to_wire(given, omit_events=omit)
        return receipts_pb2.CommandResult(receipt=receipt)


def table_to_wire(ledger: str, table: Table, eyes: Eyes) -> tables_pb2.Table:
    """Return a table as these eyes may see it."""
    opened, view = table.opened, table.seen(eyes)
    return tables_pb2.Table(
        name=names.table_name(ledger, table.id),
        game=opened.game,
        edition=opened.edition,
        options={name: value_to_wire(value) for name, value in opened.options.items()},
        currency=opened.currency,
        currency_exponent=CURRENCIES[opened.currency],
        seats=[
            tables_pb2.Seat(
                player=seat.player, at_risk=seat.at_risk, stake=seat.stake, standing=seat.standing
            )
            for seat in view.seats
        ],
        round=table.round,
        round_open=table.in_round,
        closed=table.closed,
        phase="CLOSED" if table.closed else view.phase,
        to_act=() if table.closed else view.to_act,
        expects=() if table.closed else view.expects,
        allowed=() if table.closed else map(_allowed_to_wire, view.allowed),
        at_risk=table.at_risk,
        version=table.version,
        details={name: value_to_wire(value) for name, value in view.details.items()},
        paytable_digest=table.paytable.digest(),
        bankroll=table.bankroll,
    )


def allowed_to_wire(table: Table, eyes: Eyes) -> Iterable[tables_pb2.AllowedCommand]:
    """Return every command that a table's rules allow now, as these eyes may see it."""
    if secretive(table.game) is None:  # without the rest of the view, which nobody asked for
        return map(_allowed_to_wire, table.allowed)
    return () if table.closed else map(_allowed_to_wire, table.seen(eyes).allowed)


def _allowed_to_wire(allowed: Allowed) -> tables_pb2.AllowedCommand:
    return tables_pb2.AllowedCommand(
        player=allowed.player,
        command=allowed.command,
        field=allowed.field,
        least=allowed.least,
        most=allowed.most,
        choices=allowed.choices,
        choice_field=allowed.choice_field,
    )


def account_to_wire(ledger: str, account: str, currency: str, balance: int) -> accounts_pb2.Account:
    """Return a balance as its message."""
    return accounts_pb2.Account(
        name=names.account_name(ledger, account),
        currency=currency,
        currency_exponent=CURRENCIES[currency],
        balance=balance,
    )


def currency_to_wire(currency: str, sums: dict[str, int]) -> accounts_pb2.CurrencyBalance:
    """Return the sums of one currency as their message."""
    return accounts_pb2.CurrencyBalance(
        currency=currency,
        currency_exponent=CURRENCIES[currency],
        sum=sum(sums.values()),
        liability=sums["players"] + sums["escrow"],
        **sums,
    )


def ledger_to_wire(ledger: Summary) -> admin_pb2.Ledger:
    """Return a ledger as its message, also one that is fenced."""
    if ledger.fenced:
        return admin_pb2.Ledger(name=names.ledger_name(ledger.id), fenced=ledger.fenced)
    return admin_pb2.Ledger(
        name=names.ledger_name(ledger.id),
        position=ledger.head.position,
        root=ledger.head.frontier.root,
        recorded_time=timestamp(ledger.head.recorded_us),
        format_version=ledger.format_version,
    )


def fence_to_wire(fence: Fence) -> admin_pb2.Fence:
    """Return what is behind a fence as its message."""
    return admin_pb2.Fence(
        why=fence.why,
        position=fence.head.position,
        root=fence.head.frontier.root,
        known_position=fence.known.position,
        known_root=fence.known.frontier.root,
        known_recorded_time=timestamp(fence.known.recorded_us),
        lost_first=fence.first,
        lost_last=fence.last,
        lost_requests=[
            admin_pb2.LostRequest(
                caller=one.caller,
                request_id=one.request_id,
                first_position=one.first,
                position=one.last,
            )
            for one in fence.requests
        ],
    )


def games_to_wire() -> list[admin_pb2.Game]:
    """Return the games that tables can be opened of."""
    return [
        admin_pb2.Game(
            code=game.code,
            title=game.title,
            edition=game.edition,
            presets=list(game.presets),
            options=[
                admin_pb2.GameOption(
                    name=option.name,
                    meaning=option.meaning,
                    default_value=value_to_wire(option.default),
                    choices=[value_to_wire(choice) for choice in option.values],
                    least=option.least,
                    most=option.most,
                )
                for option in game.options
            ],
        )
        for game in GAMES.values()
    ]


def bounded(page: Iterable[M]) -> list[M]:
    """Return as many messages of a page as `PAGE_BYTES_MAX` allows, but at least one."""
    kept: list[M] = []
    page_bytes = 0
    for message in page:
        page_bytes += message.ByteSize()
        if kept and page_bytes > PAGE_BYTES_MAX:
            break
        kept.append(message)
    return kept


def page_size(asked: int) -> int:
    """Return how many items a page has, or refuse."""
    if asked < 0 or asked > PAGE_MAX:
        raise Refused(
            Reason.INVALID_PAGE_SIZE, f"a page has 1 to {PAGE_MAX} items", field="page_size"
        )
    return asked or PAGE_DEFAULT


def page_token(collection: str, *last: str) -> str:
    """Return the token of the page after the item of a collection that is called `last`."""
    return base64.urlsafe_b64encode(" ".join((collection, *last)).encode()).decode()


def numbered(text: str, least: int, most: int) -> int:
    """Return the number in a page token, or refuse one that is not of this list."""
    if text.isascii() and text.isdecimal() and len(text) <= DIGITS_MAX:
        number = int(text)
        if least <= number <= most:
            return number
    raise Refused(
        Reason.INVALID_PAGE_TOKEN, "the page token is none of this list's", field="page_token"
    )


def after_page(collection: str, token: str, parts: int = 1) -> list[str]:
    """Return the item after which a page begins, or refuse a token that is not ours.

    An item's name has so many parts; all are empty where the first page is asked for.
    """
    if not token:
        return [""] * parts
    try:
        text = base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        text = ""
    found, *last = text.split(" ")
    if found != collection or len(last) != parts or not text.isprintable():
        raise Refused(
            Reason.INVALID_PAGE_TOKEN,
            "the page token is none of this list's",
            field="page_token",
        )
    return last
