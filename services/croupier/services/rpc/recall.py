"""Game recall: what a round of a table was, and which rounds there are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

from croupier.domain import names as accounts
from croupier.domain.errors import Reason, Refused
from croupier.domain.money import CURRENCIES
from croupier.services.audit.recall import Recall
from croupier.services.ledger.history import STEP, History, Span
from croupier.services.ledger.ledger import Ledger
from croupier.services.rpc import eyes, names, views
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.callers import Caller
from croupier.services.store.mapper import kind_of, value_to_wire
from croupier.v1 import audit_pb2 as pb
from croupier.v1 import events_pb2, values_pb2

ENDED = {
    "round_settled": pb.ROUND_STATUS_SETTLED,
    "round_voided": pb.ROUND_STATUS_VOIDED,
}


class Recalls:
    """Recalls rounds. What takes long is done for one caller at a time."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk
        self._turn = asyncio.Lock()

    async def round(
        self, ledger: Ledger, request: pb.GetRoundRequest, caller: Caller
    ) -> pb.GetRoundResponse:
        """Return a round, and a page of its events as the caller may see them now."""
        _, table_id = names.parse_table(request.table, "table")
        with ledger.in_use():
            history = ledger.history(table_id)
            span = history.span(_begun(history, request.round))
            after = _after(request, span)
            size = views.page_size(request.page_size) if request.page_size else views.PAGE_MAX
            recall = Recall(table_id)
            page: list[events_pb2.Event] = []
            for event in history.events(span.first - 1, span.last):
                recall.fold(event)
                if after < event.version <= after + size:
                    page.append(event)
                if event.version % STEP == 0:
                    await asyncio.sleep(0)
            page = views.bounded(page)
            recalled = _round(history, span, request.round, ledger.id)
            more = page[-1].version < span.last
            token = _token(request, page[-1].version) if more else ""
            seen = await self._bulk.each(lambda some: eyes.events(ledger, some, caller.eyes), page)
            _add_who_acted(recalled, recall)
            return pb.GetRoundResponse(
                round=recalled,
                players=await self._players(history, recalled, recall, brief=request.brief),
                events=seen,
                next_page_token=token,
            )

    async def _players(
        self, history: History, recalled: pb.Round, recall: Recall, *, brief: bool
    ) -> list[pb.PlayerRound]:
        players = _those_who(history, recall)
        rows = [
            pb.PlayerRound(
                player=one,
                staked=recall.staked[one],
                returned=recall.returned[one],
                winnings=recall.winnings[one],
            )
            for one in players
        ]
        if brief:
            return rows
        async with self._turn:
            carried = await _carried(history, recalled)
            before, after = await history.balances(
                [*players.values()], recalled.first_position - 1, recalled.last_position
            )
        for row in rows:
            account = players[row.player]
            row.carried_in, row.carried_out = (held[row.player] for held in carried)
            row.net = row.returned + row.winnings + row.carried_out - row.staked - row.carried_in
            row.balance_before, row.balance_after = before[account], after[account]
        return rows

    async def rounds(self, ledger: Ledger, request: pb.ListRoundsRequest) -> pb.ListRoundsResponse:
        """Return a page of a table's rounds, the newest first."""
        _, table_id = names.parse_table(request.table, "table")
        size = views.page_size(request.page_size)
        with ledger.in_use():
            history = ledger.history(table_id)
            newest = _newest(request, history)
            oldest = max(1, newest - size + 1)
            spans = _spans(history, oldest, newest)
            found = await self._bulk.each(
                lambda some: [_round(history, *next(spans), ledger.id) for _ in some],
                range(oldest, newest + 1),
            )
        page = views.bounded(reversed(found))
        left = newest - len(page)
        token = views.page_token("rounds", request.table, str(left)) if left > 0 else ""
        return pb.ListRoundsResponse(rounds=page, next_page_token=token)


def _spans(history: History, oldest: int, newest: int) -> Iterator[tuple[Span, int]]:
    after = 0
    for number in range(oldest, newest + 1):
        span = history.span(number, after)
        yield span, number
        after = span.last


def _begun(history: History, number: int) -> int:
    """Return the number of a round that has begun, or refuse."""
    if not number:
        raise Refused(Reason.MISSING_FIELD, "round is required, from 1", field="round")
    if number < 0:
        raise Refused(Reason.INVALID_POSITION, "rounds are numbered from 1", field="round")
    if number > history.newest:
        raise Refused(
            Reason.ROUND_NOT_OPEN,
            f"round {number} has not begun; the last that has is {history.newest}",
            field="round",
            round=history.newest,
            asked=number,
        )
    return number


def _round(history: History, span: Span, number: int, ledger_id: str) -> pb.Round:
    """Return a round by its first and its last event, and those of the table."""
    (first,) = history.events(span.first - 1, span.first)
    (last,) = history.events(span.last - 1, span.last)
    opened, ending = history.table.opened, kind_of(last)
    ended = ending in ENDED
    return pb.Round(
        table=names.table_name(ledger_id, history.table.id),
        round=number,
        status=ENDED.get(ending, pb.ROUND_STATUS_OPEN),
        game=opened.game,
        edition=opened.edition,
        options={name: value_to_wire(value) for name, value in opened.options.items()},
        currency=opened.currency,
        currency_exponent=CURRENCIES[opened.currency],
        paytable_digest=first.round_started.paytable_digest,
        start_time=first.recorded_time,
        end_time=last.recorded_time if ended else None,
        first_position=first.position,
        last_position=last.position,
        first_version=span.first,
        last_version=span.last,
        carried=last.round_settled.carried,
        void_reason=last.round_voided.reason,
    )


def _add_who_acted(recalled: pb.Round, recall: Recall) -> None:
    recalled.callers.extend(recall.callers)
    recalled.actors.extend(recall.actors)
    recalled.sources.extend(values_pb2.Source(kind=one.kind, id=one.id) for one in recall.sources)


def _those_who(history: History, recall: Recall) -> dict[str, str]:
    """Return the account of everybody who took part, the house too where it banks."""
    table = history.table
    seated = dict.fromkeys((*table.opened.seats, *recall.staked, *recall.returned))
    if not table.house_banks:
        return {one: accounts.player(one) for one in seated}
    seated.pop(accounts.HOUSE, None)
    players = {one: accounts.player(one) for one in seated}
    return players | {accounts.HOUSE: accounts.bankroll(table.id)}


async def _carried(history: History, recalled: pb.Round) -> list[Counter[str]]:
    """Return what each player had at risk before a round and at its end.

    The table is folded only where anybody had: what stayed at the end of a round, its event says.
    """
    first, last = recalled.first_version, recalled.last_version
    settled = recalled.status != pb.ROUND_STATUS_OPEN
    began_with = 0
    if recalled.round > 1:
        before = history.span(recalled.round - 1).last
        (end,) = history.events(before - 1, before)
        began_with = end.round_settled.carried
    if not began_with and settled and not recalled.carried:
        return [Counter(), Counter()]
    return await history.held(first - 1, last)


# --- pages ----------------------------------------------------------------------------------------


def _token(request: pb.GetRoundRequest, version: int) -> str:
    return views.page_token("round", request.table, str(request.round), str(version))


def _after(request: pb.GetRoundRequest, span: Span) -> int:
    """Return the version after which a page of a round's events begins, or refuse a token."""
    table, number, version = views.after_page("round", request.page_token, parts=3)
    if not request.page_token:
        return span.first - 1
    ours = (table, number) == (request.table, str(request.round))
    return views.numbered(version if ours else "", span.first, span.last - 1)


def _newest(request: pb.ListRoundsRequest, history: History) -> int:
    """Return the number of the first round of a page, or refuse a token."""
    table, number = views.after_page("rounds", request.page_token, parts=2)
    if not request.page_token:
        return history.newest
    return views.numbered(number if table == request.table else "", 1, history.newest)
