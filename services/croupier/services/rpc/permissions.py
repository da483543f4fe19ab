"""Which roles may call which method. A method that is not here may be called by nobody."""

from __future__ import annotations

from croupier.domain.errors import Reason, Refused
from croupier.services.rpc.callers import Caller, Role

_PLAY = frozenset({Role.OPERATOR, Role.DEALER})
_MONEY = frozenset({Role.OPERATOR})
_READ = frozenset({Role.OPERATOR, Role.AUDITOR})
_WATCH = frozenset({Role.OPERATOR, Role.DEALER, Role.AUDITOR})
_SUMS = frozenset({Role.OPERATOR, Role.AUDITOR, Role.OPS})
_ANY = frozenset(Role)
_OPS = frozenset({Role.OPERATOR, Role.OPS})

ROLES: dict[str, frozenset[Role]] = {
    "/croupier.v1.TableService/OpenTable": _PLAY,
    "/croupier.v1.TableService/CloseTable": _PLAY,
    "/croupier.v1.TableService/GetTable": _WATCH,
    "/croupier.v1.TableService/ListTables": _WATCH,
    "/croupier.v1.PlayService/Play": _PLAY,
    "/croupier.v1.PlayService/PlayBatch": _PLAY,
    "/croupier.v1.PlayService/PlayStream": _PLAY,
    "/croupier.v1.AccountService/Deposit": _MONEY,
    "/croupier.v1.AccountService/Withdraw": _MONEY,
    "/croupier.v1.AccountService/TransferBatch": _MONEY,
    "/croupier.v1.AccountService/GetAccount": _READ,
    "/croupier.v1.AccountService/ListAccounts": _READ,
    "/croupier.v1.AccountService/GetTrialBalance": _SUMS,
    "/croupier.v1.AuditService/ReplayTable": _READ,
    "/croupier.v1.AuditService/ListEvents": _READ,
    "/croupier.v1.AuditService/WatchEvents": _WATCH,
    "/croupier.v1.OddsService/GetPaytable": _ANY,
    "/croupier.v1.OddsService/Quote": _ANY,
    "/croupier.v1.OddsService/GetExposure": _WATCH,
    "/croupier.v1.AdminService/CreateLedger": _MONEY,
    "/croupier.v1.AdminService/GetLedger": _ANY,
    "/croupier.v1.AdminService/ListLedgers": _ANY,
    "/croupier.v1.AdminService/VoidRound": _MONEY,
    "/croupier.v1.AdminService/GetFence": _SUMS,
    "/croupier.v1.AdminService/UnfenceLedger": _MONEY,
    "/croupier.v1.AdminService/GetServerInfo": _ANY,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": _ANY,
    "/grpc.channelz.v1.Channelz/GetTopChannels": _OPS,
    "/grpc.channelz.v1.Channelz/GetServers": _OPS,
    "/grpc.channelz.v1.Channelz/GetServer": _OPS,
    "/grpc.channelz.v1.Channelz/GetServerSockets": _OPS,
    "/grpc.channelz.v1.Channelz/GetChannel": _OPS,
    "/grpc.channelz.v1.Channelz/GetSubchannel": _OPS,
    "/grpc.channelz.v1.Channelz/GetSocket": _OPS,
}

OPEN_TO_ALL = frozenset({"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"})
"""Probes carry no token and learn nothing but whether the service serves."""


def check_role(caller: Caller, method: str) -> None:
    """Refuse a caller none of whose roles may call `method`, and a method that does not exist."""
    if method not in ROLES:
        named = method[:128]
        raise Refused(Reason.METHOD_NOT_FOUND, f"this server has no method {named}", method=named)
    allowed = ROLES[method]
    if caller.roles.isdisjoint(allowed):
        raise Refused(
            Reason.ROLE_NOT_ALLOWED,
            f"caller {caller.name} has no role that may call {method}",
            caller=caller.name,
            method=method,
            roles=",".join(sorted(allowed)),
        )
