"""Identifiers: what a ledger, table, player or account may be called."""

from __future__ import annotations

import re

from croupier.domain.errors import Reason, Refused, shown

ID_LENGTH_MAX = 64
_ID = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,64}", re.ASCII)
"""Not "." and "..": in a path or a URL they would be another name."""

HOUSE = "house"
EXTERNAL = "external"


def is_id(value: str) -> bool:
    """Return whether `value` is 1 to 64 of letters, digits, . _ - and neither "." nor ".."."""
    return _ID.fullmatch(value) is not None


def check_id(value: str, what: str) -> str:
    """Return `value`, or refuse it as the id of a `what` (1 to 64 of letters, digits, . _ -)."""
    if not is_id(value):
        raise Refused(
            Reason.INVALID_ID,
            f"{shown(value)} is not an id of a {what}: "
            f"1 to {ID_LENGTH_MAX} of A-Z a-z 0-9 . _ - and neither . nor ..",
            what=what,
            most=ID_LENGTH_MAX,
            value=value[:ID_LENGTH_MAX],
        )
    return value


def player(player_id: str) -> str:
    """Return the account of a player."""
    return f"player:{player_id}"


def escrow(table_id: str) -> str:
    """Return the account that holds exactly what is at risk at a table."""
    return f"escrow:{table_id}"


def bankroll(table_id: str) -> str:
    """Return the account with the house's money that a house-banked table may lose."""
    return f"bankroll:{table_id}"


def check_account(account: str) -> str:
    """Return `account`, or refuse what can be no account of a ledger."""
    if account in (HOUSE, EXTERNAL):
        return account
    kind, _, owner = account.partition(":")
    if kind in ("player", "escrow", "bankroll") and is_id(owner):
        return account
    raise Refused(
        Reason.INVALID_ACCOUNT,
        f"{shown(account)} is no account: house, external, player:ID, escrow:TABLE, bankroll:TABLE",
        account=account[:ID_LENGTH_MAX],
    )
