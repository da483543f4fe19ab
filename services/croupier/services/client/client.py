"""The client itself: one caller, every service of the API, on one server or on the best one."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from grpc_health.v1 import health_pb2_grpc

from croupier.services.assignment import ranked
from croupier.services.client.admin import Admin
from croupier.services.client.audit import Audit
from croupier.services.client.calls import Calls, Patience
from croupier.services.client.odds import Odds
from croupier.services.client.routes import Channels, Route
from croupier.services.client.services import Accounts, Health, Play, Tables
from croupier.v1.accounts_pb2_grpc import AccountServiceStub
from croupier.v1.admin_pb2_grpc import AdminServiceStub
from croupier.v1.audit_pb2_grpc import AuditServiceStub
from croupier.v1.odds_pb2_grpc import OddsServiceStub
from croupier.v1.play_pb2_grpc import PlayServiceStub
from croupier.v1.tables_pb2_grpc import TableServiceStub

LEDGER_METADATA = "croupier-ledger"
"""The metadata that names the ledger of a call, for proxies that send it on by that."""


class Services:
    """Every service of the API over one channel, or whatever stands in for one."""

    def __init__(self, calls: Calls, channel: Any) -> None:
        self._tables = Tables(calls, TableServiceStub(channel))
        self._play = Play(calls, PlayServiceStub(channel))
        self._accounts = Accounts(calls, AccountServiceStub(channel))
        self._audit = Audit(calls, AuditServiceStub(channel))
        self._odds = Odds(calls, OddsServiceStub(channel))
        self._admin = Admin(calls, AdminServiceStub(channel))
        self._health = Health(calls, health_pb2_grpc.HealthStub(channel))

    @property
    def tables(self) -> Tables:
        """Return the tables: open, show, list, close."""
        return self._tables

    @property
    def play(self) -> Play:
        """Return the commands of the games."""
        return self._play

    @property
    def accounts(self) -> Accounts:
        """Return the accounts: deposit, withdraw, balances, their sum."""
        return self._accounts

    @property
    def audit(self) -> Audit:
        """Return the audit: replay, recall and the log."""
        return self._audit

    @property
    def odds(self) -> Odds:
        """Return the odds: what games pay, and what that is worth."""
        return self._odds

    @property
    def admin(self) -> Admin:
        """Return the administration: ledgers and the server."""
        return self._admin

    @property
    def health(self) -> Health:
        """Return the health check."""
        return self._health


class LedgerClient(Services):
    """Calls the best server for one ledger, and while that is away, the next best.

    Its channels are those of the client that made it, and are closed with that one.
    """

    def __init__(self, ledger: str, calls: Calls, route: Route) -> None:
        super().__init__(calls, route)
        self.ledger = ledger
        """The ledger's id."""
        self._route = route

    @property
    def address(self) -> str:
        """Return where the next call goes."""
        return self._route.address()

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return where calls may go, the best address first."""
        return self._route.addresses


class Client(Services):
    """Calls one server as one caller. Use it as an asynchronous context, in a running loop."""

    def __init__(
        self,
        address: str,
        token: str | None = None,
        root_certificates: bytes | None = None,
        patience: Patience | None = None,
        *,
        server_name: str | None = None,
    ) -> None:
        """Call the server at "HOST:PORT".

        With `root_certificates` (PEM) it is called by TLS, and has to have a certificate that one
        of them signed; with empty ones, one that the roots known to gRPC signed. Without them it is
        called in plaintext, which is for loopback and for private networks: a token is a secret.
        `server_name` is the name in its certificate, where that is not the one in the address.

        Raises:
            RuntimeError: no event loop is running, so that a channel would belong to another one.

        """
        asyncio.get_running_loop()
        self._address = address
        self._channels = Channels(root_certificates, server_name)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._calls = Calls(patience or Patience(), metadata)
        super().__init__(self._calls, self._channels.to(address))

    async def for_ledger(self, ledger: str, *, by_proxy: bool = False) -> LedgerClient:
        """Return a client for one ledger, given by id, that calls the best server for it.

        The server is asked which servers there are. The ledger need not exist yet. Calls carry the
        ledger's id as `croupier-ledger`; where a proxy is to choose the server by that, they go
        where this client's go: `by_proxy`, which asks nothing.

        Raises:
            CallRefused: the server cannot be asked, or the caller has no part in the ledger.

        """
        addresses: list[str] = []
        if not by_proxy:
            info = await self.admin.server_info(ledger)
            if len(info.addresses) > 1:  # one alone is called as it was called so far
                addresses = ranked(info.addresses, ledger)
        calls = Calls(self._calls.patience, (*self._calls.metadata, (LEDGER_METADATA, ledger)))
        return LedgerClient(ledger, calls, Route(self._channels, [*addresses, self._address]))

    async def close(self) -> None:
        """Close the channels, also those of clients for ledgers; calls under way are cancelled."""
        await self._channels.close()

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the channels."""
        await self.close()
