"""The services of the API as Python methods: names and amounts in, messages out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.domain.names import HOUSE
from croupier.services.client.calls import Calls, mint
from croupier.services.client.commands import (
    Move,
    Once,
    OnceAt,
    Turn,
    deposit,
    values_of,
    withdraw,
)
from croupier.services.client.stream import PlayStream, Result, results_of
from croupier.services.rpc.names import ledger_name
from croupier.v1 import (
    accounts_pb2,
    play_pb2,
    tables_pb2,
)
from croupier.v1.receipts_pb2 import Receipt

if TYPE_CHECKING:  # these are names of the stubs' types only
    from croupier.v1.accounts_pb2_grpc import AccountServiceAsyncStub
    from croupier.v1.play_pb2_grpc import PlayServiceAsyncStub
    from croupier.v1.tables_pb2_grpc import TableServiceAsyncStub

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Opening:
    """What a table is opened with: seats clockwise; who banks first, by default the first seat.

    The option "preset" names a set of options, which the others override one by one. `bankroll` is
    what the house puts at risk, minor units, where the house banks, and only there.
    """

    game: str
    seats: tuple[str, ...]
    currency: str
    banker: str = ""
    options: Mapping[str, int | str | bool] = field(default_factory=dict)
    bankroll: int = 0


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables: one game each, played round after round."""

    _calls: Calls
    _stub: TableServiceAsyncStub

    async def open(
        self, ledger: str, table_id: str, opening: Opening, **once: Unpack[Once]
    ) -> tables_pb2.OpenTableResponse:
        """Open a table in a ledger, both given by id."""
        request = tables_pb2.OpenTableRequest(
            parent=ledger_name(ledger),
            table_id=table_id,
            game=opening.game,
            options=values_of(opening.options),
            seats=opening.seats,
            currency=opening.currency,
            banker=opening.banker or (HOUSE if opening.bankroll else opening.seats[0]),
            bankroll=opening.bankroll,
            **once,
        )
        return await self._calls.ask(self._stub.OpenTable, request)

    async def get(self, table: str) -> tables_pb2.Table:
        """Return a table as it stands."""
        request = tables_pb2.GetTableRequest(name=table)
        return (await self._calls.ask(self._stub.GetTable, request)).table

    async def list(self, ledger: str) -> AsyncIterator[tables_pb2.Table]:
        """Yield the tables of a ledger given by id, page after page."""
        request = tables_pb2.ListTablesRequest(parent=ledger_name(ledger), page_size=PAGE)
        while True:
            page = await self._calls.ask(self._stub.ListTables, request)
            for table in page.tables:
                yield table
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def close(self, table: str, **once: Unpack[OnceAt]) -> tables_pb2.CloseTableResponse:
        """Close a table between rounds; it pays out what it still holds."""
        request = tables_pb2.CloseTableRequest(name=table, **once)
        return await self._calls.ask(self._stub.CloseTable, request)


@dataclass(frozen=True, slots=True)
class Play:
    """Every command of every game; each returns the receipt with all events it caused."""

    _calls: Calls
    _stub: PlayServiceAsyncStub

    async def post_bank(self, turn: Turn, amount: int, **once: Unpack[Move]) -> Receipt:
        """Post a bank: `amount` new money on top of what the bank carried over."""
        return await self.one(turn.post_bank(amount, **once))

    async def fade(self, turn: Turn, stake: int, **once: Unpack[Move]) -> Receipt:
        """Cover `stake` of the bank."""
        return await self.one(turn.fade(stake, **once))

    async def decline(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Cover nothing of the bank."""
        return await self.one(turn.decline(**once))

    async def roll(
        self, turn: Turn, dice: tuple[int, ...], source: tuple[str, str], **once: Unpack[Move]
    ) -> Receipt:
        """Record a throw made elsewhere; its source is "device" or "dealer", and which one."""
        return await self.one(turn.roll(dice, source, **once))

    async def draw(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Throw dice that the service draws."""
        return await self.one(turn.draw(**once))

    async def keep_bank(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Bank again, where the banker is offered the choice."""
        return await self.one(turn.keep_bank(**once))

    async def pass_bank(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Hand the bank to the left neighbour, where the banker is offered the choice."""
        return await self.one(turn.pass_bank(**once))

    async def resign_bank(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Give up the bank before posting."""
        return await self.one(turn.resign_bank(**once))

    async def ante(self, turn: Turn, amount: int, **once: Unpack[Move]) -> Receipt:
        """Put the ante of the table, `amount`, into the pot."""
        return await self.one(turn.ante(amount, **once))

    async def choose_win(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Take the win for a High Storm, where its thrower is offered the choice."""
        return await self.one(turn.choose_win(**once))

    async def choose_death_roll(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Start a Death Roll instead of the win, where the thrower is offered the choice."""
        return await self.one(turn.choose_death_roll(**once))

    async def cover(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Cover the cup, as the dealer; a round begins."""
        return await self.one(turn.cover(**once))

    async def press_handle(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Press the handle of the cup, as the dealer: three times in a round."""
        return await self.one(turn.press_handle(**once))

    async def light_on(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Switch the light on, as the dealer; betting begins."""
        return await self.one(turn.light_on(**once))

    async def place_bet(self, turn: Turn, place: str, stake: int, **once: Unpack[Move]) -> Receipt:
        """Bet `stake` on a place of the layout."""
        return await self.one(turn.place_bet(place, stake, **once))

    async def ring_bell(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Ring the bell, as the dealer; no more bets."""
        return await self.one(turn.ring_bell(**once))

    async def open_cup(
        self, turn: Turn, dice: tuple[int, ...], source: tuple[str, str], **once: Unpack[Move]
    ) -> Receipt:
        """Open the cup, as the dealer, on dice that lie in it."""
        return await self.one(turn.open_cup(dice, source, **once))

    async def open_cup_drawn(self, turn: Turn, **once: Unpack[Move]) -> Receipt:
        """Open the cup, as the dealer, on dice that the service draws."""
        return await self.one(turn.open_cup_drawn(**once))

    async def void_throw(self, turn: Turn, reason: str, **once: Unpack[Move]) -> Receipt:
        """Open the cup, as the dealer, on a throw that does not count."""
        return await self.one(turn.void_throw(reason, **once))

    async def one(self, command: play_pb2.PlayRequest) -> Receipt:
        """Play a command as `Turn` makes it."""
        return (await self._calls.ask(self._stub.Play, command)).receipt

    async def moves(self, table: str, player: str = "") -> AsyncIterator[play_pb2.PlayRequest]:
        """Yield every move that may be made now at a table, given by name, ready to be played.

        They are the player's, or without one, of whoever's turn it is. Each is refused once
        anything else was played.

        Raises:
            CallRefused: `INVALID_PAGE_TOKEN` where something was played before all were listed.

        """
        request = play_pb2.ListMovesRequest(table=table, player=player, page_size=PAGE)
        while True:
            page = await self._calls.ask(self._stub.ListMoves, request)
            turn = Turn(table, page.round, page.player)
            for move in page.moves:
                yield turn.move(move, expected_version=page.version)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def batch(
        self, ledger: str, commands: Sequence[play_pb2.PlayRequest], *, atomic: bool = False
    ) -> list[Result]:
        """Play commands in order at tables of a ledger given by id; with `atomic` all or none.

        Returns for each its receipt, or as a value why it was refused.

        Raises:
            CallRefused: nothing was done: with `atomic` because of a command, which `field` names.

        """
        for command in commands:
            mint(command)
        request = play_pb2.PlayBatchRequest(
            parent=ledger_name(ledger), commands=commands, atomic=atomic
        )
        return results_of((await self._calls.ask(self._stub.PlayBatch, request)).results)

    def stream(self, ledger: str) -> PlayStream:
        """Return a stream of commands to a ledger given by id, to be used as a context."""
        return PlayStream(self._calls, self._stub.PlayStream, ledger_name(ledger))


@dataclass(frozen=True, slots=True)
class Accounts:
    """All money of a ledger."""

    _calls: Calls
    _stub: AccountServiceAsyncStub

    async def deposit(
        self, account: str, currency: str, amount: int, **once: Unpack[Move]
    ) -> accounts_pb2.DepositResponse:
        """Bring money from outside into a player's or the house's account."""
        request = deposit(account, currency, amount, **once)
        return await self._calls.ask(self._stub.Deposit, request)

    async def withdraw(
        self, account: str, currency: str, amount: int, **once: Unpack[Move]
    ) -> accounts_pb2.WithdrawResponse:
        """Take money out of a player's or the house's account."""
        request = withdraw(account, currency, amount, **once)
        return await self._calls.ask(self._stub.Withdraw, request)

    async def transfer(
        self,
        ledger: str,
        transfers: Sequence[accounts_pb2.DepositRequest | accounts_pb2.WithdrawRequest],
        *,
        atomic: bool = False,
    ) -> list[Result]:
        """Deposit and withdraw in order in a ledger given by id; with `atomic` all or none.

        Returns for each its receipt, or as a value why it was refused.

        Raises:
            CallRefused: nothing was done: with `atomic` because of a transfer, which `field` names.

        """
        for one in transfers:
            mint(one)
        request = accounts_pb2.TransferBatchRequest(
            parent=ledger_name(ledger),
            transfers=[
                accounts_pb2.Transfer(deposit=one)
                if isinstance(one, accounts_pb2.DepositRequest)
                else accounts_pb2.Transfer(withdraw=one)
                for one in transfers
            ],
            atomic=atomic,
        )
        return results_of((await self._calls.ask(self._stub.TransferBatch, request)).results)

    async def get(self, account: str, currency: str) -> accounts_pb2.Account:
        """Return a balance."""
        request = accounts_pb2.GetAccountRequest(name=account, currency=currency)
        return (await self._calls.ask(self._stub.GetAccount, request)).account

    async def list(self, ledger: str) -> AsyncIterator[accounts_pb2.Account]:
        """Yield the balances of a ledger given by id, page after page."""
        request = accounts_pb2.ListAccountsRequest(parent=ledger_name(ledger), page_size=PAGE)
        while True:
            page = await self._calls.ask(self._stub.ListAccounts, request)
            for account in page.accounts:
                yield account
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def trial_balance(self, ledger: str) -> accounts_pb2.GetTrialBalanceResponse:
        """Return the sums of a ledger given by id; the sum of each currency must be 0."""
        request = accounts_pb2.GetTrialBalanceRequest(parent=ledger_name(ledger))
        return await self._calls.ask(self._stub.GetTrialBalance, request)


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the server serves; needs no token."""

    _calls: Calls
    _stub: health_pb2_grpc.HealthStub

    async def serving(self, service: str = "") -> bool:
        """Return whether the server, one service or one ledger is served now. Never retried."""
        request = health_pb2.HealthCheckRequest(service=service)
        check: Any = getattr(self._stub, "Check")  # noqa: B009  # the types of the stub lack it
        answer = await self._calls.ask(check, request, once=True)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
