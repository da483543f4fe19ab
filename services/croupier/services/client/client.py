"""The client itself: one channel, one caller, every service of the API."""

from __future__ import annotations

import asyncio
from typing import Self

import grpc
from grpc_health.v1 import health_pb2_grpc

from croupier.services.client.calls import Calls, Patience
from croupier.services.client.services import Accounts, Admin, Audit, Health, Play, Tables
from croupier.v1.accounts_pb2_grpc import AccountServiceStub
from croupier.v1.admin_pb2_grpc import AdminServiceStub
from croupier.v1.audit_pb2_grpc import AuditServiceStub
from croupier.v1.play_pb2_grpc import PlayServiceStub
from croupier.v1.tables_pb2_grpc import TableServiceStub

_OPTIONS = [
    # Retries are ours: each carries the same request id and keeps to the call's deadline.
    ("grpc.enable_retries", 0),
    # A server that restarts is found again within a pause or two.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]


class Client:
    """Calls one server as one caller. Use it as an asynchronous context, in a running loop."""

    def __init__(
        self,
        address: str,
        token: str | None = None,
        root_certificates: bytes | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Call the server at "HOST:PORT".

        With `root_certificates` (PEM) it is called by TLS, and has to have a certificate that one
        of them signed; with empty ones, one that the roots known to gRPC signed. Without them it is
        called in plaintext, which is for loopback and for private networks: a token is a secret.

        Raises:
            RuntimeError: no event loop is running, so that a channel would belong to another one.

        """
        asyncio.get_running_loop()
        if root_certificates is None:
            self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        else:
            credentials = grpc.ssl_channel_credentials(root_certificates or None)
            self._channel = grpc.aio.secure_channel(address, credentials, options=_OPTIONS)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        calls = Calls(patience or Patience(), metadata)
        channel = self._channel
        self._tables = Tables(calls, TableServiceStub(channel))
        self._play = Play(calls, PlayServiceStub(channel))
        self._accounts = Accounts(calls, AccountServiceStub(channel))
        self._audit = Audit(calls, AuditServiceStub(channel))
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
        """Return the audit: replay and the log."""
        return self._audit

    @property
    def admin(self) -> Admin:
        """Return the administration: ledgers and the server."""
        return self._admin

    @property
    def health(self) -> Health:
        """Return the health check."""
        return self._health

    async def close(self) -> None:
        """Close the channel; calls under way are cancelled."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the channel."""
        await self.close()
