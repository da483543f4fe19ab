"""The moves of a player whose turn is a choice among many, in pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from croupier.domain.commands import Command
from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.games.protocol import Secretive, secretive
from croupier.domain.table import Table
from croupier.services.rpc import views
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.callers import Caller
from croupier.services.rpc.permissions import not_his_player
from croupier.services.rpc.wire_cards import move_to_wire
from croupier.v1 import play_pb2 as pb

START_MAX = 10**9
"""More moves than any table has."""


async def listed(
    request: pb.ListMovesRequest, table: Table, caller: Caller, bulk: Bulk
) -> pb.ListMovesResponse:
    """Return a page of the moves at a table, for whoever may see the hand that they tell of.

    The page is of the table as it is now; what is played meanwhile does not change it.
    """
    size = views.page_size(request.page_size)
    start = _start(request, table)
    mover = _mover(_game(table), table.state)
    player = request.player or mover
    if player and caller.eyes is not None and player not in caller.eyes:
        raise not_his_player(caller, player)
    if request.player and request.player not in table.opened.seats:
        raise Refused(
            Reason.NOT_SEATED,
            f"{shown(request.player)} has no seat at this table",
            field="player",
            player=request.player[:64],
        )
    moves: Iterator[Any] = iter(())
    if mover and request.player in ("", mover):
        moves = _game(table).moves(table.state, start)
    page = await bulk.take(map(move_to_wire, moves), size + 1)
    more = len(page) > size
    return pb.ListMovesResponse(
        moves=page[:size],
        player=mover if page else "",
        round=table.round,
        version=table.version,
        next_page_token=_token(request, table, start + size) if more else "",
    )


def _game(table: Table) -> Secretive:
    game = secretive(table.game)
    if game is None:
        raise Refused(
            Reason.NOT_OFFERED,
            f"`allowed` says all that may be played in {table.opened.game}",
            field="table",
            rule="allowed_says_all",
            game=table.opened.game,
        )
    return game


def _mover(game: Secretive, state: Any) -> str:
    """Return the player whose turn it is, "" where nobody has a choice of moves."""
    first: Command | None = next(game.moves(state), None)
    return "" if first is None else first.player


def _token(request: pb.ListMovesRequest, table: Table, start: int) -> str:
    return views.page_token("moves", request.table, str(table.version), str(start))


def _start(request: pb.ListMovesRequest, table: Table) -> int:
    """Return the number of the page's first move, or refuse a token of another list."""
    name, version, start = views.after_page("moves", request.page_token, parts=3)
    if not request.page_token:
        return 0
    if (name, version) != (request.table, str(table.version)):
        raise Refused(
            Reason.INVALID_PAGE_TOKEN,
            f"the page token is not of this table at version {table.version}; begin the list anew",
            field="page_token",
            version=table.version,
        )
    return views.numbered(start, 1, START_MAX)
