"""How much one writer takes, decides at once and keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from croupier.services.ledger.snapshots import Policy


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one writer."""

    queue: int = 10_000
    """Requests waiting; beyond it callers are told to come back."""
    batch: int = 256
    """Requests decided in one turn, unless one atomic batch has more."""
    live_tables: int = 10_000
    """Tables kept in memory."""
    snapshots: Policy = field(default_factory=Policy)
    """After how many events snapshots are taken."""
