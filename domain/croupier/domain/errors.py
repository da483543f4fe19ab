"""Why a command is refused: one closed enum of reasons and one exception that carries it.

A reason is part of the public contract: callers branch on it, so a name is never reused for
another meaning. `Kind` says what a caller can do about it; the edge maps kinds to status codes.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Self


class Kind(Enum):
    """What a caller can do about a refusal."""

    INVALID = "the request is wrong in every state; never retry it unchanged"
    UNAUTHENTICATED = "nobody we know is calling"
    FORBIDDEN = "this caller may not do this"
    UNIMPLEMENTED = "this server has no such method"
    NOT_FOUND = "the thing named does not exist"
    EXISTS = "the thing named exists already, or the request id was used for something else"
    ILLEGAL = "not allowed until the table, account or clock changes"
    CONFLICT = "somebody else was first; read again and decide again"
    EXHAUSTED = "too much at once; retry after the delay given"
    UNAVAILABLE = "cannot be done now; retry with the same request id"
    EXPIRED = "the caller's deadline passed before the command was decided"
    INTERNAL = "a fault of ours; retry with the same request id and report it"


class Reason(StrEnum):
    """Every reason for which a call can be refused."""

    kind: Kind

    def __new__(cls, value: str, kind: Kind) -> Self:
        """Make a member that is its own name as a string and knows its kind."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.kind = kind
        return member

    MALFORMED_MESSAGE = "MALFORMED_MESSAGE", Kind.INVALID
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE", Kind.EXHAUSTED
    MISSING_FIELD = "MISSING_FIELD", Kind.INVALID
    INVALID_ID = "INVALID_ID", Kind.INVALID
    INVALID_NAME = "INVALID_NAME", Kind.INVALID
    INVALID_ACCOUNT = "INVALID_ACCOUNT", Kind.INVALID
    INVALID_REQUEST_ID = "INVALID_REQUEST_ID", Kind.INVALID
    INVALID_TIME = "INVALID_TIME", Kind.INVALID
    INVALID_TEXT = "INVALID_TEXT", Kind.INVALID
    INVALID_POSITION = "INVALID_POSITION", Kind.INVALID
    INVALID_PAGE_TOKEN = "INVALID_PAGE_TOKEN", Kind.INVALID
    INVALID_PAGE_SIZE = "INVALID_PAGE_SIZE", Kind.INVALID
    INVALID_DICE = "INVALID_DICE", Kind.INVALID
    INVALID_SEATS = "INVALID_SEATS", Kind.INVALID
    AMOUNT_OUT_OF_RANGE = "AMOUNT_OUT_OF_RANGE", Kind.INVALID
    UNKNOWN_CURRENCY = "UNKNOWN_CURRENCY", Kind.INVALID
    UNKNOWN_GAME = "UNKNOWN_GAME", Kind.INVALID
    UNKNOWN_OPTION = "UNKNOWN_OPTION", Kind.INVALID
    INVALID_OPTION = "INVALID_OPTION", Kind.INVALID
    COMMAND_NOT_IN_GAME = "COMMAND_NOT_IN_GAME", Kind.INVALID

    TOKEN_MISSING = "TOKEN_MISSING", Kind.UNAUTHENTICATED
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN", Kind.UNAUTHENTICATED
    ROLE_NOT_ALLOWED = "ROLE_NOT_ALLOWED", Kind.FORBIDDEN
    LEDGER_NOT_ALLOWED = "LEDGER_NOT_ALLOWED", Kind.FORBIDDEN

    METHOD_NOT_FOUND = "METHOD_NOT_FOUND", Kind.UNIMPLEMENTED
    LEDGER_NOT_FOUND = "LEDGER_NOT_FOUND", Kind.NOT_FOUND
    TABLE_NOT_FOUND = "TABLE_NOT_FOUND", Kind.NOT_FOUND
    ACCOUNT_NOT_FOUND = "ACCOUNT_NOT_FOUND", Kind.NOT_FOUND
    LEDGER_EXISTS = "LEDGER_EXISTS", Kind.EXISTS
    TABLE_EXISTS = "TABLE_EXISTS", Kind.EXISTS
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED", Kind.EXISTS

    REQUEST_EXPIRED = "REQUEST_EXPIRED", Kind.ILLEGAL
    TABLE_CLOSED = "TABLE_CLOSED", Kind.ILLEGAL
    ROUND_OPEN = "ROUND_OPEN", Kind.ILLEGAL
    ROUND_MISMATCH = "ROUND_MISMATCH", Kind.ILLEGAL
    NOT_SEATED = "NOT_SEATED", Kind.ILLEGAL
    NOT_YOUR_TURN = "NOT_YOUR_TURN", Kind.ILLEGAL
    WRONG_PHASE = "WRONG_PHASE", Kind.ILLEGAL
    STAKE_ABOVE_LIMIT = "STAKE_ABOVE_LIMIT", Kind.ILLEGAL
    STAKE_BELOW_LIMIT = "STAKE_BELOW_LIMIT", Kind.ILLEGAL
    NOT_OFFERED = "NOT_OFFERED", Kind.ILLEGAL
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS", Kind.ILLEGAL
    MONEY_SUPPLY_EXCEEDED = "MONEY_SUPPLY_EXCEEDED", Kind.ILLEGAL
    VERSION_MISMATCH = "VERSION_MISMATCH", Kind.CONFLICT

    QUEUE_FULL = "QUEUE_FULL", Kind.EXHAUSTED
    DEADLINE_PASSED = "DEADLINE_PASSED", Kind.EXPIRED
    CLOCK_BEHIND = "CLOCK_BEHIND", Kind.UNAVAILABLE
    LEDGER_FENCED = "LEDGER_FENCED", Kind.UNAVAILABLE
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE", Kind.UNAVAILABLE
    INTERNAL = "INTERNAL", Kind.INTERNAL

    # The place in this list is the number in the API: what comes later, comes at the end.
    INVALID_BATCH = "INVALID_BATCH", Kind.INVALID
    UNKNOWN_KIND = "UNKNOWN_KIND", Kind.INVALID
    BATCH_REFUSED = "BATCH_REFUSED", Kind.ILLEGAL
    TOO_MANY_STREAMS = "TOO_MANY_STREAMS", Kind.EXHAUSTED
    SERVER_STOPPING = "SERVER_STOPPING", Kind.UNAVAILABLE
    ROUND_NOT_OPEN = "ROUND_NOT_OPEN", Kind.ILLEGAL
    UNKNOWN_PLACE = "UNKNOWN_PLACE", Kind.INVALID
    INVALID_CARDS = "INVALID_CARDS", Kind.INVALID
    INVALID_DECK = "INVALID_DECK", Kind.INVALID
    HAND_MISMATCH = "HAND_MISMATCH", Kind.ILLEGAL
    CARD_NOT_IN_HAND = "CARD_NOT_IN_HAND", Kind.ILLEGAL
    CARD_NOT_ON_TABLE = "CARD_NOT_ON_TABLE", Kind.ILLEGAL
    BUILD_NOT_FOUND = "BUILD_NOT_FOUND", Kind.ILLEGAL
    ILLEGAL_MOVE = "ILLEGAL_MOVE", Kind.ILLEGAL
    LEDGER_NOT_FENCED = "LEDGER_NOT_FENCED", Kind.ILLEGAL
    AFTER_CHANCE = "AFTER_CHANCE", Kind.ILLEGAL


class Refused(Exception):
    """A call is refused; nothing was recorded.

    `field` is the path of the request's field at fault, where there is one. Every value that the
    message mentions is also in `metadata`, so that a program need not parse the sentence.
    """

    def __init__(
        self, reason: Reason, message: str, *, field: str | None = None, **metadata: object
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.metadata: dict[str, str] = {key: str(value) for key, value in metadata.items()}

    def at(self, field: str) -> Refused:
        """Return the same refusal, naming the request's field at fault."""
        return Refused(self.reason, self.message, field=field, **self.metadata)

    def inside(self, path: str) -> Refused:
        """Return the same refusal of a part of the request that stands at `path`."""
        return self.at(f"{path}.{self.field}" if self.field else path)


def shown(value: str, limit: int = 64) -> str:
    """Return `value` quoted and cut for a message, so that a refusal never echoes a flood."""
    return repr(value if len(value) <= limit else value[:limit] + "…")
