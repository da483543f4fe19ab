"""Which roles may call which method. A method that is not here may be called by nobody.

A caller that is only a player's acts for its own players, and does nothing that is the dealer's.
"""

from __future__ import annotations

from collections.abc import Sequence

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.names import player as account_of
from croupier.services.rpc.callers import DEALING, Caller, Role
from croupier.v1 import play_pb2

_TABLES = DEALING
_PLAY = DEALING | {Role.PLAYER}
_MONEY = frozenset({Role.OPERATOR})
_READ = frozenset({Role.OPERATOR, Role.AUDITOR})
_BALANCE = _READ | {Role.PLAYER}
_WATCH = frozenset({Role.OPERATOR, Role.DEALER, Role.AUDITOR, Role.PLAYER})
_SUMS = frozenset({Role.OPERATOR, Role.AUDITOR, Role.OPS})
_ANY = frozenset(Role)
_OPS = frozenset({Role.OPERATOR, Role.OPS})

ROLES: dict[str, frozenset[Role]] = {
    "/croupier.v1.TableService/OpenTable": _TABLES,
    "/croupier.v1.TableService/CloseTable": _TABLES,
    "/croupier.v1.TableService/GetTable": _WATCH,
    "/croupier.v1.TableService/ListTables": _WATCH,
    "/croupier.v1.PlayService/Play": _PLAY,
    "/croupier.v1.PlayService/PlayBatch": _PLAY,
    "/croupier.v1.PlayService/PlayStream": _PLAY,
    "/croupier.v1.PlayService/ListMoves": _PLAY,
    "/croupier.v1.AccountService/Deposit": _MONEY,
    "/croupier.v1.AccountService/Withdraw": _MONEY,
    "/croupier.v1.AccountService/TransferBatch": _MONEY,
    "/croupier.v1.AccountService/GetAccount": _BALANCE,
    "/croupier.v1.AccountService/ListAccounts": _READ,
    "/croupier.v1.AccountService/GetTrialBalance": _SUMS,
    "/croupier.v1.AuditService/ReplayTable": _READ,
    "/croupier.v1.AuditService/ListEvents": _READ,
    "/croupier.v1.AuditService/WatchEvents": _WATCH,
    "/croupier.v1.AuditService/GetRound": _READ,
    "/croupier.v1.AuditService/ListRounds": _READ,
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

PLAYERS = frozenset(
    {
        "post_bank",
        "fade",
        "decline",
        "roll",
        "keep_bank",
        "pass_bank",
        "resign_bank",
        "ante",
        "choose_win",
        "choose_death_roll",
        "place_bet",
        "capture",
        "create_build",
        "add_to_build",
        "raise_build",
        "trail",
    }
)
"""The commands that a player gives himself; all others are the dealer's."""

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


def check_commands(caller: Caller, commands: Sequence[play_pb2.PlayRequest], field: str) -> None:
    """Refuse a message with a command that the caller may not give.

    Who is only a player's gives commands of its own players. What chance does he does not say: he
    may have dice drawn, and not bring any. `field` is where the commands are, "" for the message.
    """
    if caller.deals:
        return
    for number, command in enumerate(commands):
        try:
            _check_command(caller, command)
        except Refused as refusal:
            raise (refusal.inside(f"{field}[{number}]") if field else refusal) from None


def _check_command(caller: Caller, command: play_pb2.PlayRequest) -> None:
    # No player at all is what the request lacks, not what the caller may not.
    if command.player and command.player not in caller.players:
        raise not_his_player(caller, command.player)
    kind = command.WhichOneof("command") or ""
    brought = kind == "roll" and command.roll.HasField("dice")
    if kind and (kind not in PLAYERS or brought):
        raise Refused(
            Reason.ROLE_NOT_ALLOWED,
            f"caller {caller.name} plays for players, and {kind} is the dealer's",
            field="roll.dice" if brought else kind,
            caller=caller.name,
            command=kind,
        )


def not_his_player(caller: Caller, player: str) -> Refused:
    """Return the refusal of a caller who has nothing to do with a player."""
    return Refused(
        Reason.ROLE_NOT_ALLOWED,
        f"caller {caller.name} does not play for {shown(player)}",
        field="player",
        caller=caller.name,
        player=player[:64],
    )


def check_account(caller: Caller, account: str) -> str:
    """Return `account`, or refuse one that is not of a player for whom the caller plays."""
    if caller.roles.isdisjoint(_READ) and account not in map(account_of, caller.players):
        raise Refused(
            Reason.ROLE_NOT_ALLOWED,
            f"caller {caller.name} does not play for whose account {shown(account)} is",
            field="name",
            caller=caller.name,
            account=account,
        )
    return account
