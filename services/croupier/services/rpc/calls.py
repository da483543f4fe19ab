"""The call being served: who calls, and until when he waits."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from croupier.services.rpc.callers import Caller


@dataclass(frozen=True, slots=True)
class Call:
    """What the interceptor knows of a call and the servicers need."""

    caller: Caller
    deadline_us: int | None


CURRENT: ContextVar[Call] = ContextVar("call")


def caller() -> Caller:
    """Return who calls."""
    return CURRENT.get().caller
