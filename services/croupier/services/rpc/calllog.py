"""The log lines about calls: which are slow, which are refused for security, and at debug, all.

At debug there is a line for every commit, too.

A line says who asked, by which request id, of which ledger, and at which position it was recorded.
It never has a token, nor what a request or an answer holds: names of players, dice, cards, nonces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any

import structlog

from croupier.domain.names import is_id
from croupier.services.rpc.calls import CURRENT
from croupier.services.rpc.permissions import ROLES

logger = structlog.get_logger()

_NAMED_IN = ("parent", "table", "account", "name", "ledger")
"""Fields that name a ledger, or something in one."""

SHOWN = 64
"""Characters of what strangers may write into a line."""


def printable(value: str) -> str:
    """Return a text of a stranger, short and without what would write elsewhere in a terminal."""
    value = value[:SHOWN]
    return value if value.isprintable() else repr(value)


def about(method: str, request: Any, response: Any = None) -> dict[str, Any]:
    """Return what a line says of a call, as far as it is known."""
    said: dict[str, Any] = {"method": method if method in ROLES else printable(method)}
    call = CURRENT.get(None)
    if call is not None:
        said["caller"] = call.caller.name
    if ledger := _ledger_of(request):
        said["ledger"] = ledger
    if request_id := getattr(request, "request_id", ""):
        said["request_id"] = printable(request_id)
    receipt = getattr(response, "receipt", None)
    if receipt is not None and receipt.position:
        said["position"] = receipt.position
    return said


def _ledger_of(request: Any) -> str:
    """Return the id of the ledger that a request is about, "" where none can be told."""
    if ledger_id := getattr(request, "ledger_id", ""):
        return ledger_id if is_id(ledger_id) else ""
    for name in _NAMED_IN:
        kind, _, rest = getattr(request, name, "").partition("/")
        ledger_id = rest.partition("/")[0]
        if kind == "ledgers" and is_id(ledger_id):
            return str(ledger_id)
    return ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that is being served; `started` is a time of `perf_counter`."""

    method: str
    request: Any
    streams: bool
    started: float = field(default_factory=perf_counter)


class CallLog:
    """Writes the lines about calls that end."""

    def __init__(self, slow_s: float, *, debug: bool) -> None:
        """Write of calls that take `slow_s` seconds, 0 of none, and with `debug` of all."""
        self._slow_s = slow_s or inf
        self._debug = debug

    def ended(
        self, asked: Asked, code: str, reason: str, seconds: float, response: Any = None
    ) -> None:
        """Write of a call that ended, if it is worth a line."""
        # How long a stream lasted says nothing.
        slow = seconds >= self._slow_s and not asked.streams
        if not slow and not self._debug:
            return
        said = about(asked.method, asked.request, response)
        said |= {"code": code, "seconds": round(seconds, 6)}
        if reason:
            said["reason"] = reason
        if slow:
            logger.warning("slow call", **said)
        else:
            logger.debug("call", **said)

    def turn(self, ledger: str, position: int, events: int, commands: int, seconds: float) -> None:
        """Write of a commit, at debug; `position` is that of its last event."""
        if self._debug:
            logger.debug(
                "turn committed",
                ledger=ledger,
                position=position,
                events=events,
                commands=commands,
                seconds=round(seconds, 6),
            )

    @staticmethod
    def refused(asked: Asked, reason: str, peer: str) -> None:
        """Write of a stranger, or of a caller who asked for what he may not do."""
        # Not by a logger bound to the name: bound at import, it would be what was set up then.
        said = about(asked.method, asked.request)
        logger.warning("refused", logger="security", **said, reason=reason, peer=peer)
