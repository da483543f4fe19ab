"""Who calls: names, roles and tokens. Only hashes of tokens are kept."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.games.protocol import NOBODYS, Eyes
from croupier.domain.names import check_id


class Role(StrEnum):
    """What a caller is for."""

    OPERATOR = "operator"
    """Runs the casino: ledgers, tables, money, play."""
    DEALER = "dealer"
    """Runs tables: opens, plays and closes them."""
    AUDITOR = "auditor"
    """Reads everything, changes nothing."""
    OPS = "ops"
    """Keeps the service running: health, server information, sums."""
    PLAYER = "player"
    """Plays for some players and sees their hands: a terminal at a table."""


DEALING = frozenset({Role.OPERATOR, Role.DEALER})
"""The roles that act for everybody at a table, and see every hand."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated system. `ledgers` limits it to some ledgers; None means all.

    `players` are those that it plays for in the role of a player. With several roles it may do and
    see what any of them may.
    """

    name: str
    roles: frozenset[Role]
    ledgers: frozenset[str] | None = None
    players: frozenset[str] = frozenset()

    @property
    def deals(self) -> bool:
        """Return whether the caller acts for everybody at a table."""
        return not self.roles.isdisjoint(DEALING)

    @property
    def eyes(self) -> Eyes:
        """Return whose hands the caller sees while they are played."""
        if self.deals:
            return None
        return self.players if Role.PLAYER in self.roles else NOBODYS

    def check_ledger(self, ledger: str) -> str:
        """Return `ledger`, or refuse one that this caller has nothing to do with."""
        if self.ledgers is not None and ledger not in self.ledgers:
            raise Refused(
                Reason.LEDGER_NOT_ALLOWED,
                f"caller {self.name} has no part in ledger {shown(ledger)}",
                caller=self.name,
                ledger=ledger,
            )
        return ledger


LOCAL = Caller("local", frozenset(Role) - {Role.PLAYER})
"""Whoever calls a service that has no token file, which listens on loopback only."""


class TokenFileError(Exception):
    """The token file cannot be read or does not say what it must."""


class Callers:
    """Turns what a call carries into a caller."""

    def __init__(self, by_hash: Mapping[str, Caller] | None) -> None:
        """Know callers by the SHA-256 of their tokens; None means that everybody is `local`."""
        self._by_hash = by_hash

    @property
    def authenticates(self) -> bool:
        """Return whether calls need a token."""
        return self._by_hash is not None

    def authenticate(self, authorization: str | None) -> Caller:
        """Return the caller whose bearer token this is, or refuse."""
        if self._by_hash is None:
            return LOCAL
        scheme, _, token = (authorization or "").strip().partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise Refused(
                Reason.TOKEN_MISSING, "the call needs the metadata `authorization: Bearer TOKEN`"
            )
        # Looked up by hash: the time it takes says nothing about any token.
        caller = self._by_hash.get(_hash(token))
        if caller is None:
            raise Refused(Reason.TOKEN_UNKNOWN, "no caller has this token")
        return caller


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def load(path: Path | None) -> Callers:
    """Return the callers of a token file, or for None the one that is always `local`.

    Raises:
        TokenFileError: the file cannot be read, an entry is not a name, roles and a hash, or two
            entries of one name differ in what the caller may do.

    """
    return Callers(None if path is None else _by_hash(path, _entries(path)))


def _by_hash(path: Path, entries: list[dict[str, Any]]) -> dict[str, Caller]:
    by_hash: dict[str, Caller] = {}
    by_name: dict[str, Caller] = {}
    for entry in entries:
        try:
            digest, caller = _read(entry)
        except (KeyError, TypeError, ValueError, Refused) as error:
            msg = f"{path}: an entry is not a name, roles, sha256, maybe ledgers, players: {error}"
            raise TokenFileError(msg) from error
        if digest in by_hash:
            msg = f"{path}: two entries have the same token"
            raise TokenFileError(msg)
        # Records carry the name alone, so it has to mean one caller.
        if by_name.setdefault(caller.name, caller) != caller:
            msg = f"{path}: two entries of {caller.name} differ in what he may do"
            raise TokenFileError(msg)
        by_hash[digest] = caller
    return by_hash


def _read(entry: dict[str, Any]) -> tuple[str, Caller]:
    """Return an entry's hash and caller. What is misspelt here would widen what a caller may do."""
    if unknown := entry.keys() - {"name", "roles", "sha256", "ledgers", "players"}:
        msg = f"unknown {', '.join(sorted(unknown))}"
        raise ValueError(msg)
    listed, ledgers, players = entry["roles"], entry.get("ledgers", []), entry.get("players", [])
    if not all(isinstance(one, list) for one in (listed, ledgers, players)):
        msg = "roles, ledgers and players are lists"
        raise TypeError(msg)
    roles = frozenset(Role(role) for role in listed)
    caller = Caller(
        check_id(entry["name"], "caller"),
        roles,
        frozenset(check_id(one, "ledger") for one in ledgers) if "ledgers" in entry else None,
        _players(roles, players),
    )
    digest = bytes.fromhex(entry["sha256"])
    if len(digest) != sha256().digest_size:
        msg = f"a sha256 has {sha256().digest_size} bytes, not {len(digest)}"
        raise ValueError(msg)
    return digest.hex(), caller


def _players(roles: Collection[Role], players: Collection[str]) -> frozenset[str]:
    """Return whom a caller plays for, or refuse what does not go together."""
    if (Role.PLAYER in roles) != bool(players):
        msg = "the role player has players, and no other role has any"
        raise ValueError(msg)
    return frozenset(check_id(one, "player") for one in players)


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text())
        entries = content["callers"]
    except OSError as error:
        msg = f"{path}: the token file cannot be read: {error.strerror}"
        raise TokenFileError(msg) from error
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path}: not a token file: {error}"
        raise TokenFileError(msg) from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        msg = f"{path}: `callers` is not a list of entries"
        raise TokenFileError(msg)
    return entries


def new_token(
    path: Path,
    name: str,
    roles: list[Role],
    ledgers: list[str] | None = None,
    players: list[str] | None = None,
) -> str:
    """Add a caller to a token file, made if it does not exist, and return the new token.

    The token is shown this once; the file holds its hash. A caller may have several tokens, so
    that one can be replaced without an interruption; with each he may do the same.

    Raises:
        TokenFileError: the file cannot be written, exists and is no token file, or has this caller
            with other roles, ledgers or players.
        ValueError: players and roles do not go together.
        Refused: the name cannot be a caller's, or one of a ledger or a player not be theirs.

    """
    check_id(name, "caller")
    for ledger in ledgers or ():
        check_id(ledger, "ledger")
    if name == LOCAL.name:
        msg = f"{LOCAL.name!r} is who calls without tokens; a caller has a name of his own"
        raise TokenFileError(msg)
    _players(roles, players or ())
    entries = _entries(path) if path.exists() else []
    token = secrets.token_urlsafe(32)
    entry: dict[str, Any] = {"name": name, "roles": sorted(roles), "sha256": _hash(token)}
    if ledgers is not None:
        entry["ledgers"] = sorted(ledgers)
    if players:
        entry["players"] = sorted(players)
    entries = [*entries, entry]
    _by_hash(path, entries)
    try:
        _write(path, json.dumps({"callers": entries}, indent=2) + "\n")
    except OSError as error:
        msg = f"{path}: the token file cannot be written: {error.strerror}"
        raise TokenFileError(msg) from error
    return token


def _write(path: Path, content: str) -> None:
    beside = path.with_name(path.name + ".new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
