"""AccountService: money in and out, balances and their sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from croupier.services.ledger.ledgers import Ledgers
from croupier.services.ledger.requests import Request
from croupier.services.ledger.turn import Answer, Receipt
from croupier.services.rpc import batches, names, views, wire
from croupier.services.rpc.batches import Batch
from croupier.services.rpc.bulk import Bulk
from croupier.services.rpc.calls import caller
from croupier.services.rpc.permissions import check_account
from croupier.v1 import accounts_pb2 as pb
from croupier.v1 import receipts_pb2
from croupier.v1.accounts_pb2_grpc import AccountServiceServicer


class AccountService(AccountServiceServicer):
    """Translates, calls, translates."""

    def __init__(
        self, ledgers: Ledgers, bulk: Bulk, command_refused: Callable[[str], None]
    ) -> None:
        """Report the reason of every transfer among several that is refused."""
        self._ledgers = ledgers
        self._bulk = bulk
        self._command_refused = command_refused

    async def Deposit(self, request: pb.DepositRequest, context: Any) -> pb.DepositResponse:
        receipt = await self._move(*wire.deposit_from_wire(request))
        return pb.DepositResponse(
            receipt=views.receipt_to_wire(receipt),
            account=self._account_after(request),
        )

    async def Withdraw(self, request: pb.WithdrawRequest, context: Any) -> pb.WithdrawResponse:
        receipt = await self._move(*wire.withdraw_from_wire(request))
        return pb.WithdrawResponse(
            receipt=views.receipt_to_wire(receipt),
            account=self._account_after(request),
        )

    async def TransferBatch(
        self, request: pb.TransferBatchRequest, context: Any
    ) -> pb.TransferBatchResponse:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        batch = await Batch.parse(
            self._bulk,
            "transfers",
            request.transfers,
            lambda message: wire.transfer_in(ledger_id, message),
            atomic=request.atomic,
        )
        answers = await batches.finish(batch.begin(ledger), "transfers")
        return pb.TransferBatchResponse(results=await self._results(answers))

    async def GetAccount(
        self, request: pb.GetAccountRequest, context: Any
    ) -> pb.GetAccountResponse:
        currency = wire.currency_from_wire(request)
        _, account = names.parse_account(request.name, "name")
        check_account(caller(), account)
        return pb.GetAccountResponse(account=self._account(request.name, "name", currency))

    async def ListAccounts(
        self, request: pb.ListAccountsRequest, context: Any
    ) -> pb.ListAccountsResponse:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        size = views.page_size(request.page_size)
        after = tuple(views.after_page("accounts", request.page_token, parts=2))
        balances = ledger.balances()
        keys = sorted(key for key in balances if key > after)
        accounts = [views.account_to_wire(ledger_id, *key, balances[key]) for key in keys[:size]]
        more = len(keys) > size
        return pb.ListAccountsResponse(
            accounts=accounts,
            next_page_token=views.page_token("accounts", *keys[size - 1]) if more else "",
        )

    async def GetTrialBalance(
        self, request: pb.GetTrialBalanceRequest, context: Any
    ) -> pb.GetTrialBalanceResponse:
        ledger_id = names.parse_ledger(request.parent, "parent")
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        position, sums = ledger.trial_balance()
        return pb.GetTrialBalanceResponse(
            position=position,
            currencies=[views.currency_to_wire(one, sums[one]) for one in sorted(sums)],
        )

    async def _results(self, answers: list[Answer]) -> list[receipts_pb2.CommandResult]:
        results = views.Results(self._command_refused)
        return await self._bulk.each(results.add, answers)

    async def _move(self, ledger_id: str, request: Request) -> Receipt:
        return await self._ledgers.get(caller().check_ledger(ledger_id)).submit(request)

    def _account_after(self, request: pb.DepositRequest | pb.WithdrawRequest) -> pb.Account | None:
        """Return the account that money was moved of, None where none was moved."""
        if request.validate_only:
            return None
        return self._account(request.account, "account", request.currency, decided=True)

    def _account(
        self, name: str, field: str, currency: str, *, decided: bool = False
    ) -> pb.Account:
        ledger_id, account = names.parse_account(name, field)
        ledger = self._ledgers.get(caller().check_ledger(ledger_id))
        balance = ledger.balance(account, currency, decided=decided)
        return views.account_to_wire(ledger_id, account, currency, balance)
