"""What can be asked of a ledger, parsed: a command and the request around it.

Times are microseconds since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from croupier.domain import commands
from croupier.domain.event import (
    Value,
)


@dataclass(frozen=True, slots=True)
class CreateLedger:
    """Begin the ledger's log."""

    ledger: str


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Open a table of a game."""

    table: str
    game: str
    options: Mapping[str, Value]
    seats: tuple[str, ...]
    currency: str
    banker: str
    bankroll: int = 0


@dataclass(frozen=True, slots=True)
class CloseTable:
    """Close a table between rounds."""

    table: str


@dataclass(frozen=True, slots=True)
class Play:
    """Play a command of a game at a table, in a round."""

    table: str
    round: int
    command: commands.Command


@dataclass(frozen=True, slots=True)
class VoidRound:
    """End an open round as if it had never been, for a reason."""

    table: str
    round: int
    reason: str


@dataclass(frozen=True, slots=True)
class Deposit:
    """Bring money into an account from outside."""

    account: str
    currency: str
    amount: int


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take money out of an account."""

    account: str
    currency: str
    amount: int


@dataclass(frozen=True, slots=True)
class UnfenceLedger:
    """Let a fenced ledger be served again, for a reason; what is behind the fence is added here."""

    reason: str
    why: str = ""
    lost_first: int = 0
    lost_last: int = 0
    lost_root: bytes = b""
    lost_recorded_us: int = 0


LedgerCommand = (
    CreateLedger | OpenTable | CloseTable | Play | VoidRound | Deposit | Withdraw | UnfenceLedger
)


@dataclass(frozen=True, slots=True)
class Request:
    """A command with who asked for it and under which conditions.

    `digest` is the SHA-256 of the request's body; the same (caller, request_id) with another
    digest is another request. `deadline_us` is when the caller stops waiting.
    """

    command: LedgerCommand
    caller: str
    request_id: str
    digest: bytes
    actor: str = ""
    correlation_id: str = ""
    occurred_us: int | None = None
    not_after_us: int | None = None
    expected_version: int | None = None
    expected_position: int | None = None
    validate_only: bool = False
    deadline_us: int | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Return what makes the request unique in its ledger."""
        return (self.caller, self.request_id)
